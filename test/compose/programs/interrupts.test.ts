/** Programs that wait, are stored, go on, are watched and get options, written from the pages of the library alone. */
import { firstValueFrom, lastValueFrom, Subject, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ask,
  chain,
  chatModel,
  createScriptedModel,
  defineState,
  defineTool,
  EngineError,
  editState,
  graph,
  graphTool,
  invoke,
  map,
  observe,
  observed,
  options,
  parallel,
  resumeFrom,
  run,
  type StepActivation,
  step,
  stream,
  toolsNode,
} from '../../../src/index.js';
import { failure, gate, spaced } from '../cases/support.js';
import { callOf, said } from '../support/tool-calls.js';
import { answeredOneByOne, TextStore, waiting } from '../support/waiting-runs.js';

const sure = (name: string) =>
  step(
    name,
    ask(z.boolean(), (input: unknown) => `${name} ${input}?`),
  );

describe('programs that wait', () => {
  it('ask in two graphs side by side and inside each other, and are answered in any order', async () => {
    const made = () =>
      chain(parallel({ a: step('a', chain(sure('pay'))), b: map(sure('send')) }) as never, (all: unknown) => all);
    for (const choose of [() => 0, (count: number) => count - 1, (count: number) => count >> 1]) {
      const answer = await answeredOneByOne(
        made as never,
        [1, 2],
        ({ address }) => address.endsWith('[0]/send'),
        choose,
      );
      expect(answer).toEqual({ a: false, b: [true, false] });
    }
  });

  it('run a graph inside a function, which goes on behind the answer', async () => {
    const ran: string[] = [];
    const inner = chain((n: number) => {
      ran.push('inner');
      return n + 1;
    }, sure('inner_ask'));
    const outer = () =>
      step('outer', async (n: number, at: StepActivation) => {
        ran.push('outer');
        return { n, isSure: await invoke(inner, n, { within: at }) };
      });
    expect(await answeredOneByOne(outer, 4, () => true)).toEqual({ n: 4, isSure: true });
    expect(ran).toEqual(['outer', 'inner', 'outer']);
  });

  it('ask in a tool that is a graph, while the other tool of the message has its result', async () => {
    let lookups = 0;
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      run: () => {
        lookups += 1;
        return 'found';
      },
    });
    const book = graphTool(
      chain(
        ({ city }: { city: string }) => city,
        sure('book'),
        (isSure) => (isSure ? 'booked' : 'left'),
      ),
      { name: 'book', description: 'Books.', input: z.object({ city: z.string() }) },
    );
    const made = () => toolsNode({ tools: [look, book] });
    const message = said(callOf('call_look', 'look'), callOf('call_book', 'book', { city: 'Oslo' }));
    const { questions } = await waiting(made(), message);
    expect(questions.map(({ address, question }) => [address, question])).toEqual([
      ['tools#call_book/book/book', 'book Oslo?'],
    ]);
    const results = (await answeredOneByOne(made, message, () => true)) as { content: string }[];
    expect(results.map(({ content }) => content)).toEqual(['found', 'booked']);
    expect(lookups).toBe(2);
  });

  it('ask again in every try of a tool until they like the answer', async () => {
    const guess = () =>
      toolsNode({
        tools: [
          defineTool({
            name: 'guess',
            description: 'Guesses.',
            input: z.object({}),
            run: (_, call) =>
              call.answer === 7 ? 'right' : call.interrupt(call.answer === undefined ? 'Number?' : 'Again?'),
          }),
        ],
      });
    const asked: unknown[] = [];
    const numbers = [3, 9, 7];
    const results = await answeredOneByOne(guess, said(callOf('call_guess', 'guess')), ({ question }) => {
      asked.push(question);
      return numbers[asked.length - 1];
    });
    expect(results).toMatchObject([{ content: 'right' }]);
    expect(asked).toEqual(['Number?', 'Again?', 'Again?']);
  });

  it('stop before a node, have their state edited, and go on with it', async () => {
    const Plan = defineState('plan', () => ({ steps: ['a'] }));
    const made = graph<string, string>(
      'planned',
      (g) => {
        const node = g.node('work', (text: string, at) => `${text} ${at.state(Plan).value.steps.join()}`);
        g.edge(g.start, node);
        g.edge(node, g.end);
      },
      { state: Plan, interruptBefore: ['work'] },
    );
    const { checkpoint } = await waiting(made, 'do');
    const states = [editState(Plan, { steps: ['b', 'c'] })];
    expect(await invoke(made, resumeFrom(checkpoint, undefined, { states }))).toBe('do b,c');
  });

  it('keep what a hook made of the input, and have its effects once', async () => {
    const Seen = defineState('seen', () => ({ inputs: [] as string[] }));
    const made = () =>
      graph<string, unknown>(
        'hooked',
        (g) => {
          const node = g.node(
            'ask',
            ask(z.string(), (text: string) => `${text}?`),
            {
              before: (text: string, at) => {
                at.state(Seen).append('inputs', text);
                return text.toUpperCase();
              },
              after: (answer, at) => [answer, ...at.state(Seen).value.inputs],
            },
          );
          g.edge(g.start, node as never);
          g.edge(node as never, g.end);
        },
        { state: Seen },
      );
    const { questions } = await waiting(made(), 'name');
    expect(questions[0]?.question).toBe('NAME?');
    expect(await answeredOneByOne(made, 'name', () => 'Ada')).toEqual(['Ada', 'name']);
  });

  it('are stored under an id, started anew under it, and gone when they are deleted', async () => {
    const checkpoints = new TextStore();
    const made = chain((text: string) => text, sure('go'));
    const first = await invoke(made, 'one', { run: 'r1', checkpoints }).catch((error: EngineError) => error.code);
    expect(first).toBe('RUN_INTERRUPTED');
    const again = await invoke(made, 'two', { run: 'r1', checkpoints }).catch((error: EngineError) => error.details);
    expect(again).toMatchObject({ questions: [{ question: 'go two?' }] });
    expect(await invoke(made, resumeFrom('r1', { go: true }), { checkpoints })).toBe(true);
    await checkpoints.delete('r1');
    await expect(invoke(made, resumeFrom('r1'), { checkpoints })).rejects.toEqual(failure('NOT_FOUND', /"r1"/));
  });

  it('hold a stream of one node while another one asks, and give it whole behind the answer', async () => {
    const made = () =>
      chain(
        parallel({ text: (text: string) => spaced(...text), isSure: sure('check') }) as never,
        ({ text, isSure }: { text: string; isSure: boolean }) => `${text} ${isSure}`,
      );
    expect(await answeredOneByOne(made as never, 'abc', () => true)).toBe('abc true');
  });

  it('refuse an answer of the wrong form and one for nothing, and then take the right one', async () => {
    const made = sure('go');
    const { checkpoint } = await waiting(made, 'x');
    await expect(invoke(made, resumeFrom(checkpoint, { go: 'yes' }))).rejects.toEqual(
      failure('ANSWER_INVALID', /"go"/),
    );
    await expect(invoke(made, resumeFrom(checkpoint, { og: true }))).rejects.toEqual(
      failure('ANSWER_UNKNOWN', /Did you mean "go"/),
    );
    expect(await invoke(made, resumeFrom(checkpoint, { go: true }))).toBe(true);
  });
});

