/** States without a run: the first one of a plan, and one after a number of settlements. */

import type { RunEvent } from '../../../src/graph/events.js';
import { transition } from '../../../src/graph/fold.js';
import { Frontier } from '../../../src/graph/frontier.js';
import { type Outputs, settled, type Write } from '../../../src/graph/node-events.js';
import type { Plan, Scope, Variables } from '../../../src/graph/plan.js';
import { snapshot } from '../../../src/graph/snapshot.js';
import type { State } from '../../../src/graph/state.js';
import { Cells } from '../../../src/graph/state.js';
import { Frame } from '../../../src/graph/tokens.js';

/** The State that a run starts from. */
export function initialState(plan: Plan, variables: Variables = plan.variables): State {
  const cells = Cells.empty<Outputs>(plan.nodes.length);
  const root = new Frame(plan.scopes[0] as Scope, undefined, '', { cells, variables });
  const frontier = new Frontier(plan);
  frontier.enter(root, []);
  return snapshot(frontier, root, undefined);
}

/** Folds the first `count` moves of a log; `writesOf` gives what events do not carry. */
export function stateAfter(
  plan: Plan,
  events: readonly RunEvent[],
  count: number,
  writesOf: (event: RunEvent) => readonly Write[] = () => [],
): State {
  let state = initialState(plan);
  for (const event of movesOf(events).slice(0, count)) {
    const chosen =
      event.type === 'node-failed' ? gotoTargets(plan, event.node) : event.next === undefined ? undefined : event.next;
    const outcome = settled(event.outputs, {
      writes: writesOf(event),
      ...(chosen === undefined ? {} : { next: chosen }),
    });
    const { last } = state;
    [state] = transition(plan, state, event.token, outcome);
    // A failed node is never the one whose outputs the run ends with.
    if (event.type === 'node-failed') state = withLast(state, last);
  }
  return state;
}

function withLast({ last: _, ...state }: State, last: State['last']): State {
  return last === undefined ? state : { ...state, last };
}

/** The events that move tokens. */
export function movesOf(events: readonly RunEvent[]) {
  return events.filter((event) => event.type === 'node-settled' || event.type === 'node-failed');
}

function gotoTargets(plan: Plan, id: string): string[] {
  const node = plan.nodes[plan.byId.get(id) as number];
  return (node?.onError?.targets ?? []).map((target) => plan.nodes[target]?.id as string);
}
