/** What holds for every agent and every team, tried on random ones. */
import { Subject } from 'rxjs';
import { describe, expect } from 'vitest';
import type { AnyAgent } from '../../src/entries/agents.js';
import type { EventLog } from '../../src/graph/log.js';
import type { Checkpoint } from '../../src/graph/state.js';
import { EngineError, invoke, type Question, recoverFrom, resumeFrom } from '../../src/index.js';
import { TextLog } from '../compose/support/memory-run-log.js';
import { attempt, throughJson } from '../compose/support/waiting-runs.js';
import { createRandom, property } from '../support/random.js';
import { randomAgent } from './support/random-agents.js';

type Input = string | ReturnType<typeof resumeFrom>;

const answerTo = ({ address }: Question): number => [...address].reduce((sum, char) => sum + char.charCodeAt(0), 7);
const answersTo = (asked: readonly Question[]) => Object.fromEntries(asked.map((one) => [one.address, answerTo(one)]));

/** The same agent as another process would make it. */
const maker = (seed: number, asks: boolean) => (): AnyAgent => randomAgent(createRandom(seed), 4, asks);

/** How it ends: a value, or the code of an error. */
async function ended(make: () => AnyAgent, from: Input, choose: (asked: readonly Question[]) => readonly Question[]) {
  try {
    let end = await attempt(make() as never, from as never);
    for (let round = 0; end.status === 'waiting'; round += 1) {
      if (round > 500) throw new Error('It asks for ever.');
      end = await attempt(
        make() as never,
        resumeFrom(throughJson(end.checkpoint), answersTo(choose(end.questions))) as never,
      );
    }
    return { value: end.value as unknown };
  } catch (error) {
    if (EngineError.is(error) && error.code === 'LIMIT_REACHED') return { error: error.message };
    throw error;
  }
}

const atOnce = (asked: readonly Question[]) => asked;

describe('A random agent', () => {
  property('gives the same in whichever order its questions are answered', 80, async (random, seed) => {
    const make = maker(seed, true);
    const expected = await ended(make, 'Go.', atOnce);
    expect(await ended(make, 'Go.', (asked) => asked.slice(0, 1))).toEqual(expected);
    expect(await ended(make, 'Go.', (asked) => asked.slice(-1))).toEqual(expected);
    expect(
      await ended(make, 'Go.', (asked) => random.shuffle([...asked]).slice(0, 1 + random.int(asked.length))),
    ).toEqual(expected);
  });

  property(
    'stopped after any step and resumed by another process gives what it gives undisturbed',
    80,
    async (random, seed) => {
      const make = maker(seed, false);
      const expected = await ended(make, 'Go.', atOnce);
      let from: Input = 'Go.';
      for (let stops = 0; ; stops += 1) {
        const end = await stoppedAfter(make, from, 1 + random.int(8), stops > 100);
        if ('checkpoint' in end) {
          from = resumeFrom(throughJson(end.checkpoint));
          continue;
        }
        expect(end).toEqual(expected);
        return;
      }
    },
  );

  property('cut off at any event of its log goes on to the same result', 40, async (random, seed) => {
    const make = maker(seed, true);
    const expected = await ended(make, 'Go.', atOnce);
    const log = new TextLog();
    await attempt(make() as never, 'Go.' as never, { log, durability: 'sync', run: 'r' }).catch(onlyLimits);
    for (let cut = 0; cut < Math.min(8, log.length); cut += 1) {
      const logged = log.cutAt(1 + random.int(log.length));
      if (logged !== undefined) expect(await ended(make, recoverFrom(logged) as never, atOnce)).toEqual(expected);
    }
  });
});

function onlyLimits(error: unknown): void {
  if (!EngineError.is(error) || error.code !== 'LIMIT_REACHED') throw error;
}

/** Runs until so many nodes have settled, then stops. */
async function stoppedAfter(
  make: () => AnyAgent,
  input: Input,
  settlements: number,
  isLast: boolean,
): Promise<{ readonly value: unknown } | { readonly error: string } | { readonly checkpoint: Checkpoint }> {
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
    return { value: await invoke(make(), input as never, { cancel$, log }) };
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    if (error.code === 'LIMIT_REACHED') return { error: error.message };
    if (error.code !== 'RUN_CANCELLED') throw error;
    return { checkpoint: (error.details as { checkpoint: Checkpoint }).checkpoint };
  }
}
