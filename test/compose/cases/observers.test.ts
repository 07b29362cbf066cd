/** Observers: who is told what, and that it cannot reach the run. */
import { concat, filter, firstValueFrom, lastValueFrom, type Observable, of, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  assistantMessage,
  chain,
  chatModel,
  collect,
  createScriptedModel,
  defineTool,
  EngineError,
  generator,
  graph,
  invoke,
  loop,
  map,
  type Observer,
  observe,
  observed,
  operator,
  resumeFrom,
  run,
  type StepActivation,
  step,
  stream,
  toolsNode,
  userMessage,
} from '../../../src/index.js';
import { spaced, turns } from './support.js';

const upper = step('upper', (text: string) => text.toUpperCase());
const words = step('words', (text: string) => spaced(...text.split(' ')));
const marked = operator<string, string>('marked', (chunks) => chunks.pipe(filter((chunk) => chunk !== '')));

/** An observer of everything, and what it was told. */
function recorder(): { readonly observer: Observer; readonly told: unknown[] } {
  const told: unknown[] = [];
  const observer = observe({
    start: (input, { path }) => {
      told.push(['start', path, input]);
      return `began ${path}`;
    },
    end: (output, { path }, started) => told.push(['end', path, output, started]),
    error: (error, { path }, started) => told.push(['error', path, (error as EngineError).code, started]),
  });
  return { observer, told };
}

/** Everything that is told of one path. */
const at = (told: readonly unknown[], path: string) => told.filter((one) => (one as readonly unknown[])[1] === path);

