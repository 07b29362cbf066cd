/**
 * Continuing from an earlier point of a run: its log up to there gives a state that another run starts from.
 *
 * Points are numbers of events. What had settled by then is in the state and never runs again; what was at work, or failed, runs again
 * from its last progress.
 */
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import type { RunEvent } from '../events.js';
import { readEvent } from '../log.js';
import type { Outputs } from '../node-events.js';
import { indexOfNode, type Plan, type Variables } from '../plan.js';
import { requirePlan } from '../run.js';
import type { Checkpoint, FrameState, State } from '../state.js';
import { stateFromJson, stateToJson } from '../state-json.js';
import { foldState, undisturbed } from '../transition.js';

/** What is stored of a run: a snapshot, and the events that came after it. */
export interface RunHistory {
  readonly checkpoint: Checkpoint;
  /** In order. */
  readonly events?: readonly RunEvent[];
  /** The same as JSON texts, from hosts that store records. */
  readonly records?: readonly string[];
}

/** What is different from the given point on. */
export interface ForkChange {
  /** Given to entry nodes that have not run. @default what the run was started with */
  readonly input?: Json;
  /** Variables that are set. */
  readonly variables?: Variables;
  /** Outputs that are set, by id of a node that has some. */
  readonly outputs?: Readonly<Record<string, Outputs>>;
}

/** The number of the event before which nothing of a run is kept. */
export function historyStart({ checkpoint }: Pick<RunHistory, 'checkpoint'>): number {
  return checkpoint.mark ?? checkpoint.seq;
}

/**
 * Where a run stood after the event `at`: to be started with `takeover`, or with `answers` when it waits. Pure.
 *
 * A failure that ended the run, or a body around the failed node, did not happen in it: the node runs again, its neighbours do not.
 *
 * @param at number of an event of the log that clients see. @default the last one
 * @throws EngineError HISTORY_GONE when the journal begins later; PLAN_CHANGED when it belongs to another graph; CHECKPOINT_INVALID.
 */
export function forkAt(plan: Plan, history: RunHistory, at: number = Number.POSITIVE_INFINITY): Checkpoint {
  const { checkpoint } = history;
  const start = historyStart(history);
  if (at < start) {
    const message = `Run "${checkpoint.run}" cannot go on from event ${at}: nothing is kept before seq ${start}; take that one or a later one.`;
    throw new EngineError('HISTORY_GONE', message);
  }
  requirePlan(plan, checkpoint);
  const state = foldState(plan, stateFromJson(plan, checkpoint.state), undisturbed(eventsUntil(history, at)));
  return { ...checkpoint, mark: 0, seq: 0, state: stateToJson(plan, state) };
}

/**
 * A checkpoint with changes. Pure.
 *
 * @throws EngineError BAD_REQUEST for outputs of a node that the graph does not have, or that has none at that point.
 */
export function withChange(plan: Plan, checkpoint: Checkpoint, change: ForkChange): Checkpoint {
  const { input = checkpoint.input, variables = {}, outputs = {} } = change;
  const state = stateFromJson(plan, checkpoint.state);
  for (const [id, values] of Object.entries(outputs)) {
    const index = indexOfNode(plan, id);
    const before = index === undefined ? undefined : state.cells.get(index);
    if (index === undefined || before === undefined) {
      const why = index === undefined ? 'the graph has no such node' : 'it has no outputs yet at that point';
      throw new EngineError('BAD_REQUEST', `Outputs of "${id}" cannot be changed: ${why}.`);
    }
    state.cells.set(index, { ...before, ...values });
  }
  const changed: State = {
    ...state,
    variables: { ...state.variables, ...variables },
    root: withVariables(state.root, variables),
  };
  return { ...checkpoint, ...(input === undefined ? {} : { input }), state: stateToJson(plan, changed) };
}

/** Ids of the nodes that wait for an answer in a checkpoint, in bodies too. */
export function waitingNodes(plan: Plan, checkpoint: Checkpoint): readonly string[] {
  const waiting = ({ tokens }: FrameState): string[] =>
    tokens.flatMap(({ node, status, payload, frames = [] }) => [
      ...(status === 'waiting' && payload !== undefined ? [plan.nodes[node]?.id ?? ''] : []),
      ...frames.flatMap(waiting),
    ]);
  return waiting(stateFromJson(plan, checkpoint.state).root);
}

/** Isolated bodies have variables of their own. */
function withVariables({ values, tokens, ...frame }: FrameState, variables: Variables): FrameState {
  return {
    ...frame,
    ...(values === undefined ? {} : { values: { ...values, variables: { ...values.variables, ...variables } } }),
    tokens: tokens.map(({ frames, ...token }) => ({
      ...token,
      ...(frames === undefined ? {} : { frames: frames.map((inner) => withVariables(inner, variables)) }),
    })),
  };
}

function eventsUntil({ events, records }: RunHistory, at: number): RunEvent[] {
  return (events ?? (records ?? []).map(readEvent)).filter(({ seq }) => seq <= at);
}