describe('programs that are stopped', () => {
  it('end behind the step at work when they are told so, and go on with the next', async () => {
    const { opened, open } = gate();
    const ran: string[] = [];
    const made = chain(
      async (n: number) => {
        ran.push('first');
        await opened;
        return n + 1;
      },
      (n) => {
        ran.push('second');
        return n * 10;
      },
    );
    const cancel$ = new Subject<{ mode: 'after-step' }>();
    const ended = invoke(made, 1, { cancel$ }).catch((error: EngineError) => error);
    cancel$.next({ mode: 'after-step' });
    open();
    const stopped = (await ended) as EngineError;
    expect(stopped.code).toBe('RUN_CANCELLED');
    const { checkpoint } = stopped.details as { checkpoint: never };
    expect(await invoke(made, resumeFrom(JSON.parse(JSON.stringify(checkpoint))))).toBe(20);
    expect(ran).toEqual(['first', 'second']);
  });

  it('stop at once with their signal, and the step sees it', async () => {
    const controller = new AbortController();
    let isStopped = false;
    const hang = step('hang', (_: number, at) => {
      at.signal.addEventListener('abort', () => {
        isStopped = true;
      });
      return new Promise<number>(() => {});
    });
    const ended = invoke(hang, 1, { signal: controller.signal });
    controller.abort();
    await expect(ended).rejects.toEqual(failure('RUN_CANCELLED'));
    expect(isStopped).toBe(true);
  });
});

