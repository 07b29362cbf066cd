/** The log of a run: the state folded from it is the state of the run, at every event. */
import { setImmediate } from 'node:timers/promises';
import { describe } from 'vitest';
import type { Plan } from '../../src/graph/plan.js';
import type { Start } from '../../src/graph/run-options.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { JsonObject } from '../../src/json.js';
import { property, type Random } from '../support/random.js';
import { startAudited } from './support/audited-run.js';
import { cyclicPlan, logPlan } from './support/log-plans.js';
import { SlowNodes } from './support/slow-nodes.js';
import { written } from './support/watch.js';

describe('the state folded from a log is the state of the run at every event', () => {
  property('without cycles, with bodies, live text, questions and failures', 300, async (random, seed) => {
    const slow = new SlowNodes();
    await audit(logPlan({ seed, random, slow, isOrderly: random.chance(0.3) }), slow, random);
  });

  property('with cycles', 600, async (random, seed) => {
    const slow = new SlowNodes();
    await audit(cyclicPlan({ seed, random, slow }), slow, random);
  });
});

/** Runs to the end, through questions and takeovers. */
async function audit(plan: Plan, slow: SlowNodes, random: Random): Promise<void> {
  let start: Start = { input: null };
  for (let runs = 0; runs < 200; runs += 1) {
    const durability = random.pick(['sync', 'async'] as const);
    const audited = startAudited(plan, start, { durability, concurrency: 1 + random.int(5) });
    const mostTurns = random.chance(0.3) ? random.int(30) : 100_000;
    for (let turns = 0; turns < mostTurns && !audited.isOver && audited.problem === undefined; turns += 1) {
      if (!slow.step(random)) await setImmediate();
    }
    if (audited.problem !== undefined) throw audited.problem;
    const { state, isOver } = audited;
    audited.stop();
    if (isOver && state.root.tokens.length === 0) return;
    if (!isOver && mostTurns === 100_000) throw new Error('The run is stuck.');
    const checkpoint = written(plan, state);
    start = isOver ? { checkpoint, answers: answersFor(checkpoint) } : { checkpoint, recovery: { starts: new Map() } };
  }
  throw new Error('The run never ends.');
}

/** For every token, whether it asks or not. */
function answersFor({ state }: Checkpoint): JsonObject {
  const tokens = JSON.stringify(state).matchAll(/"id":(\d+)/g);
  return Object.fromEntries([...tokens].map(([, token]) => [token, true]));
}
