/** From what a run is started with to the working form that the driver takes. */
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { Cells } from './cells.js';
import type { RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Node, Plan, Scope, Variables } from './plan.js';
import type { Start } from './run-options.js';
import { type Checkpoint, type FrameState, NO_USAGE, restore, type State } from './state.js';
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
  /** Used before: of this run, before its process was lost. */
  readonly usage: RunUsage;
  /** Starts that are repeated. */
  readonly retractions?: Retractions;
}

/**
 * The starts that a recovered run repeats, by token. A consumer on a stream edge gets a new token when its producer starts it again, so
 * its start is found by its place.
 */
export class Retractions {
  readonly #starts: Map<number, number>;
  readonly #byPlace = new Map<string, number>();

  constructor(plan: Plan, { root }: State, starts: ReadonlyMap<number, number>) {
    this.#starts = new Map(starts);
    this.#addPlaces(plan, root, '');
  }

  /** seq of the start that this one repeats; gone once taken. */
  take(token: number, node: number, path: string): number | undefined {
    const own = this.#starts.get(token);
    if (own !== undefined) {
      this.#starts.delete(token);
      return own;
    }
    const place = `${path}/${node}`;
    const start = this.#byPlace.get(place);
    this.#byPlace.delete(place);
    return start;
  }

  #addPlaces(plan: Plan, { tokens }: FrameState, path: string): void {
    const early = new Set(tokens.flatMap(({ startedEarly = [] }) => startedEarly));
    for (const { id, node, frames = [] } of tokens) {
      const start = this.#starts.get(id);
      if (start !== undefined && early.has(id)) this.#byPlace.set(`${path}/${node}`, start);
      for (const frame of frames) {
        this.#addPlaces(plan, frame, `${path === '' ? '' : `${path}/`}${(plan.nodes[node] as Node).id}/${frame.key}`);
      }
    }
  }
}

/**
 * @throws EngineError PLAN_CHANGED when the checkpoint belongs to another graph, CHECKPOINT_INVALID when it cannot be read.
 */
export function prepare(plan: Plan, start: Start, now: number, run: string): Prepared {
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
    return {
      frontier,
      root,
      ready: frontier.enter(root),
      last: undefined,
      input,
      answers: undefined,
      kind: 'fresh',
      usage: NO_USAGE,
    };
  }
  const checkpoint = readCheckpoint(start.checkpoint);
  requirePlan(plan, checkpoint);
  const state = stateFromJson(plan, checkpoint.state);
  const { frontier, root } = restore(plan, state);
  const { last } = state;
  const { recovery } = start;
  if (start.takeover === true || recovery !== undefined) {
    // The same run goes on: its variables were opened when it began, and its forms still wait for their answers.
    // Tokens that the lost process gave out and that were not kept are never given to somebody else.
    frontier.nextTokenId += 1_000_000;
    const ready = frontier.wake(root, { isTakeover: true });
    return {
      frontier,
      root,
      ready,
      last,
      input: checkpoint.input ?? {},
      answers: undefined,
      kind: 'takenOver',
      // A fork begins as another run: it has used nothing yet.
      usage: checkpoint.run === run ? (state.usage ?? NO_USAGE) : NO_USAGE,
      ...(recovery === undefined ? {} : { retractions: new Retractions(plan, state, recovery.starts) }),
    };
  }
  const { answers } = start;
  const input: Json = answers ?? {};
  root.values.variables = open(root.values.variables, input, true);
  const ready = frontier.wake(root, { answers, isTakeover: false });
  for (const token of ready) wakeBodies(frontier, token, answers);
  return { frontier, root, ready, last, input, answers, kind: 'resumed', usage: NO_USAGE };
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
