/** States of graphs: who sees which, what changes them, and what is kept of them. */
import { map as mapEach, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  collect,
  defineState,
  editState,
  graph,
  invoke,
  loop,
  map,
  operator,
  parallel,
  resumeFrom,
  type Source,
  type Step,
  type StepActivation,
  step,
  stream,
  type Target,
} from '../../../src/index.js';
import { spaced, turns } from './support.js';

interface Notes {
  readonly words: readonly string[];
  readonly count: number;
}
const Notes = defineState<Notes>('Notes', () => ({ words: [], count: 0 }));

/** A graph of steps one behind the other. */
function line<I, O>(name: string, steps: readonly Step<never, unknown>[], state?: readonly object[]): Step<I, O> {
  return graph<I, O>(
    name,
    (g) => {
      let before: Source<unknown> = g.start;
      for (const [at, one] of steps.entries()) {
        const isFirst = steps.findIndex(({ name: other }) => other === one.name) === at;
        const node = g.node(isFirst ? one.name : `${one.name}_${at}`, one as Step<unknown, unknown>);
        g.edge(before, node);
        before = node;
      }
      g.edge(before, g.end as Target<unknown>);
    },
    state === undefined ? {} : { state: state as never },
  );
}

const note = step('note', (word: string, at: StepActivation) => {
  at.state(Notes).append('words', word);
  return word;
});
const wordsOf = step('words', (_: unknown, at: StepActivation) => at.state(Notes).value.words);