describe('an observer', () => {
  it('is told of the run, of the steps and of graphs inside, and gets back what its start returned', async () => {
    const { observer, told } = recorder();
    const inner = graph<string, string>('inner', (g) => {
      const node = g.node('loud', upper);
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
    await invoke(
      chain(
        inner,
        step('twice', (text: string) => text + text),
      ),
      'a',
      { observe: [observer] },
    );
    expect(told).toEqual([
      ['start', '', 'a'],
      ['start', 'inner', 'a'],
      ['start', 'inner/loud', 'a'],
      ['end', 'inner/loud', 'A', 'began inner/loud'],
      ['end', 'inner', 'A', 'began inner'],
      ['start', 'twice', 'A'],
      ['end', 'twice', 'AA', 'began twice'],
      ['end', '', 'AA', 'began '],
    ]);
  });

  it('is told which step it is: name, kind, path with rounds, run, key and try', async () => {
    const seen: unknown[] = [];
    const observer = observe.function({
      start: (_, { name, kind, path, run: id, attempt, isResumed, key }) =>
        seen.push([name, kind, path, id, attempt, isResumed, key.startsWith('r1/')]),
    });
    const flaky = step(
      'flaky',
      (text: string, { attempt }) => {
        if (attempt === 1) throw new EngineError('MODEL_UNAVAILABLE', 'busy', { retryable: true });
        return text;
      },
      { retry: { attempts: 2 } },
    );
    await invoke(map(flaky), ['a'], { observe: [observer], run: 'r1' });
    expect(seen.filter((one) => (one as unknown[])[0] === 'flaky')).toEqual([
      ['flaky', 'function', 'map[0]/flaky', 'r1', 1, false, true],
      ['flaky', 'function', 'map[0]/flaky', 'r1', 2, false, true],
    ]);
    const rounds: string[] = [];
    const twice = loop(upper, { until: (_, round) => round === 2, maxRounds: 2 });
    await invoke(twice, 'a', { observe: [observe.at('loop/upper', { end: (_, { path }) => rounds.push(path) })] });
    expect(rounds).toEqual(['loop[1]/upper', 'loop[2]/upper']);
  });

  it('of streams gets its own copy of the chunks, those of inputs and those of outputs', async () => {
    const seen: string[] = [];
    const copy =
      (what: string) =>
      (chunks: Observable<unknown>, { path }: { readonly path: string }) => {
        chunks.subscribe({
          next: (chunk) => seen.push(`${what} ${path} ${chunk}`),
          complete: () => seen.push(`${what}|`),
        });
      };
    const observer = observe.at('marked', { startChunks: copy('in'), endChunks: copy('out') });
    await invoke(chain(words, marked), 'a b', { observe: [observer] });
    expect(seen).toEqual(['in marked a', 'out marked a', 'in marked b', 'out marked b', 'in|', 'out|']);
  });

  it('that asks for whole values only gets streams as one value, and one that asks for chunks gets values as one chunk', async () => {
    const whole: unknown[] = [];
    const parts: unknown[] = [];
    const values = observe.at('marked', {
      start: (input) => whole.push(input),
      end: (output) => whole.push(output),
    });
    const chunks = observe.at('upper', {
      startChunks: (input) => input.subscribe((chunk) => parts.push(chunk)),
      endChunks: (output) => output.subscribe((chunk) => parts.push(chunk)),
    });
    await invoke(chain(upper, words, marked), 'a b', { observe: [values, chunks] });
    expect(whole).toEqual(['AB', 'AB']);
    expect(parts).toEqual(['a b', 'A B']);
  });

  it('is told of the chunks of the run itself where it is read or fed in chunks', async () => {
    const { observer, told } = recorder();
    const chunks: unknown[] = [];
    const root = observe.at('', { endChunks: (output) => output.subscribe((chunk) => chunks.push(chunk)) });
    await lastValueFrom(stream(words, 'a b', { observe: [root, observer] }).pipe(toArray()));
    expect(chunks).toEqual(['a', 'b']);
    expect(at(told, '')).toEqual([
      ['start', '', 'a b'],
      ['end', '', 'ab', 'began '],
    ]);
    told.length = 0;
    await collect(marked, spaced('x', 'y'), { observe: [observer] });
    expect(at(told, '')).toEqual([
      ['start', '', 'xy'],
      ['end', '', 'xy', 'began '],
    ]);
  });

  it('is told of an error in the middle of a stream, by its stream and by error', async () => {
    const seen: unknown[] = [];
    const broken = step('broken', () =>
      concat(
        of('a'),
        throwError(() => new Error('torn')),
      ),
    );
    const observer = observe.at('broken', {
      start: () => 7,
      endChunks: (chunks) => chunks.subscribe({ next: (c) => seen.push(c), error: (e: Error) => seen.push(e.message) }),
      error: (error, _, started) => seen.push(['error', (error as Error).message, started]),
    });
    const careless = observe({ endChunks: (chunks) => chunks.subscribe() });
    await expect(invoke(chain(broken, marked), 'x', { observe: [observer, careless] })).rejects.toThrow('torn');
    expect(seen).toEqual(['a', 'torn', ['error', 'torn', 7]]);
  });

  it('is told of inputs that cannot be made, of time limits, and of what was stopped before its end', async () => {
    const { observer, told } = recorder();
    const never = () => new Promise<string>(() => {});
    const late = step('late', never, { timeoutMs: 1 });
    const beside = step('beside', never);
    const both = graph<string, unknown>('g', (g) => {
      const [one, two] = [g.node('late', late), g.node('beside', beside)];
      g.edge(g.start, one);
      g.edge(g.start, two);
      g.join({ one, two }, g.end as never);
    });
    await expect(invoke(both, 'x', { observe: [observer] })).rejects.toMatchObject({ code: 'NODE_TIMEOUT' });
    expect(at(told, 'late').at(-1)).toEqual(['error', 'late', 'NODE_TIMEOUT', 'began late']);
    expect(at(told, 'beside').at(-1)).toEqual(['error', 'beside', 'RUN_CANCELLED', 'began beside']);
    expect(at(told, '').at(-1)).toEqual(['error', '', 'NODE_TIMEOUT', 'began ']);
    told.length = 0;
    const subscription = stream(beside, 'x', { observe: [observer] }).subscribe();
    subscription.unsubscribe();
    expect(told.filter((one) => (one as unknown[])[0] === 'error')).toHaveLength(2);
  });

  it('is told of a question as RUN_INTERRUPTED, and of the step again when the run goes on', async () => {
    const { observer, told } = recorder();
    const asks = step('asks', (_: string, self: StepActivation) => self.answer ?? self.interrupt('?'));
    const error = await invoke(asks, 'x', { observe: [observer] }).catch((thrown: EngineError) => thrown);
    expect(at(told, 'asks').at(-1)).toEqual(['error', 'asks', 'RUN_INTERRUPTED', 'began asks']);
    expect(at(told, '').at(-1)).toEqual(['error', '', 'RUN_INTERRUPTED', 'began ']);
    told.length = 0;
    const { checkpoint } = (error as EngineError).details as { readonly checkpoint: never };
    await invoke(asks, resumeFrom(checkpoint, { asks: 'yes' }), { observe: [observer] });
    expect(told).toEqual([
      ['start', '', undefined],
      ['start', 'asks', 'x'],
      ['end', 'asks', 'yes', 'began asks'],
      ['end', '', 'yes', 'began '],
    ]);
  });

  it('that throws, rejects, or fails on a chunk is a warning in the events, and the run is the same', async () => {
    const fail = () => {
      throw new Error('mine');
    };
    const failing = [
      observe({ start: fail, end: () => Promise.reject(new Error('mine')) }),
      observe({ endChunks: (chunks) => chunks.pipe(filter(fail)).subscribe() }),
      observe({ endChunks: (chunks) => chunks.subscribe(fail) }),
    ];
    const events = await lastValueFrom(
      run(chain(words, marked), { input: 'a b' }, { observe: failing }).pipe(toArray()),
    );
    expect(events.at(-1)).toMatchObject({ type: 'run-settled', value: 'ab' });
    const warnings = events.flatMap((event) => (event.type === 'node-notice' ? [event] : []));
    expect(new Set(warnings.map(({ name }) => name))).toEqual(new Set(['warning']));
    const texts = warnings.map(({ data }) => String(data.message));
    expect(texts.some((text) => text.includes('"words" failed in "start": mine'))).toBe(true);
    expect(texts.some((text) => text.includes('failed in "endChunks": mine'))).toBe(true);
  });

  it('slows nothing and takes nothing: a generator is asked for no more than without it', async () => {
    const read = async (observers: readonly Observer[]): Promise<readonly number[]> => {
      const made: number[] = [];
      const numbers = generator<unknown, number>('numbers', async function* () {
        for (let next = 0; next < 1_000; next += 1) {
          made.push(next);
          yield next;
        }
      });
      const first = generator<number, number>('first', async function* (chunks) {
        for await (const chunk of chunks) {
          yield chunk;
          if (chunk === 2) return;
        }
      });
      const chunks = await lastValueFrom(stream(chain(numbers, first), 1, { observe: observers }).pipe(toArray()));
      expect(chunks).toEqual([0, 1, 2]);
      return made;
    };
    const slow = observe({
      startChunks: (chunks) => firstValueFrom(chunks, { defaultValue: 0 }).then(() => turns(50)),
      endChunks: () => turns(50),
    });
    const [without, withOne] = [await read([]), await read([slow])];
    expect(withOne.length).toBeLessThan(100);
    expect(without.length).toBeLessThan(100);
  });

  it('of a kind is told of that kind alone, tools and models among them', async () => {
    const told: unknown[] = [];
    const add = defineTool({
      name: 'double',
      description: 'Doubles.',
      input: z.object({ of: z.number() }),
      run: ({ of: given }) => String(given * 2),
    });
    const model = createScriptedModel({ default: { reply: 'hi' } });
    const call = { id: 'c1', name: 'double', arguments: '{"of":4}' };
    const asked = assistantMessage('', { toolCalls: [call] });
    const observers = [
      observe.tool({
        start: ({ name, arguments: given }, { path }) => told.push([path, name, given]),
        end: ({ text }) => told.push(text),
      }),
      observe.toolsNode({ end: (messages) => told.push(messages.map(({ content }) => content)) }),
      observe.chatModel({ end: ({ content }, { kind }) => told.push([kind, content]) }),
      observe.retriever({ start: () => told.push('never') }),
    ];
    await invoke(toolsNode({ tools: [add] }), asked, { observe: observers });
    await invoke(chatModel(model), [userMessage('hello')], { observe: observers });
    expect(told).toEqual([['tools#c1', 'double', '{"of":4}'], '8', ['8'], ['chatModel', 'hi']]);
  });

  it.each([
    'chatModel',
    'tool',
    'toolsNode',
    'retriever',
    'prompt',
    'embedder',
    'indexer',
    'loader',
    'transformer',
    'agent',
    'graph',
    'function',
  ] as const)('of the kind %s is told of steps of that kind, once, and of no others', async (kind) => {
    const told: string[] = [];
    const other = kind === 'function' ? 'tool' : 'function';
    const both = chain(
      step('its', (input: string) => input, { kind }),
      step('other', (input: string) => input, { kind: other }),
    );
    const byKind = observe[kind]({ end: (_: unknown, { path, kind: of }) => void told.push(`${path}:${of}`) });
    await invoke(both, 'a', { observe: [byKind] });
    expect(told.filter((one) => one !== ':graph')).toEqual([`its:${kind}`]);
  });

  it('has the functions that it was made with', async () => {
    const told: string[] = [];
    const callbacks = { end: () => void told.push('first') };
    const observer = observe(callbacks);
    callbacks.end = () => void told.push('second');
    await invoke(upper, 'a', { observe: [observer] });
    expect(new Set(told)).toEqual(new Set(['first']));
  });

  it('is told of parts that a step reports itself, and of steps that it runs inside', async () => {
    const { observer, told } = recorder();
    const busy = step('busy', async (text: string, self: StepActivation) => {
      const found = await self.observe('retriever', 'find', text, async () => [text]);
      self.observe('tool', 'cut', found, () => found.length, { id: '1' });
      return invoke(upper, found[0] as string, { within: self });
    });
    await invoke(busy, 'a', { observe: [observer] });
    expect(told.slice(2, -2)).toEqual([
      ['start', 'busy/find', 'a'],
      ['end', 'busy/find', ['a'], 'began busy/find'],
      ['start', 'busy#1', ['a']],
      ['end', 'busy#1', 1, 'began busy#1'],
      ['start', 'busy/upper', 'a'],
      ['start', 'busy/upper/upper', 'a'],
      ['end', 'busy/upper/upper', 'A', 'began busy/upper/upper'],
      ['end', 'busy/upper', 'A', 'began busy/upper'],
    ]);
  });

  it('may be bound to a step for good: to it alone with functions, with its inside by observe', async () => {
    const own: string[] = [];
    const inside: string[] = [];
    const inner = chain(
      upper,
      step('twice', (text: string) => text + text),
    );
    const bound = observed(
      observed(step('inner', inner), { end: (text, { path }) => own.push(`${path} ${text.length}`) }),
      observe({ start: (_, { path }) => inside.push(path) }),
    );
    await invoke(chain(words, bound), 'ab');
    await invoke(bound, 'ab');
    expect(own).toEqual(['inner 4', 'inner 4']);
    expect(inside).toEqual(['inner', 'inner/upper', 'inner/twice', 'inner', 'inner/upper', 'inner/twice']);
  });

  it('makes a chain that it is bound to a unit', async () => {
    const told: string[] = [];
    const bound = observed(chain(upper, words), { end: (text, { path }) => told.push(`${path} ${text}`) });
    const seen: string[] = [];
    const paths = observe({ start: (_, { path }) => seen.push(path) });
    await invoke(chain(words, bound), 'a b', { observe: [paths] });
    expect(told).toEqual(['chain AB']);
    expect(seen).toEqual(['', 'words', 'chain', 'chain/upper', 'chain/words']);
  });

  it('sees the schemas of a graph that is run itself: it is a node like others then', async () => {
    const { observer, told } = recorder();
    const checked = step('checked', chain(upper, words), { output: z.string().max(1) });
    await expect(invoke(checked, 'a b', { observe: [observer] })).rejects.toMatchObject({ code: 'OUTPUT_INVALID' });
    expect(at(told, 'checked').at(-1)).toEqual(['error', 'checked', 'OUTPUT_INVALID', 'began checked']);
    expect(await invoke(checked, 'a')).toBe('A');
    expect(await invoke(map(checked), ['a', 'b'])).toEqual(['A', 'B']);
  });

  describe('at a path inside a step of code', () => {
    const outer = step('outer', async (text: string, at: StepActivation) => {
      if (text === 'none') return text;
      const part = await at.observe('function', 'part', text, async () => text);
      return invoke(
        chain(upper, (loud: string) => loud),
        part,
        { within: at },
      );
    });
    const warningsOf = async (path: string, text = 'a') => {
      const said: string[] = [];
      const note = ({ name, message }: Error) => name === 'ObserverWarning' && said.push(message);
      process.on('warning', note);
      await invoke(outer, text, { observe: [observe.at(path, { end: () => {} })] });
      // Warnings come in the next turn.
      await turns(2);
      process.off('warning', note);
      return said;
    };

    it('warns at the end when steps ran there, but none at its path', async () => {
      expect(await warningsOf('outer/chain/uper')).toEqual([
        'There was observe.at("outer/chain/uper"), but no step ran there. Did you mean "outer/chain/upper"? Steps ran at outer/part, outer/chain, outer/chain/upper, outer/chain/step_2.',
      ]);
    });

    it.each([['outer/chain/upper'], ['outer/chain'], ['outer/part'], ['outer']])('says nothing at %s', async (path) => {
      expect(await warningsOf(path)).toEqual([]);
    });

    it('says nothing when no step ran inside', async () => {
      expect(await warningsOf('outer/chain/uper', 'none')).toEqual([]);
    });
  });

  it('at a path that the graph does not have, and what is no observer, are OPTION_INVALID', async () => {
    const wrong = (given: unknown) => invoke(chain(upper, words), 'a', { observe: [given as Observer] });
    await expect(wrong(observe.at('uper', {}))).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('Did you mean "upper"? Its paths are upper, words.'),
    });
    await expect(wrong({ end: () => {} })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(() => observe({ onEnd: () => {} } as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    class Counter {
      count = 0;
      end(): void {
        this.count += 1;
      }
    }
    expect(() => observe(new Counter())).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('an object of a class') }),
    );
    expect(() => observe({ end: 5 as never })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('end') }),
    );
    expect(() => observe([] as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    expect(() => observed('a' as never, {})).toThrow(expect.objectContaining({ code: 'PLAN_INVALID' }));
  });
});
