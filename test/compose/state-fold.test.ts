/** The journal of states: what was changed, folded, is what the run had. */
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compileStep } from '../../src/compose/compile.js';
import { valueCodec } from '../../src/compose/values/value-codec.js';
import { foldState } from '../../src/graph/fold.js';
import { run as runPlan } from '../../src/graph/run.js';
import { defineState, graph, type StateHandle, type StepActivation } from '../../src/index.js';
import type { Random } from '../support/random.js';
import { createRandom } from '../support/random.js';

interface Tally {
  readonly items: readonly number[];
  readonly total: number;
  readonly last: string;
}

const Tally = defineState<Tally>('Tally', () => ({ items: [], total: 0, last: '' }), {
  reducers: { total: (before, added) => before + added },
});

const SEEDS = Array.from({ length: 60 }, (_, at) => at + 1);

function changeAtRandom(random: Random, tally: StateHandle<Tally>): void {
  const number = random.int(100);
  const change = random.int(4);
  if (change === 0) tally.set({ items: [number], total: number, last: 'set' });
  else if (change === 1) tally.update({ total: number });
  else if (change === 2) tally.update({ items: tally.value.items.slice(1), last: `update ${number}` });
  else tally.append('items', ...Array.from({ length: random.int(3) }, (_, at) => number + at));
}

describe('the patches of a state', () => {
  it.each(SEEDS)('fold to the state that the run had at every event (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const nodes = 2 + random.int(5);
    const g = graph<number, number>(
      'g',
      (build) => {
        let before = build.node('n0', change);
        build.edge(build.start, before);
        for (let at = 1; at < nodes; at += 1) {
          const node = build.node(`n${at}`, change);
          build.edge(before, node);
          before = node;
        }
        build.edge(before, build.end);
      },
      { state: Tally },
    );
    const live: unknown[] = [];
    function change(value: number, at: StepActivation): number {
      const tally = at.state(Tally);
      for (let times = random.int(6); times > 0; times -= 1) changeAtRandom(random, tally);
      live.push(structuredClone(tally.value));
      return value;
    }
    const { plan } = compileStep(g, valueCodec(), new WeakMap());
    const states: unknown[] = [];
    let first: Parameters<typeof foldState>[1] | undefined;
    const watch = (state$: Parameters<NonNullable<NonNullable<Parameters<typeof runPlan>[2]>['watch']>>[0]) => {
      state$.subscribe((state) => {
        first ??= state;
        states.push(stateOf(state));
      });
    };
    const events = await lastValueFrom(
      runPlan(plan, { input: 1 }, { services: { services: undefined, codec: valueCodec() }, watch }).pipe(toArray()),
    );
    const folded = foldState(plan, first as NonNullable<typeof first>, events);
    expect(stateOf(folded)).toEqual(states.at(-1));
    const settled = events.filter(({ type }) => type === 'node-settled');
    const afterEach = settled.slice(0, -1).map(({ seq }) =>
      stateOf(
        foldState(
          plan,
          first as NonNullable<typeof first>,
          events.filter((event) => event.seq <= seq),
        ),
      ),
    );
    expect(afterEach).toEqual(live.slice(0, -1));
  });
});

/** The state of the innermost graph under way. */
function stateOf(state: Parameters<typeof foldState>[1]): unknown {
  return state.root.typed?.states.Tally;
}