describe('a state', () => {
  it('is fresh in every run, and read and changed by the steps of its graph', async () => {
    const both = line<string, readonly string[]>('g', [note, wordsOf], [Notes]);
    expect(await invoke(both, 'a')).toEqual(['a']);
    expect(await invoke(both, 'b')).toEqual(['b']);
  });

  it('is read and changed by the hooks around a node', async () => {
    const g = graph<string, string>(
      'g',
      (build) => {
        const node = build.node('up', (text: string) => text.toUpperCase(), {
          before: (input: string, at) => {
            at.state(Notes).append('words', `in ${input}`);
            return input;
          },
          after: (output: string, at) => {
            const { words } = at.state(Notes).append('words', `out ${output}`);
            return words.join(', ');
          },
        });
        build.edge(build.start, node);
        build.edge(node, build.end);
      },
      { state: Notes },
    );
    expect(await invoke(g, 'a')).toBe('in a, out A');
  });

  it('is changed chunk by chunk in the operators around a node, and in operators', async () => {
    const count = (at: StepActivation) => {
      const notes = at.state(Notes);
      notes.update({ count: notes.value.count + 1 });
    };
    const g = graph<string, string>(
      'g',
      (build) => {
        const pass = build.node(
          'pass',
          operator<string, string>((chunks, at) => chunks.pipe(tap(() => count(at)))),
          {
            beforeChunks: (chunks, at) => chunks.pipe(tap(() => count(at))),
            afterChunks: (chunks, at) =>
              chunks.pipe(mapEach((chunk: string) => `${chunk}${at.state(Notes).value.count} `)),
          },
        );
        build.edge(build.start, pass);
        build.edge(pass, build.end);
      },
      { state: Notes },
    );
    expect(await collect(g, spaced('a', 'b', 'c'))).toBe('a2 b4 c6 ');
  });

  it('of a graph around is found from a graph inside, and its own hides one of the same name', async () => {
    const inner = line<string, string>('inner', [note]);
    const hiding = line<string, readonly string[]>('hiding', [note, wordsOf], [Notes]);
    const outer = line<string, readonly string[]>(
      'outer',
      [inner as never, step('hide', (word: string, at) => invoke(hiding, `${word}!`, { within: at })), wordsOf],
      [Notes],
    );
    expect(await invoke(outer, 'a')).toEqual(['a']);
    const nested = line<string, readonly string[]>('outer', [note, hiding as never], [Notes]);
    expect(await invoke(nested, 'a')).toEqual(['a']);
  });

  it('is fresh in every pass through its graph, in a map and in a loop', async () => {
    const each = line<string, readonly string[]>('each', [note, wordsOf], [Notes]);
    expect(await invoke(map(each, { concurrency: 2 }), ['a', 'b'])).toEqual([['a'], ['b']]);
    const round = line<string, string>(
      'round',
      [note, step('join', (word: string, at: StepActivation) => `${word}${at.state(Notes).value.words.length}`)],
      [Notes],
    );
    expect(await invoke(loop(round, { until: (_, at) => at === 3, maxRounds: 3 }), 'x')).toBe('x111');
  });

  it('of a graph around is shared by the items of a map and the rounds of a loop', async () => {
    const items = line<readonly string[], readonly string[]>('g', [map(note) as never, wordsOf], [Notes]);
    expect(await invoke(items, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    const rounds = loop(note, { until: (_, at) => at === 4, maxRounds: 4 });
    expect(await invoke(line('g', [rounds as never, wordsOf], [Notes]), 'x')).toEqual(['x', 'x', 'x', 'x']);
  });

  it('of a graph around is found from steps that run inside a function', async () => {
    const calls = step('calls', async (word: string, at: StepActivation) => {
      await Promise.all(['1', '2'].map((end) => invoke(note, `${word}${end}`, { within: at })));
      return at.state(Notes).value.words;
    });
    expect(await invoke(line('g', [calls], [Notes]), 'a')).toEqual(['a1', 'a2']);
  });

  it('loses no change of steps that work side by side', async () => {
    const add = (name: string) =>
      step(name, async (_: unknown, at: StepActivation) => {
        for (let time = 0; time < 20; time += 1) {
          await turns(1);
          const notes = at.state(Notes);
          notes.update({ count: notes.value.count + 1 });
        }
      });
    const together = parallel({ a: add('a'), b: add('b'), c: add('c') });
    const total = step('total', (_: unknown, at: StepActivation) => at.state(Notes).value.count);
    expect(await invoke(line('g', [together as never, total], [Notes]), null)).toBe(60);
  });

  it('joins fields by their reducers in update, and takes a whole value with set', async () => {
    const Sums = defineState('Sums', () => ({ total: 1, last: 0 }), {
      reducers: { total: (before, added) => before + added },
    });
    const add = step('add', (value: number, at: StepActivation) => {
      const sums = at.state(Sums);
      sums.update({ total: value, last: value });
      const updated = sums.update({ total: value });
      return [updated, sums.set({ total: 0, last: -1 }), sums.value];
    });
    const put = { total: 0, last: -1 };
    expect(await invoke(line('g', [add], [Sums]), 4)).toEqual([{ total: 9, last: 4 }, put, put]);
  });

  it('gives values that later changes leave as they are', async () => {
    const keep = step('keep', (_: unknown, at: StepActivation) => {
      const notes = at.state(Notes);
      const first = notes.append('words', 'a');
      const second = notes.append('words', 'b', 'c');
      notes.update({ count: 7 });
      notes.set({ words: [], count: 0 });
      return [first, second];
    });
    expect(await invoke(line('g', [keep], [Notes]), null)).toEqual([
      { words: ['a'], count: 0 },
      { words: ['a', 'b', 'c'], count: 0 },
    ]);
  });

  it('copies no list when it appends to it: a list that is read once is copied once', async () => {
    let copies = 0;
    const { slice } = Array.prototype;
    Array.prototype.slice = function counted(this: unknown[], ...given) {
      if (this.length > 1_000) copies += 1;
      return slice.apply(this, given);
    };
    try {
      const fill = step('fill', (_: unknown, at: StepActivation) => {
        const notes = at.state(Notes);
        for (let word = 0; word < 100_000; word += 1) notes.append('words', 'w');
        return notes.value.words.length;
      });
      expect(await invoke(line('g', [fill], [Notes]), null)).toBe(100_000);
    } finally {
      Array.prototype.slice = slice;
    }
    expect(copies).toBe(1);
  });

  it('is observable: its value, every change, and the end with its graph', async () => {
    const seen: unknown[] = [];
    const watch = step('watch', (word: string, at: StepActivation) => {
      at.state(Notes).value$.subscribe({
        next: ({ words }) => seen.push(words.join('')),
        complete: () => seen.push('end'),
      });
      return word;
    });
    const inner = line<string, string>('inner', [watch, note, note], [Notes]);
    const after = step('after', (word: string) => {
      seen.push('after');
      return word;
    });
    await invoke(chain(inner, after), 'a');
    expect(seen).toEqual(['', 'a', 'aa', 'end', 'after']);
  });

  it('stops being observable when the run fails, and when it is unsubscribed', async () => {
    const ends: string[] = [];
    const watch = (name: string) =>
      step('watch', (word: string, at: StepActivation) => {
        at.state(Notes).value$.subscribe({ complete: () => ends.push(name) });
        return word;
      });
    const fails = step('fails', () => {
      throw new Error('no');
    });
    await expect(invoke(line('g', [watch('failed'), fails as never], [Notes]), 'a')).rejects.toThrow('no');
    const waits = step('waits', () => new Promise<string>(() => {}));
    const inner = line<string, string>('inner', [watch('stopped'), waits as never], [Notes]);
    const subscription = stream(chain(inner, note), 'a').subscribe();
    await turns(2);
    expect(ends).toEqual(['failed']);
    subscription.unsubscribe();
    expect(ends).toEqual(['failed', 'stopped']);
  });

  it('that no graph around declares is STATE_MISSING, with the graphs that there are', async () => {
    const Other = defineState('Other', () => ({ words: [] as string[] }));
    const read = step('read', (_: unknown, at: StepActivation) => at.state(Notes).value);
    const inner = line('inner', [read], [Other]);
    const outer = line<null, unknown>('outer', [inner as never]);
    await expect(invoke(outer, null)).rejects.toMatchObject({
      code: 'STATE_MISSING',
      node: 'inner/read',
      message: expect.stringContaining(
        '"inner/read" reads the state "Notes", which no graph around it declares: "inner" ("Other"), "outer" (no state)',
      ),
    });
  });

  it('that a graph declares twice is PLAN_INVALID', () => {
    const twin = defineState('Notes', () => 0);
    expect(() => line('g', [note], [Notes, twin])).toThrow(
      expect.objectContaining({ code: 'PLAN_INVALID', message: expect.stringContaining('"Notes"') }),
    );
  });
});

describe('a state over an interrupt', () => {
  const asks = step('asks', (word: string, at: StepActivation) => at.answer ?? at.interrupt(`${word}?`));
  const asking = line<string, readonly string[]>('asking', [note, asks as never, note, wordsOf], [Notes]);

  async function interrupted(of: Step<string, unknown>) {
    const error = await invoke(of, 'a').then(
      () => undefined,
      (thrown: { readonly details: { readonly checkpoint: never } }) => thrown,
    );
    return JSON.parse(JSON.stringify(error?.details.checkpoint));
  }

  it('goes on as it was, also in a graph inside', async () => {
    const checkpoint = await interrupted(asking);
    expect(await invoke(asking, resumeFrom(checkpoint, { asks: 'b' }))).toEqual(['a', 'b']);
    const outer = line<string, unknown>('outer', [asking as never]);
    const inside = await interrupted(outer);
    expect(await invoke(outer, resumeFrom(inside, { 'asking/asks': 'b' }))).toEqual(['a', 'b']);
  });

  it('may be edited before the run goes on', async () => {
    const checkpoint = await interrupted(asking);
    const states = [editState(Notes, { words: ['edited'], count: 0 })];
    expect(await invoke(asking, resumeFrom(checkpoint, { asks: 'b' }, { states }))).toEqual(['edited', 'b']);
  });

  it('may be edited in a graph inside, by its path with rounds', async () => {
    const outer = map(asking);
    const error = await invoke(outer, ['x', 'y']).catch(
      (thrown: { readonly details: { checkpoint: never } }) => thrown,
    );
    const { checkpoint } = (error as { readonly details: { checkpoint: never } }).details;
    const states = [editState(Notes, { words: ['edited'], count: 0 }, { at: 'map[1]' })];
    const answers = { 'map[0]/asks': 'b', 'map[1]/asks': 'b' };
    expect(await invoke(outer, resumeFrom(checkpoint, answers, { states }))).toEqual([
      ['x', 'b'],
      ['edited', 'b'],
    ]);
  });

  it('that is nowhere in the graph cannot be edited: STATE_MISSING says where it is', async () => {
    const outer = line<string, unknown>('outer', [asking as never]);
    const checkpoint = await interrupted(outer);
    const states = [editState(Notes, { words: [], count: 0 }, { at: 'elsewhere' })];
    await expect(invoke(outer, resumeFrom(checkpoint, {}, { states }))).rejects.toMatchObject({
      code: 'STATE_MISSING',
      message: expect.stringContaining('it has one at "asking"'),
    });
  });
});
