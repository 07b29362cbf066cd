/** Where the tokens of a run are, and what each of them does there. */
import type { ActivationPicture, RunPicture } from '../../src/canvas/picture/picture.js';
import type { JsonObject } from '../../src/json.js';
import type { TokenItem } from './read-state.js';
import type { AnyStatus } from './statuses.js';

/** A token as people see it. */
export interface TokenState {
  readonly node: string;
  readonly token: number | undefined;
  readonly within: string | undefined;
  readonly status: AnyStatus;
  /** What it asks for, while it waits for that. */
  readonly question?: JsonObject;
}

/**
 * The tokens of a state with what the events say of them: the state knows which may run, and not which of these are at work.
 *
 * @param picture the run at the same moment
 * @param tokens as the server has them; undefined when it could not be asked
 */
export function tokenStates(picture: RunPicture, tokens: readonly TokenItem[] | undefined): readonly TokenState[] {
  const open = openOf(picture);
  if (tokens === undefined) {
    const queued = [...picture.nodes.values()].filter(({ status }) => status === 'queued');
    return [
      ...[...open.values()].map(stateOf),
      ...queued.map(({ id }) => ({ node: id, token: undefined, within: undefined, status: 'queued' as const })),
    ];
  }
  return tokens.map(({ component_id: node, token, within, status, question }) => ({
    ...{ node, token, within: within ?? undefined },
    status: status === 'ready' ? atWork(picture, open, node, token) : status,
    ...(question !== undefined && { question }),
  }));
}

function atWork(
  { nodes, status }: RunPicture,
  open: ReadonlyMap<number, ActivationPicture>,
  node: string,
  token: number,
): AnyStatus {
  if (status === 'cancelled' || status === 'failed') return 'stopped';
  if (open.get(token)?.node === node) return 'running';
  return nodes.get(node)?.retrying?.includes(token) === true ? 'retrying' : 'queued';
}

/** Activations that have not ended, by token. */
function openOf({ nodes }: RunPicture): ReadonlyMap<number, ActivationPicture> {
  const open = new Map<number, ActivationPicture>();
  for (const { activations } of nodes.values()) {
    for (const one of activations) if (one.status === 'open' || one.status === 'waiting') open.set(one.token, one);
  }
  return open;
}

function stateOf({ node, token, within, status, question }: ActivationPicture): TokenState {
  const state = { node, token, within, status: status === 'open' ? 'running' : status } as const;
  return { ...state, ...(question !== undefined && { question }) };
}
