/** Runs that stop for an answer from outside, and go on. */
import { firstValueFrom, from, lastValueFrom, map as mapChunks, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ask,
  branch,
  chain,
  defineState,
  defineTool,
  generator,
  graph,
  invoke,
  loop,
  map,
  parallel,
  resumeFrom,
  run,
  type StepActivation,
  step,
  stream,
  toolsNode,
} from '../../../src/index.js';
import { addresses, answeredOneByOne, attempt, throughJson, waiting } from '../support/waiting-runs.js';

const approve = (name = 'approve') =>
  step(
    name,
    ask(z.boolean(), (amount: number) => `Pay ${amount}?`),
  );
const counted = () => {
  const calls: string[] = [];
  const note =
    <T, R>(name: string, result: (input: T) => R) =>
    (input: T): R => {
      calls.push(name);
      return result(input);
    };
  return { calls, note };
};
const rejects = (code: string, message: RegExp = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('a graph that stops at its nodes', () => {
  const stopping = (options: { readonly interruptBefore?: string[]; readonly interruptAfter?: string[] }) => {
    const { calls, note } = counted();
    const made = graph<string, string>(
      'trip',
      (g) => {
        const plan = g.node(
          'plan',
          step(
            'plan',
            note('plan', (text: string) => `${text}, planned`),
          ),
        );
        const book = g.node(
          'book',
          step(
            'book',
            note('book', (text: string) => `${text}, booked`),
          ),
        );
        g.edge(g.start, plan);
        g.edge(plan, book);
        g.edge(book, g.end);
      },
      options,
    );
    return { calls, made };
  };

  it('does not begin the node that it stops before, and begins it when it goes on', async () => {
    const { calls, made } = stopping({ interruptBefore: ['book'] });
    const { questions, checkpoint } = await waiting(made, 'Oslo');
    expect(questions).toEqual([{ address: 'book', kind: 'before', question: undefined }]);
    expect(calls).toEqual(['plan']);
    expect(await invoke(made, resumeFrom(checkpoint))).toBe('Oslo, planned, booked');
    expect(calls).toEqual(['plan', 'book']);
  });

  it('keeps the output of the node that it stops behind, and does not run that again', async () => {
    const { calls, made } = stopping({ interruptAfter: ['plan'] });
    const { questions, checkpoint } = await waiting(made, 'Oslo');
    expect(questions).toMatchObject([{ address: 'plan', kind: 'after' }]);
    expect(await invoke(made, resumeFrom(checkpoint))).toBe('Oslo, planned, booked');
    expect(calls).toEqual(['plan', 'book']);
  });

  it('stops before and behind one node, one stop after the other', async () => {
    const { calls, made } = stopping({ interruptBefore: ['plan'], interruptAfter: ['plan'] });
    const first = await waiting(made, 'Oslo');
    const second = await waiting(made, resumeFrom(first.checkpoint, { plan: true }));
    expect([first, second].map(({ questions }) => questions[0]?.kind)).toEqual(['before', 'after']);
    expect(await invoke(made, resumeFrom(second.checkpoint, { plan: true }))).toBe('Oslo, planned, booked');
    expect(calls).toEqual(['plan', 'book']);
  });

  it('stops behind two nodes side by side at once, and either can go on alone', async () => {
    const made = graph<number, { a: number; b: number }>(
      'both',
      (g) => {
        const a = g.node('a', (n: number) => n + 1);
        const b = g.node('b', (n: number) => n * 10);
        g.edge(g.start, a);
        g.edge(g.start, b);
        g.join({ a, b }, g.end);
      },
      { interruptAfter: ['a', 'b'] },
    );
    const first = await waiting(made, 4);
    expect(first.questions.map(({ address }) => address)).toEqual(['a', 'b']);
    const second = await waiting(made, resumeFrom(first.checkpoint, { b: undefined }));
    expect(second.questions.map(({ address }) => address)).toEqual(['a']);
    expect(await invoke(made, resumeFrom(second.checkpoint, { a: undefined }))).toEqual({ a: 5, b: 40 });
  });

  it('stops at every round of a cycle anew', async () => {
    const made = graph<number, number>(
      'count',
      (g) => {
        const add = g.node('add', (n: number) => n + 1);
        g.edge(g.start, add);
        g.branch(add, { again: add, enough: g.end }, (n: number) => (n < 3 ? 'again' : 'enough'));
      },
      { interruptBefore: ['add'] },
    );
    let stops = 0;
    let end = await attempt(made, 0);
    while (end.status === 'waiting') {
      stops += 1;
      end = await attempt(made, resumeFrom(end.checkpoint));
    }
    expect([stops, end.value]).toEqual([3, 3]);
  });

  it('stops inside a graph in a graph, with the path of both', async () => {
    const inner = graph<number, number>(
      'inner',
      (g) => {
        const add = g.node('add', (n: number) => n + 1);
        g.edge(g.start, add);
        g.edge(add, g.end);
      },
      { interruptBefore: ['add'] },
    );
    const made = graph<number, number>('outer', (g) => {
      const twice = g.node('twice', (n: number) => n * 2);
      const sub = g.node('sub', inner);
      g.edge(g.start, twice);
      g.edge(twice, sub);
      g.edge(sub, g.end);
    });
    const { questions, checkpoint } = await waiting(made, 5);
    expect(questions.map(({ address }) => address)).toEqual(['sub/add']);
    expect(await invoke(made, resumeFrom(checkpoint))).toBe(11);
  });

  it('stops at a container, and gives what its body made once', async () => {
    const { calls, note } = counted();
    const inner = graph<number, number>('inner', (g) => {
      const add = g.node(
        'add',
        step(
          'add',
          note('add', (n: number) => n + 1),
        ),
      );
      g.edge(g.start, add);
      g.edge(add, g.end);
    });
    const made = graph<number, number>(
      'outer',
      (g) => {
        const sub = g.node('sub', inner);
        g.edge(g.start, sub);
        g.edge(sub, g.end);
      },
      { interruptBefore: ['sub'], interruptAfter: ['sub'] },
    );
    const first = await waiting(made, 1);
    expect(calls).toEqual([]);
    const second = await waiting(made, resumeFrom(first.checkpoint));
    expect(await invoke(made, resumeFrom(second.checkpoint))).toBe(2);
    expect(calls).toEqual(['add']);
  });
});

describe('a step that asks', () => {
  it('gets its answer and what it kept, and runs from its beginning with the input it had', async () => {
    const seen: unknown[] = [];
    const send = (amount: number, at: StepActivation) => {
      seen.push([amount, at.isResumed, at.memo, at.answer]);
      return at.answer === undefined ? at.interrupt({ amount }, { memo: { tries: 1 } }) : `sent: ${String(at.answer)}`;
    };
    const made = chain((n: number) => n + 1, step('send', send));
    const { questions, checkpoint } = await waiting(made, 9);
    expect(questions).toEqual([{ address: 'send', kind: 'ask', question: { amount: 10 } }]);
    expect(await invoke(made, resumeFrom(checkpoint, { send: 'now' }))).toBe('sent: now');
    expect(seen).toEqual([
      [10, false, undefined, undefined],
      [10, true, { tries: 1 }, 'now'],
    ]);
  });

  it('may be woken without an answer, and asks again', async () => {
    const made = chain(approve(), (yes) => (yes ? 'paid' : 'kept'));
    const first = await waiting(made, 3);
    const second = await waiting(made, resumeFrom(first.checkpoint));
    expect(second.questions).toEqual(first.questions);
    expect(await invoke(made, resumeFrom(second.checkpoint, { approve: true }))).toBe('paid');
  });

  it('may ask one question after the other, and remember the answers', async () => {
    const book = (_: string, at: StepActivation) => {
      const known = { ...(at.memo as object), ...(at.answer as object) } as { from?: string; to?: string };
      if (known.from === undefined) return at.interrupt('from?');
      if (known.to === undefined) return at.interrupt('to?', { memo: known });
      return `${known.from} - ${known.to}`;
    };
    const made = step('book', book);
    const first = await waiting(made, '');
    const second = await waiting(made, resumeFrom(first.checkpoint, { book: { from: 'Bergen' } }));
    expect(second.questions[0]?.question).toBe('to?');
    expect(await invoke(made, resumeFrom(second.checkpoint, { book: { to: 'Oslo' } }))).toBe('Bergen - Oslo');
  });

  it('asks several things at once and runs as soon as one is answered', async () => {
    const asking = (_: string, at: StepActivation) => {
      const known = new Map([...((at.memo ?? []) as [string, unknown][]), ...at.answers]);
      const open = ['a', 'b', 'c'].filter((id) => !known.has(id));
      if (open.length === 0) return ['a', 'b', 'c'].map((id) => known.get(id)).join('');
      return at.interruptAll(
        open.map((id) => ({ id, interrupt: at.interrupt(`${id}?`) })),
        { memo: [...known] },
      );
    };
    const made = step('asking', asking);
    expect(await addresses(made, '')).toEqual(['asking#a', 'asking#b', 'asking#c']);
    const value = await answeredOneByOne(
      () => step('asking', asking),
      '',
      ({ address }) => address.slice(-1).toUpperCase(),
      (count) => count - 1,
    );
    expect(value).toBe('ABC');
  });

  it('takes the fallback of a question that has expired, and refuses a late answer where there is none', async () => {
    const clock = { now: 1_000 };
    const options = { now: () => clock.now };
    const made = (fallback?: string) =>
      step('wait', (_: string, at: StepActivation) =>
        at.answer === undefined
          ? at.interrupt('go on?', { expiresInMs: 500, ...(fallback === undefined ? {} : { fallback }) })
          : String(at.answer),
      );
    const first = await waiting(made('later'), '', options);
    expect(first.questions[0]?.expiresAt).toBe(1_500);
    const second = await waiting(made(), '', options);
    expect(await invoke(made('later'), resumeFrom(first.checkpoint, { wait: 'now' }), options)).toBe('now');
    clock.now = 1_500;
    expect(await invoke(made('later'), resumeFrom(first.checkpoint, {}), options)).toBe('later');
    await expect(invoke(made(), resumeFrom(second.checkpoint, { wait: 'now' }), options)).rejects.toEqual(
      rejects('ANSWER_INVALID', /had expired/),
    );
  });

  it('refuses an answer that its schema does not take, and then takes a right one', async () => {
    const made = step('age', (_: string, at: StepActivation) =>
      at.answer === undefined ? at.interrupt('age?', { answer: z.number().min(18) }) : at.answer,
    );
    const { questions, checkpoint } = await waiting(made, '');
    expect(questions[0]?.schema).toMatchObject({ type: 'number', minimum: 18 });
    await expect(invoke(made, resumeFrom(checkpoint, { age: 'old' }))).rejects.toEqual(
      rejects('ANSWER_INVALID', /The answer at "age" cannot be used: .*Nothing has run; the question stays\./),
    );
    expect(await invoke(made, resumeFrom(checkpoint, { age: 30 }))).toBe(30);
  });

  it('refuses an answer at an address where nothing is asked, and lists where something is', async () => {
    const { checkpoint } = await waiting(approve(), 1);
    await expect(invoke(approve(), resumeFrom(checkpoint, { aprove: true }))).rejects.toEqual(
      rejects('ANSWER_UNKNOWN', /asks nothing at "aprove"; it asks at "approve"\. Did you mean "approve"\?/),
    );
  });

  it('may ask in the hook before a node, which then has its effects once', async () => {
    const Notes = defineState('notes', () => ({ lines: [] as string[] }));
    const made = graph<string, string>(
      'noted',
      (g) => {
        const work = g.node(
          'work',
          step('work', (text: string, at: StepActivation) =>
            at.answer === undefined ? at.interrupt('sure?') : `${text} ${at.state(Notes).value.lines.join()}`,
          ),
          {
            before: (text: string, at: StepActivation) => {
              at.state(Notes).append('lines', text);
              return text.toUpperCase();
            },
          },
        );
        g.edge(g.start, work);
        g.edge(work, g.end);
      },
      { state: Notes },
    );
    const { checkpoint } = await waiting(made, 'a');
    expect(await invoke(made, resumeFrom(checkpoint, { work: 1 }))).toBe('A a');
  });

  it('may begin its stream with a question', async () => {
    const made = step('read', (text: string, at: StepActivation) =>
      at.answer === undefined ? from([at.interrupt('which?') as never]) : from([text, String(at.answer)]),
    );
    const { checkpoint } = await waiting(made, 'a');
    const chunks = await firstValueFrom(stream(made, resumeFrom(checkpoint, { read: 'b' })).pipe(toArray()));
    expect(chunks).toEqual(['a', 'b']);
  });

  it('ends a stream with the same error as a promise', async () => {
    await expect(lastValueFrom(stream(approve(), 1))).rejects.toEqual(rejects('RUN_INTERRUPTED', /"approve"/));
  });

  it('is an event of the run with its questions by address', async () => {
    const events = await firstValueFrom(run(approve(), { input: 1 }).pipe(toArray()));
    expect(events.at(-1)).toMatchObject({
      type: 'run-interrupted',
      questions: [{ address: 'approve', kind: 'ask', question: 'Pay 1?' }],
    });
  });
});

describe('several questions at once', () => {
  it('do not keep a sibling from its end, whose result is kept', async () => {
    const { calls, note } = counted();
    const slow = note('slow', () => new Promise<string>((resolve) => setTimeout(() => resolve('slow'), 5)));
    const made = parallel({ yes: approve(), slow: step('slow', slow) });
    const { questions, checkpoint } = await waiting(made, 2);
    expect(questions.map(({ address }) => address)).toEqual(['yes']);
    expect(await invoke(made, resumeFrom(checkpoint, { yes: true }))).toEqual({ yes: true, slow: 'slow' });
    expect(calls).toEqual(['slow']);
  });

  it('are answered in any order, each after a restart of its own', async () => {
    const make = () => parallel({ a: approve('a'), b: approve('b'), c: approve('c') });
    for (const order of [() => 0, (count: number) => count - 1, (count: number) => count >> 1]) {
      const value = await answeredOneByOne(make, 1, ({ address }) => address !== 'b', order);
      expect(value).toEqual({ a: true, b: false, c: true });
    }
  });

  it('in the items of a map have the number of the item, and done items stay done', async () => {
    const { calls, note } = counted();
    const make = () =>
      map(
        chain(
          step(
            'see',
            note('see', (n: number) => n),
          ),
          approve(),
          (yes: boolean) => yes,
        ),
        { concurrency: 2 },
      );
    const first = await waiting(make(), [1, 2, 3]);
    expect(first.questions.map(({ address }) => address)).toEqual([
      'map[0]/approve',
      'map[1]/approve',
      'map[2]/approve',
    ]);
    const second = await waiting(make(), resumeFrom(first.checkpoint, { 'map[1]/approve': false }));
    expect(second.questions.map(({ address }) => address)).toEqual(['map[0]/approve', 'map[2]/approve']);
    const answers = { 'map[2]/approve': true, 'map[0]/approve': true };
    expect(await invoke(make(), resumeFrom(second.checkpoint, answers))).toEqual([true, false, true]);
    expect(calls).toHaveLength(3);
  });

  it('of one node that was reached twice have addresses of their own, and keep them', async () => {
    const make = () =>
      graph<number, string>('twice', (g) => {
        const low = g.node('low', (n: number) => n);
        const high = g.node('high', (n: number) => n * 100);
        const pay = g.node(
          'pay',
          step('pay', (n: number, at: StepActivation) =>
            at.answer === undefined ? at.interrupt(n) : `${n}:${String(at.answer)} `,
          ),
          { trigger: 'any' },
        );
        const all = g.node('all', (text: string) => text, { merge: (texts) => texts.join('') });
        g.edge(g.start, low);
        g.edge(g.start, high);
        g.edge(low, pay);
        g.edge(high, pay);
        g.edge(pay, all);
        g.edge(all, g.end);
      });
    const first = await waiting(make(), 7);
    expect(first.questions.map(({ address, question }) => [address, question])).toEqual([
      ['pay', 7],
      ['pay~2', 700],
    ]);
    const second = await waiting(make(), resumeFrom(first.checkpoint, { pay: 'x' }));
    expect(second.questions.map(({ address }) => address)).toEqual(['pay~2']);
    expect(await attempt(make(), resumeFrom(second.checkpoint, { 'pay~2': 'y' }))).toMatchObject({ status: 'done' });
  });

  it('in the rounds of a loop have the number of the round', async () => {
    const make = () =>
      loop(
        step('more', (n: number, at: StepActivation) =>
          at.answer === undefined ? at.interrupt(n) : n + Number(at.answer),
        ),
        { until: (n: number) => n >= 10, maxRounds: 9 },
      );
    const asked: string[] = [];
    const value = await answeredOneByOne(make, 0, ({ address }) => {
      asked.push(address);
      return 4;
    });
    expect([value, asked]).toEqual([12, ['loop[1]/more', 'loop[2]/more', 'loop[3]/more']]);
  });

  it('behind a branch are asked on the chosen route alone', async () => {
    const made = branch((n: number) => (n > 5 ? 'large' : 'small'), {
      large: chain(approve(), (yes: boolean) => `large ${yes}`),
      small: (n: number) => `small ${n}`,
    });
    expect(await invoke(made, 2)).toBe('small 2');
    const { questions, checkpoint } = await waiting(made, 8);
    expect(questions).toHaveLength(1);
    const address = questions[0]?.address as string;
    expect(await invoke(made, resumeFrom(checkpoint, { [address]: true }))).toBe('large true');
  });

  it('of tools are answered by the id of their call, and only what is left is called again', async () => {
    const calls: string[] = [];
    const tool = (name: string, asks: boolean) =>
      defineTool({
        name,
        description: name,
        input: z.object({}),
        run: (_, call) => {
          calls.push(name);
          return asks && call.answer === undefined ? call.interrupt(`${name}?`) : `${name} ${String(call.answer)}`;
        },
      });
    const make = () => toolsNode({ tools: [tool('send', true), tool('look', false), tool('pay', true)] });
    const message = {
      role: 'assistant',
      content: '',
      toolCalls: ['send', 'look', 'pay'].map((name, at) => ({ id: `c${at}`, name, arguments: '{}' })),
    };
    const first = await waiting(make(), message);
    const [send, pay] = first.questions.map(({ address }) => address) as [string, string];
    expect([send, pay]).toEqual(['tools#c0', 'tools#c2']);
    const second = await waiting(make(), resumeFrom(first.checkpoint, { [pay]: 'ok' }));
    expect(second.questions.map(({ address }) => address)).toEqual([send]);
    expect(await invoke(make(), resumeFrom(second.checkpoint, { [send]: 'ok' }))).toMatchObject([
      { content: 'send ok' },
      { content: 'look undefined' },
      { content: 'pay ok' },
    ]);
    expect(calls).toEqual(['send', 'look', 'pay', 'pay', 'send']);
  });
});

describe('a step that runs inside another one', () => {
  it('passes its question up, and is not begun anew by the answer', async () => {
    const { calls, note } = counted();
    const inner = () =>
      chain(
        step(
          'look',
          note('look', (n: number) => n + 1),
        ),
        approve(),
      );
    const make = () =>
      step('outer', async (n: number, at: StepActivation) => {
        const yes = await invoke(inner(), n, { within: at });
        return yes ? 'yes' : 'no';
      });
    const { questions, checkpoint } = await waiting(make(), 1);
    expect(questions).toMatchObject([{ address: 'outer/chain/approve', question: 'Pay 2?' }]);
    expect(await invoke(make(), resumeFrom(checkpoint, { 'outer/chain/approve': true }))).toBe('yes');
    expect(calls).toEqual(['look']);
  });

  it('cannot be swallowed by a catch of the step around', async () => {
    const make = () =>
      step('outer', async (n: number, at: StepActivation) => {
        try {
          return await invoke(approve(), n, { within: at });
        } catch {
          return 'swallowed';
        }
      });
    expect(await addresses(make(), 1)).toEqual(['outer/approve/approve']);
  });

  it('may stand beside others, which are told apart, and go on one by one', async () => {
    const { calls, note } = counted();
    const make = () =>
      step('outer', async (n: number, at: StepActivation) => {
        const done = invoke(
          step(
            'done',
            note('done', (x: number) => x),
          ),
          n,
          { within: at },
        );
        const both = [invoke(approve(), n, { within: at }), invoke(approve(), n + 1, { within: at })];
        return [await done, ...(await Promise.all(both))];
      });
    const first = await waiting(make(), 1);
    const [one, two] = first.questions.map(({ address }) => address) as [string, string];
    expect([one, two]).toEqual(['outer/approve/approve', 'outer/approve_2/approve']);
    const second = await waiting(make(), resumeFrom(first.checkpoint, { [two]: false }));
    expect(second.questions.map(({ address }) => address)).toEqual([one]);
    expect(await invoke(make(), resumeFrom(second.checkpoint, { [one]: true }))).toEqual([1, true, false]);
    expect(calls).toEqual(['done']);
  });

  it('is named by the id of its run where one is given', async () => {
    const make = () =>
      step('batch', async (names: string[], at: StepActivation) =>
        Promise.all(names.map((name) => invoke(approve(), 1, { within: at, run: name }))),
      );
    const { questions, checkpoint } = await waiting(make(), ['p0', 'p1']);
    expect(questions.map(({ address }) => address)).toEqual(['batch/p0/approve', 'batch/p1/approve']);
    const answers = { 'batch/p0/approve': true, 'batch/p1/approve': false };
    expect(await invoke(make(), resumeFrom(checkpoint, answers))).toEqual([true, false]);
  });

  it('may run another one inside, and the path goes through both', async () => {
    const middle = step('middle', (n: number, at: StepActivation) => invoke(approve(), n, { within: at }));
    const make = () => step('outer', (n: number, at: StepActivation) => invoke(middle, n, { within: at }));
    const { questions, checkpoint } = await waiting(make(), 1);
    const address = 'outer/middle/middle/approve/approve';
    expect(questions.map((question) => question.address)).toEqual([address]);
    expect(await invoke(make(), resumeFrom(checkpoint, { [address]: true }))).toBe(true);
  });

  it('keeps what it gave while the step around asks for itself', async () => {
    const { calls, note } = counted();
    const make = () =>
      step('outer', async (n: number, at: StepActivation) => {
        const value = await invoke(
          step(
            'dear',
            note('dear', (x: number) => x * 2),
          ),
          n,
          { within: at },
        );
        return at.answer === undefined ? at.interrupt('sure?') : value;
      });
    const { checkpoint } = await waiting(make(), 4);
    expect(await invoke(make(), resumeFrom(checkpoint, { outer: true }))).toBe(8);
    expect(calls).toEqual(['dear']);
  });

  it('may be read as a stream, also by a generator', async () => {
    const words = () => chain(approve(), (yes: boolean) => from(yes ? ['y', 'e', 's'] : ['n', 'o']));
    const make = () =>
      generator('outer', async function* (chunks: AsyncIterable<number>, at: StepActivation) {
        for await (const n of chunks) for await (const word of stream(words(), n, { within: at })) yield `<${word}>`;
      });
    const { questions, checkpoint } = await waiting(make(), 1);
    expect(questions.map(({ address }) => address)).toEqual(['outer/chain/approve']);
    expect(await invoke(make(), resumeFrom(checkpoint, { 'outer/chain/approve': true }))).toBe('<y><e><s>');
  });

  it('without "within" rejects for its caller', async () => {
    const made = step('outer', async (n: number) => {
      try {
        return await invoke(approve(), n);
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    expect(await invoke(made, 1)).toBe('RUN_INTERRUPTED');
  });
});

describe('streams around a question', () => {
  it('are stored whole and come back as streams', async () => {
    const make = () =>
      graph<string, { text: string; yes: boolean }>('both', (g) => {
        const words = g.node(
          'words',
          step('words', (text: string) => from(text.split(' '))),
        );
        const yes = g.node('yes', ask(z.boolean(), 'sure?'));
        const text = g.node('text', (joined: { words: string; yes: boolean }) => ({
          text: joined.words,
          yes: joined.yes,
        }));
        g.edge(g.start, words);
        g.edge(g.start, yes);
        g.join({ words, yes }, text);
        g.edge(text, g.end);
      });
    const { checkpoint } = await waiting(make(), 'a b c');
    expect(JSON.stringify(checkpoint)).toContain('"c":["a","b","c"]');
    const value = await invoke(make(), resumeFrom(throughJson(checkpoint), { yes: true }));
    expect(value).toEqual({ text: 'abc', yes: true });
  });

  it('of a container with a hook behind it are whole before the hook, and the hook may ask', async () => {
    const inner = graph<string, string>('inner', (g) => {
      const words = g.node(
        'words',
        step('words', (text: string) => from(text.split(' '))),
      );
      g.edge(g.start, words);
      g.edge(words, g.end);
    });
    const make = () =>
      graph<string, string>('outer', (g) => {
        const sub = g.node('sub', inner, {
          after: (text: string, at: StepActivation) =>
            at.answer === undefined ? (at.interrupt(text) as never) : `${text}!`,
        });
        const loud = g.node(
          'loud',
          step('loud', (text: string) => from([text]).pipe(mapChunks((one) => one.toUpperCase()))),
        );
        g.edge(g.start, sub);
        g.edge(sub, loud);
        g.edge(loud, g.end);
      });
    const { questions, checkpoint } = await waiting(make(), 'a b');
    expect(questions).toMatchObject([{ address: 'sub', question: 'ab' }]);
    expect(await invoke(make(), resumeFrom(checkpoint, { sub: 1 }))).toBe('AB!');
  });
});
