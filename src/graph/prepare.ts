/** From what a run is started with to the working form that the driver takes. */
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { Cells } from './cells.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Plan, Scope, Variables } from './plan.js';
import type { Start } from './run-options.js';
import { type Checkpoint, restore, type State } from './state.js';
import { readCheckpoint, stateFromJson } from './state-json.js';
import { Frame, type Token } from './token.js';

/** A run that is ready to start. */
export interface Prepared {
  readonly frontier: Frontier;
  readonly root: Frame;
  /** The first wave. */
  readonly ready: Token[];
  readonly last: State['last'];
  readonly input: Json;
  /** For the forms of bodies that go on. */
  readonly answers: Json | undefined;
  readonly kind: 'fresh' | 'resumed' | 'takenOver';
}

/**
 * @throws EngineError PLAN_CHANGED when the checkpoint belongs to another graph, CHECKPOINT_INVALID when it cannot be read.
 */
export function prepare(plan: Plan, start: Start, now: number): Prepared {
  const open = (variables: Variables, input: Json, resumed: boolean) =>
    plan.hooks.open?.(variables, input, { resumed, now }) ?? variables;
  if (!('checkpoint' in start)) {
    const { input, variables } = start;
    const frontier = new Frontier(plan);
    const values = {
      cells: Cells.empty<Outputs>(plan.nodes.length),
      variables: open(variables ?? plan.variables, input, false),
    };
    const root = new Frame(plan.scopes[0] as Scope, undefined, '', values);
    return { frontier, root, ready: frontier.enter(root), last: undefined, input, answers: undefined, kind: 'fresh' };
  }
  const checkpoint = readCheckpoint(start.checkpoint);
  requirePlan(plan, checkpoint);
  const state = stateFromJson(plan, checkpoint.state);
  const { frontier, root } = restore(plan, state);
  const { last } = state;
  if (start.takeover === true) {
    // The same run goes on: its variables were opened when it began, and its forms still wait for their answers.
    // Tokens that the lost process gave out and that were not kept are never given to somebody else.
    frontier.nextTokenId += 1_000_000;
    const ready = frontier.wake(root, { isTakeover: true });
    return { frontier, root, ready, last, input: checkpoint.input ?? {}, answers: undefined, kind: 'takenOver' };
  }
  const { answers } = start;
  const input: Json = answers ?? {};
  root.values.variables = open(root.values.variables, input, true);
  const ready = frontier.wake(root, { answers, isTakeover: false });
  for (const token of ready) wakeBodies(frontier, token, answers);
  return { frontier, root, ready, last, input, answers, kind: 'resumed' };
}

/** @throws EngineError PLAN_CHANGED when a checkpoint belongs to another graph. */
export function requirePlan(plan: Plan, { run, planHash }: Checkpoint): void {
  if (planHash === plan.hash) return;
  const message = `Checkpoint of run "${run}" belongs to another version of the graph (${planHash}, now ${plan.hash}); resume it with the version it was started with.`;
  throw new EngineError('PLAN_CHANGED', message);
}

/** Answers also what waits in bodies, at once: a run that is lost before a container opens its body again still has them. */
function wakeBodies(frontier: Frontier, container: Token, answers: Json | undefined): void {
  if (container.frames === undefined) return;
  for (const frame of container.frames.values()) {
    for (const token of frontier.wake(frame, { answers, isTakeover: false })) wakeBodies(frontier, token, answers);
  }
}
