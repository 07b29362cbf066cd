/** What holds for every step, tried on random ones. */
import { firstValueFrom, Subject, toArray } from 'rxjs';
import { describe, expect } from 'vitest';
import { compileStep } from '../../src/compose/compile.js';
import { foldLog } from '../../src/compose/stored-run.js';
import { valueCodec } from '../../src/compose/values/value-codec.js';
import { changesState, type EventLog } from '../../src/graph/log.js';
import type { Checkpoint } from '../../src/graph/state.js';
import { EngineError, graph, invoke, type Question, recoverFrom, resumeFrom, step, stream } from '../../src/index.js';
import { createRandom, property, type Random } from '../support/random.js';
import { TextLog } from './support/memory-run-log.js';
import { type Effects, type NumberStep, randomStep, type StepSetup } from './support/random-steps.js';
import { attempt, throughJson } from './support/waiting-runs.js';

const NO_EFFECTS: Effects = { ended: () => {} };
const SUM = { chunks: (items: readonly number[]) => items.reduce((sum, one) => sum + one, 0) % 9_973 };
const ALL = { asks: true, streams: true, states: true };

/** The same step as another process would make it. */
function maker(seed: number, setup: Omit<StepSetup, 'effects'>) {
  return (effects: Effects = NO_EFFECTS): NumberStep => randomStep(createRandom(seed), { ...setup, effects });
}

const answerTo = ({ address }: Question): number =>
  [...address].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 997;

/** Answers everything that is asked, some at a time, until the run ends. */
async function throughQuestions(
  make: () => NumberStep,
  input: number,
  choose: (asked: readonly Question[]) => readonly Question[],
) {
  let end = await attempt(make(), input, SUM);
  for (let round = 0; end.status === 'waiting'; round += 1) {
    if (round > 500) throw new Error('It asks for ever.');
    const answers = Object.fromEntries(choose(end.questions).map((question) => [question.address, answerTo(question)]));
    end = await attempt(make(), resumeFrom(end.checkpoint, answers), SUM);
  }
  return end.value;
}

const atOnce = (asked: readonly Question[]) => asked;
const someOf = (random: Random) => (asked: readonly Question[]) => {
  const some = random.some(asked, 0.5);
  return some.length === 0 ? [random.pick(asked)] : some;
};

