/** Processes that are lost at any write: what they kept is taken over until the run is done, and gives what an undisturbed run gives. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Durability } from '../../src/graph/log.js';
import type { Activation } from '../../src/graph/node.js';
import type { Plan } from '../../src/graph/plan.js';
import type { Start } from '../../src/graph/run-options.js';
import { property, type Random } from '../support/random.js';
import { logPlan } from './support/log-plans.js';
import { isEnd, MemoryLog, type StateEvent } from './support/memory-log.js';
import { SlowNodes } from './support/slow-nodes.js';
import { readValue } from './support/specs.js';
import { watch, written } from './support/watch.js';

describe.each(['sync', 'async'] as const)(
  'a run with durability %s that loses its process again and again',
  (durability) => {
    property('settles everything once, as if nothing had happened', 200, async (random, seed) => {
      const undisturbed = await finish({ random, seed, durability, isLost: () => false });
      const lost = await finish({ random, seed, durability, isLost: () => random.chance(0.8) });
      expect(lost.outcomes).toEqual(undisturbed.outcomes);
      expect(lost.cells).toEqual(undisturbed.cells);
      expect(lost.variables).toEqual(undisturbed.variables);
      // What outsiders know a node by is kept before the node starts.
      if (durability === 'sync') expect(lost.confused).toEqual([]);
    });
  },
);

interface Case {
  readonly random: Random;
  readonly seed: number;
  readonly durability: Durability;
  /** Whether the next process is lost. */
  readonly isLost: () => boolean;
}

async function finish({ random, seed, durability, isLost }: Case) {
  const slow = new SlowNodes();
  const ledger = new Ledger();
  const plan = logPlan({ seed, random, slow, whenActivated: (at) => ledger.activated(at) });
  const log = new MemoryLog();
  let start: Start = { input: null };
  for (let processes = 0; processes < 300; processes += 1) {
    const writer = isLost() ? log.open(random.int(8)) : log.open();
    const watched = watch(plan, start, {
      log: writer,
      durability,
      seq: log.seq,
      concurrency: 1 + random.int(5),
    });
    // A process that is lost may go on for a while without anybody hearing of it.
    for (let unheard = random.int(6), turns = 0; !watched.isOver && (unheard > 0 || !writer.isDead); turns += 1) {
      if (turns === 100_000) throw new Error('The run is stuck.');
      if (!slow.step(random)) await setImmediate();
      if (writer.isDead) unheard -= 1;
    }
    writer.kill();
    watched.unsubscribe();
    expect(watched.error).toBeUndefined();
    ledger.check(log.history);
    const checkpoint = log.rebuild(plan);
    if (watched.isOver) {
      const { status, state, pending } = watched.outcome as NonNullable<typeof watched.outcome>;
      const { cells, variables } = written(plan, state).state;
      expect(checkpoint?.state).toEqual(written(plan, state).state);
      if (status === 'succeeded')
        return { outcomes: outcomesIn(log.history), cells, variables, confused: ledger.confused(readersIn(plan)) };
      expect(status).toBe('waiting');
      expect(pending.length).toBeGreaterThan(0);
      const answers = Object.fromEntries(random.shuffle(pending).map(({ token }) => [String(token), true]));
      start = { checkpoint: checkpoint as NonNullable<typeof checkpoint>, answers };
    } else if (checkpoint !== undefined) start = { checkpoint, recovery: { starts: new Map() } };
  }
  throw new Error('The run never ends.');
}

/** Who ran under which token, over all processes. */
class Ledger {
  /** Nodes with the item they work on, by token. */
  readonly #workOf = new Map<string, string>();
  readonly #tokensOf = new Map<string, Set<string>>();
  readonly #problems: string[] = [];
  readonly #shared: string[] = [];
  #settled: ReadonlySet<string> = new Set();

  activated(at: Activation): void {
    const { token, node } = at;
    const work = `${node} ${readValue(at, 'item')}`;
    if (this.#settled.has(token)) this.#problems.push(`${work} runs again as ${token}, which has settled`);
    const before = this.#workOf.get(token) ?? work;
    if (before !== work) this.#shared.push(`${work} runs as ${token}, and ${before} did before`);
    this.#workOf.set(token, work);
    this.#tokensOf.set(work, (this.#tokensOf.get(work) ?? new Set()).add(token));
  }

  /** Before the next process: what it must know as settled. */
  check(history: readonly StateEvent[]): void {
    const settled = history.filter(isEnd).map(({ token }) => `r/${token}`);
    this.#settled = new Set(settled);
    if (this.#settled.size < settled.length) this.#problems.push(`a token settled twice: ${settled}`);
    expect(this.#problems).toEqual([]);
  }

  /** Tokens that did not name one piece of work, or not for good; readers of live text start anew under another one. */
  confused(readers: ReadonlySet<string | undefined>): readonly string[] {
    const renamed = [...this.#tokensOf].filter(([work, { size }]) => size > 1 && !readers.has(work.split(' ')[0]));
    return [...this.#shared, ...renamed.map(([work, tokens]) => `${work} runs as ${[...tokens]}`)];
  }
}

/** Nodes that read live text. */
function readersIn({ nodes }: Plan): ReadonlySet<string | undefined> {
  return new Set(nodes.flatMap(({ streamsTo }) => streamsTo.map((to) => nodes[to]?.id)));
}

/** What was settled with, in an order of its own: that of the run depends on what took how long. */
function outcomesIn(history: readonly StateEvent[]): string[] {
  return history.flatMap((event) => ('outputs' in event && isEnd(event) ? JSON.stringify(event.outputs) : [])).sort();
}