describe('programs that are watched', () => {
  it('tell of everything around a graph in a graph, in order, and give back what start returned', async () => {
    const told: string[] = [];
    let count = 0;
    const watching = observe({
      start: (_, { path }) => {
        count += 1;
        told.push(`> ${path}`);
        return count;
      },
      end: (output, { path }, started) => void told.push(`< ${path} ${started} ${output}`),
    });
    const made = chain(
      (n: number) => n + 1,
      step(
        'inner',
        chain((n: number) => n * 2),
      ),
    );
    await invoke(made, 1, { observe: [watching] });
    expect(told).toEqual([
      '> ',
      '> step_1',
      '< step_1 2 2',
      '> inner',
      '> inner/step_1',
      '< inner/step_1 4 4',
      '< inner 3 4',
      '< chain 1 4'.replace('chain ', ' '),
    ]);
  });

  it('tell an observer of one kind, one place and one step, each of its own', async () => {
    const told: string[] = [];
    const note = (name: string) => ({
      end: (_: unknown, { path }: { path: string }) => void told.push(`${name} ${path}`),
    });
    const model = createScriptedModel({ default: { reply: 'Hi.' } });
    const text = observed(
      step('text', ({ content }: { content: string }) => content),
      note('bound'),
    );
    const made = chain(chatModel(model), text);
    await invoke(made, [{ role: 'user', content: 'Hello' }], {
      observe: [observe.chatModel(note('kind')), observe.at('text', note('place'))],
    });
    expect(told.sort()).toEqual(['bound text', 'kind model', 'place text']);
  });

  it('tell of a failure in the middle of a stream, with the chunks that came', async () => {
    const seen: unknown[] = [];
    const watching = observe({
      endChunks: (chunks) =>
        void chunks.subscribe({ next: (chunk) => seen.push(chunk), error: () => seen.push('failed') }),
      error: (error) => void seen.push((error as EngineError).message),
    });
    const broken = step('broken', async function* () {
      yield 1;
      yield 2;
      throw new Error('gone');
    });
    await expect(lastValueFrom(stream(broken, null, { observe: [watching] }).pipe(toArray()))).rejects.toEqual(
      failure('NODE_FAILED', /gone/),
    );
    expect(seen.filter((one) => typeof one === 'number')).toEqual(expect.arrayContaining([1, 2]));
    expect(seen).toContain('gone');
  });

  it('have events with gap-free numbers, of which the last one has the result', async () => {
    const events = await firstValueFrom(run(chain(map((n: number) => n * 2)), { input: [1, 2] }).pipe(toArray()));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.at(-1)).toMatchObject({ type: 'run-settled', value: [2, 4] });
  });
});

describe('programs with options', () => {
  const say = step('say', (name: string, at) => `${at.options.word ?? 'Hello'} ${name}`);

  it('give one to all places of a step, or to one of them', async () => {
    const made = chain(parallel({ a: step('a', chain(say)), b: step('b', chain(say)) }), ({ a, b }) => `${a}, ${b}`);
    expect(await invoke(made, 'Ada', { with: [options(say, { word: 'Hi' })] })).toBe('Hi Ada, Hi Ada');
    const at = 'parallel/b/say';
    expect(await invoke(made, 'Ada', { with: [options(say, { word: 'Hi' }, { at })] })).toBe('Hello Ada, Hi Ada');
    await expect(invoke(made, 'Ada', { with: [options(say, {}, { at: 'parallel/c/say' })] })).rejects.toEqual(
      failure('OPTION_INVALID', /Did you mean "parallel\/[ab]\/say"\?/),
    );
  });

  it('refuse what a model does not know', async () => {
    const model = chatModel(createScriptedModel({ default: { reply: 'Hi.' } }));
    const wrong = { temprature: 1 } as never;
    await expect(invoke(model, [{ role: 'user', content: 'x' }], { with: [options(model, wrong)] })).rejects.toEqual(
      failure('OPTION_INVALID', /temprature/),
    );
  });

  it('bound a run by steps and by time', async () => {
    const made = chain(
      (n: number) => n,
      (n) => n,
      (n) => n,
    );
    await expect(invoke(made, 1, { maxSteps: 2 })).rejects.toEqual(failure('RUN_STEPS_EXCEEDED'));
    const hang = step('hang', () => new Promise<number>(() => {}));
    await expect(invoke(hang, 1, { timeoutMs: 1 })).rejects.toEqual(failure('RUN_TIMEOUT'));
    expect(await invoke(hang, 1, { timeoutMs: 1 }).catch((error) => error instanceof EngineError)).toBe(true);
  });
});