describe('A random step', () => {
  property('gives in chunks what it gives whole', 120, async (random, seed) => {
    const make = maker(seed, { ...ALL, asks: false });
    const input = random.int(1_000);
    const whole = await invoke(make(), input, SUM);
    const chunks = await firstValueFrom(stream(make(), input, SUM).pipe(toArray()));
    const joined = chunks.length === 1 ? chunks[0] : chunks.reduce((sum, one) => sum + one, 0) % 9_973;
    expect(joined).toBe(whole);
    const pulled: number[] = [];
    for await (const chunk of stream(make(), input, SUM)) pulled.push(chunk);
    expect(pulled.length === 1 ? pulled[0] : pulled.reduce((sum, one) => sum + one, 0) % 9_973).toBe(whole);
  });

  property('gives the same in whichever order its questions are answered', 100, async (random, seed) => {
    const make = maker(seed, ALL);
    const input = random.int(1_000);
    const expected = await throughQuestions(make, input, atOnce);
    expect(await throughQuestions(make, input, (asked) => asked.slice(0, 1))).toBe(expected);
    expect(await throughQuestions(make, input, (asked) => asked.slice(-1))).toBe(expected);
    expect(await throughQuestions(make, input, someOf(random))).toBe(expected);
  });

  property('stopped after any step and resumed gives what it gives undisturbed', 100, async (random, seed) => {
    const make = maker(seed, { ...ALL, asks: false });
    const input = random.int(1_000);
    const expected = await invoke(make(), input, SUM);
    let from: number | ReturnType<typeof resumeFrom> = input;
    for (let stops = 0; ; stops += 1) {
      const end = await stoppedAfter(make, from, 1 + random.int(6), stops > 200);
      if ('value' in end) {
        expect(end.value).toBe(expected);
        return;
      }
      from = resumeFrom(throughJson(end.checkpoint));
    }
  });

  property('runs each node once for each activation', 100, async (random, seed) => {
    const ends: string[] = [];
    const make = maker(seed, { ...ALL, asks: false });
    await invoke(make({ ended: (_, key) => ends.push(key) }), random.int(1_000), SUM);
    expect(ends.length).toBe(new Set(ends).size);
  });

  property(
    'cut off at any event of its log goes on to the same result, and nothing that had settled runs again',
    60,
    async (random, seed) => {
      const make = maker(seed, ALL);
      const input = random.int(1_000);
      const expected = await throughQuestions(make, input, atOnce);
      const log = new TextLog();
      await attempt(make(), input, { ...SUM, log, durability: random.chance(0.5) ? 'sync' : 'async', run: 'r' });
      const cuts = Math.min(12, log.length);
      for (let at = 0; at < cuts; at += 1) {
        const logged = log.cutAt(1 + random.int(log.length));
        if (logged === undefined) continue;
        const settled = new Set(
          [...logged.events].flatMap((text) => {
            const event = JSON.parse(text as string) as { type: string; token: number };
            return event.type === 'node-settled' ? [`r/${event.token}`] : [];
          }),
        );
        const again: string[] = [];
        const effects = { ended: (_: string, key: string) => settled.has(key) && again.push(key) };
        let end = await attempt(make(effects as Effects), recoverFrom(logged), SUM);
        while (end.status === 'waiting') {
          const answers = Object.fromEntries(end.questions.map((question) => [question.address, answerTo(question)]));
          end = await attempt(make(effects as Effects), resumeFrom(end.checkpoint, answers), SUM);
        }
        expect(again).toEqual([]);
        expect(end.value).toBe(expected);
      }
    },
  );

  property('has the state that the fold of its log gives', 80, async (random, seed) => {
    const make = maker(seed, ALL);
    const log = new TextLog();
    const first = new TextLog();
    const both: EventLog = {
      append: (event) => {
        log.append(event);
        first.append(event);
      },
      snapshot: (checkpoint) => {
        log.snapshot(checkpoint);
        if (first.length === 0) first.snapshot(checkpoint);
      },
      flush: async () => {},
    };
    const saved: Checkpoint[] = [];
    const checkpoints = {
      save: (one: Checkpoint) => void saved.push(one),
      load: async () => undefined,
      delete: async () => {},
    };
    await attempt(make(), random.int(1_000), { ...SUM, log: both, checkpoints, run: 'r' });
    const { plan } = compileStep(make(), valueCodec(), new WeakMap());
    const folded = foldLog(plan, first.all).checkpoint;
    expect(folded.state).toEqual(throughJson((saved.at(-1) as Checkpoint).state));
    expect(first.events.some((event) => changesState(event as never))).toBe(true);
  });

  property('gives every reader of a fan-out the same', 60, async (random, seed) => {
    const body = maker(seed, { ...ALL, asks: false });
    const count = 2 + random.int(4);
    const seen = Array.from({ length: count }, () => [] as number[]);
    const made = graph<number, number>('fan', (g) => {
      const source = g.node('source', body());
      g.edge(g.start, source);
      const readers = seen.map((list, at) =>
        g.node(
          `r${at}`,
          step(`r${at}`, (value: number) => {
            list.push(value);
            return { [`r${at}`]: value };
          }),
        ),
      );
      const end = g.node('all', (all: Record<string, number>) => Object.values(all)[0] as number);
      for (const reader of readers) {
        g.edge(source, reader);
        g.edge(reader, end as never);
      }
      g.edge(end, g.end);
    });
    await invoke(made, random.int(1_000), SUM);
    for (const list of seen) expect(list).toEqual(seen[0]);
    expect(seen[0]).toHaveLength(1);
  });
});

/** Runs until so many nodes have settled, then stops as `after-step` does. */
async function stoppedAfter(
  make: () => NumberStep,
  input: number | ReturnType<typeof resumeFrom>,
  settlements: number,
  isLast: boolean,
): Promise<{ readonly value: number } | { readonly checkpoint: Checkpoint }> {
  const cancel$ = new Subject<{ readonly mode: 'now' | 'after-step' }>();
  let count = 0;
  const log: EventLog = {
    append: (event) => {
      if (event.type !== 'node-settled' || isLast) return;
      count += 1;
      if (count === settlements) cancel$.next({ mode: settlements % 2 === 0 ? 'now' : 'after-step' });
    },
    snapshot: () => {},
    flush: async () => {},
  };
  try {
    return { value: await invoke(make(), input, { ...SUM, cancel$, log }) };
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'RUN_CANCELLED') throw error;
    return { checkpoint: (error.details as { checkpoint: Checkpoint }).checkpoint };
  }
}
