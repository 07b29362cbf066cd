/**
 * Starting a run from an earlier point of another one, or with another version of its graph.
 *
 * Points are numbers of events: the log up to there gives a state. What had settled by then is in the state and never runs again; what
 * was at work, or failed, runs again from its last progress.
 */
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { RunEvent } from './events.js';
import { foldState, undisturbed } from './fold.js';
import type { Outputs } from './node-events.js';
import { indexOfNode, type Node, type Plan, type Variables } from './plan.js';
import { requirePlan } from './run.js';
import { stateFromJson, stateToJson } from './snapshot.js';
import { Cells, type Checkpoint, type FrameState, type State, type TokenState } from './state.js';

/** What is stored of a run: a snapshot, and the events that came after it. */
export interface RunHistory {
  readonly checkpoint: Checkpoint;
  /** In order. */
  readonly events: readonly RunEvent[];
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

/**
 * Where a run stood after the event `at`: to be started with `recovery`, or with `answers` when it waits. Pure.
 *
 * A failure that ended the run, or a body around the failed node, did not happen in it: the node runs again, its neighbours do not.
 *
 * @param at number of an event of the log. @default the last one
 * @throws EngineError HISTORY_GONE when the log begins later; PLAN_CHANGED when it belongs to another graph; CHECKPOINT_INVALID.
 */
export function forkAt(plan: Plan, history: RunHistory, at: number = Number.POSITIVE_INFINITY): Checkpoint {
  const { checkpoint } = history;
  const events = eventsUntil(plan, history, at);
  const state = foldState(plan, stateFromJson(plan, checkpoint.state), undisturbed(events));
  return { ...checkpoint, seq: 0, state: stateToJson(plan, state) };
}

/**
 * The state of a run after the event `at`, failures and all; a node at work counts as ready. Pure.
 *
 * @throws EngineError as {@link forkAt}.
 */
export function stateAt(plan: Plan, history: RunHistory, at: number): State {
  const events = eventsUntil(plan, history, at);
  return foldState(plan, stateFromJson(plan, history.checkpoint.state), events);
}

function eventsUntil(plan: Plan, { checkpoint, events }: RunHistory, at: number): readonly RunEvent[] {
  if (at < checkpoint.seq) {
    const message = `Run "${checkpoint.run}" cannot be taken up at event ${at}: nothing is stored before event ${checkpoint.seq}; take that one or a later one.`;
    throw new EngineError('HISTORY_GONE', message);
  }
  requirePlan(plan, checkpoint);
  return events.filter(({ seq }) => seq <= at);
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

/**
 * A checkpoint of `from` as one of `to`. Pure.
 *
 * Nodes that exist in both with the same type, in the same body, keep their outputs and their positions; outputs of others are
 * dropped. Variables stay, and those that only `to` has get its values. New nodes run when a token comes to them, and not before.
 *
 * @throws EngineError PLAN_CHANGED naming every position at a node that `to` does not have; CHECKPOINT_INVALID.
 */
export function migrateCheckpoint(from: Plan, to: Plan, checkpoint: Checkpoint): Checkpoint {
  requirePlan(from, checkpoint);
  if (from.hash === to.hash) return checkpoint;
  const migration = new Migration(from, to);
  const state = migration.state(stateFromJson(from, checkpoint.state));
  const { problems } = migration;
  if (problems.length > 0) {
    const message = `Run "${checkpoint.run}" cannot continue in the other version of the graph, which has no place for these positions: ${problems.join('; ')}. Fork it at an earlier event, or keep these nodes.`;
    throw new EngineError('PLAN_CHANGED', message);
  }
  return { ...checkpoint, planHash: to.hash, state: stateToJson(to, state) };
}

class Migration {
  readonly problems: string[] = [];
  readonly #from: Plan;
  readonly #to: Plan;

  constructor(from: Plan, to: Plan) {
    this.#from = from;
    this.#to = to;
  }

  state(state: State): State {
    return {
      ...state,
      cells: this.#cells(state.cells),
      variables: { ...this.#to.variables, ...state.variables },
      root: this.#frame(state.root),
    };
  }

  #cells(before: Cells<Outputs>): Cells<Outputs> {
    const cells = Cells.empty<Outputs>(this.#to.nodes.length);
    for (const node of this.#from.nodes) {
      const outputs = before.get(node.index);
      const same = this.#counterpart(node);
      if (outputs !== undefined && same !== undefined) cells.set(same.index, outputs);
    }
    return cells;
  }

  #frame({ tokens, values, ...frame }: FrameState): FrameState {
    /** Joins of the other version that hold a token. */
    const held = new Set<number>();
    const moved = tokens.flatMap((token) => {
      const state = this.#token(token);
      if (state?.status !== 'held') return state ?? [];
      // What came here one by one is joined now.
      return held.size === held.add(state.node).size ? [] : state;
    });
    return {
      ...frame,
      tokens: moved,
      ...(values === undefined
        ? {}
        : {
            values: {
              cells: this.#cells(values.cells),
              variables: { ...this.#to.variables, ...values.variables },
            },
          }),
    };
  }

  #token({ frames, ...token }: TokenState): TokenState | undefined {
    const node = this.#from.nodes[token.node] as Node;
    const same = this.#counterpart(node);
    if (same === undefined || (frames !== undefined && frames.length > 0 && same.body === -1)) {
      this.problems.push(this.#problem(node));
      return undefined;
    }
    return {
      ...token,
      node: same.index,
      status: statusAt(node, same, token.status),
      ...(frames === undefined ? {} : { frames: frames.map((inner) => this.#frame(inner)) }),
    };
  }

  /** The same node in the other version. */
  #counterpart(node: Node): Node | undefined {
    const found = this.#named(node);
    return found?.type === node.type && ownerOf(this.#to, found) === ownerOf(this.#from, node) ? found : undefined;
  }

  #named({ id }: Node): Node | undefined {
    const index = this.#to.byId.get(id);
    return index === undefined ? undefined : this.#to.nodes[index];
  }

  #problem(node: Node): string {
    const named = this.#named(node);
    if (named === undefined) return `"${node.id}" is gone`;
    if (named.type !== node.type) return `"${node.id}" was a ${node.type} and is a ${named.type}`;
    return `"${node.id}" lies in another body, or has lost its own`;
  }
}

/** A token waits at what has become a join, and is ready at what is none any more; one that was released stays ready. */
function statusAt(before: Node, after: Node, status: TokenState['status']): TokenState['status'] {
  if (status === 'held') return after.isJoin ? 'held' : 'ready';
  return status === 'ready' && after.isJoin && !before.isJoin ? 'held' : status;
}

/** Id of the container that a node lies in; undefined at the top level. */
function ownerOf(plan: Plan, { scope }: Node): string | undefined {
  return plan.nodes[plan.scopes[scope]?.owner ?? -1]?.id;
}
