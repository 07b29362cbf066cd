/** Starting a run that goes on from an event of another one. */
import type { JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { runPath } from '../run/paths.js';
import { startedRun } from '../run/start-turn.js';

/** What is different from the event on. */
export interface ForkChange {
  /** @default what the run was asked */
  readonly query?: string;
  readonly variables?: JsonObject;
  /** By id of the component. */
  readonly outputs?: JsonObject;
}

export interface ForkStart {
  readonly agent: string;
  readonly run: string;
  /** Number of the event. */
  readonly at: number;
  readonly change: ForkChange;
}

/** Gives the id of the new run, which goes on whether or not this page stays. @throws ApiError. */
export async function startFork(client: Client, { agent, run, at, change }: ForkStart): Promise<string> {
  const { query, variables, outputs } = change;
  const response = await client.answer(`${runPath(agent, run)}/fork`, {
    method: 'POST',
    query: { at },
    body: {
      ...(query !== undefined && { query }),
      ...(variables !== undefined && { variables }),
      ...(outputs !== undefined && { outputs }),
      stream: true,
      detach: true,
    },
  });
  return startedRun(response);
}
