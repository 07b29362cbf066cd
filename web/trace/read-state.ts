/** The state of a run after one of its events, as the server has it. */
import type { JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { runPath } from '../run/paths.js';

/** The fields that are used. */
export interface RunState {
  /** By id of the component. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  readonly variables: JsonObject;
  readonly tokens: readonly TokenItem[];
  /** Passes of containers that have not ended. */
  readonly bodies: readonly BodyItem[];
  /** What is too large to be given, with its bytes. */
  readonly omitted: readonly { readonly path: readonly string[]; readonly bytes: number }[];
}

/** A token, as the server has it. */
export interface TokenItem {
  readonly component_id: string;
  readonly token: number;
  /** `container/pass`, outermost first; null at the top level. */
  readonly within: string | null;
  /** `ready`: may run or is at work. */
  readonly status: 'ready' | 'held' | 'waiting';
  readonly question?: JsonObject;
}

/** An open pass of a container. */
export interface BodyItem {
  readonly within: string;
  /** Such as its item and its index. */
  readonly aliases: JsonObject;
  /** Values of its own. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  readonly variables: JsonObject;
}

/** @throws ApiError. */
export function readState(
  client: Client,
  { agent, run }: { readonly agent: string; readonly run: string },
  seq: number,
  signal?: AbortSignal,
): Promise<RunState> {
  return client.call<RunState>(`${runPath(agent, run)}/state`, {
    query: { at: seq },
    ...(signal !== undefined && { signal }),
  });
}
