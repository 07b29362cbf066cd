/** The state of a run after one of its events, as the server has it. */
import type { Json, JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { runPath } from '../run/paths.js';

/** The fields that are used. */
export interface RunState {
  /** By id of the component. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  readonly variables: JsonObject;
  readonly tokens: Json;
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
