/** Taking a checkpoint from one version of a graph to another, as far as its positions still exist there. */
import { EngineError } from '../../errors.js';
import { Cells } from '../cells.js';
import type { Outputs } from '../node-events.js';
import type { Node, Plan } from '../plan.js';
import { requirePlan } from '../run.js';
import type { Checkpoint, FrameState, State, TokenState } from '../state.js';
import { stateFromJson, stateToJson } from '../state-json.js';

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
    const message = `Run "${checkpoint.run}" cannot go on in the other version of the graph, because it stands where that has no place for it: ${problems.join('; ')}. Fork it at an earlier event, or keep these nodes.`;
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

/** A token waits at what has become a join, and goes on at what is none any more; one that was let go stays so. */
function statusAt(before: Node, after: Node, status: TokenState['status']): TokenState['status'] {
  if (status === 'held') return after.isJoin ? 'held' : 'ready';
  return status === 'ready' && after.isJoin && !before.isJoin ? 'held' : status;
}

/** Id of the container that a node lies in; undefined at the top level. */
function ownerOf(plan: Plan, { scope }: Node): string | undefined {
  return plan.nodes[plan.scopes[scope]?.owner ?? -1]?.id;
}
