/** Runs that wait for a person. */
import type { Json, JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { agentPath, runPath } from '../run/paths.js';
import type { ListedRun } from '../runs/run-list.js';

/** Runs of each list, at most. */
const MOST = 100;

/** What a run waits for. */
export interface InboxQuestion {
  readonly component: string;
  readonly question: JsonObject;
}

/**
 * Runs that wait and that nothing has gone on with, newest first. @throws ApiError.
 *
 * A run that was answered stays as it was, and another one goes on with it; so of each conversation only the newest run counts.
 */
export async function waitingRuns(client: Client, signal: AbortSignal): Promise<readonly ListedRun[]> {
  const [waiting, recent] = await Promise.all([
    client.call<readonly ListedRun[]>('/runs', { query: { status: 'waiting', page_size: MOST }, signal }),
    client.call<readonly ListedRun[]>('/runs', { query: { page_size: MOST }, signal }),
  ]);
  const newest = new Map<string, string>();
  for (const { id, session_id: session } of recent) if (!newest.has(session)) newest.set(session, id);
  const checked = await Promise.all(
    waiting.map(async (run) => {
      const last = newest.get(run.session_id) ?? (await newestOf(client, run, signal));
      return last === run.id;
    }),
  );
  return waiting.filter((_, at) => checked[at]);
}

async function newestOf(client: Client, run: ListedRun, signal: AbortSignal): Promise<string | undefined> {
  const query = { session_id: run.session_id, page_size: 1 };
  const [last] = await client.call<readonly { readonly id: string }[]>(`${agentPath(run.agent_id)}/runs`, {
    query,
    signal,
  });
  return last?.id;
}

/** What a run asks. @throws ApiError. */
export async function questionsOf(
  client: Client,
  run: ListedRun,
  signal: AbortSignal,
): Promise<readonly InboxQuestion[]> {
  const { tokens } = await client.call<{ readonly tokens: readonly JsonObject[] }>(
    `${runPath(run.agent_id, run.id)}/state`,
    {
      signal,
    },
  );
  return tokens.flatMap(({ component_id: component, question }) =>
    isObject(question) ? [{ component: String(component), question }] : [],
  );
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
