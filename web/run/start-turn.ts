/** Turns: how one is started, on the server. */
import type { JsonObject } from '../../src/json.js';
import { ApiError, type Client } from '../api/client.js';
import { agentPath, RUN_ALONE, runPath } from './paths.js';

/** A file as the server describes what was uploaded. */
export interface UploadedFile {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly mime_type: string;
}

/** What a user sends. */
export interface TurnInput {
  readonly query: string;
  /** Values of Begin's form, or of forms that wait by their address. @default none */
  readonly inputs?: JsonObject;
  /** @default none */
  readonly files?: readonly UploadedFile[];
  /** The conversation that it belongs to. @default a new one */
  readonly session?: string | undefined;
  /** The run that it goes on with, which waits, failed or was stopped. @default none */
  readonly resumeFrom?: string;
  /** Id of a published version, for a new conversation. @default the draft */
  readonly version?: string;
}

/** A run as lists and look-ups give it: the fields that are used. */
export interface RunItem {
  readonly id: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly message_id: string;
  readonly parent_run_id: string | null;
  readonly forked_at: number | null;
  readonly status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';
  readonly started_at: number;
  readonly finished_at: number | null;
}

/** Starts a turn and gives the id of its run, which goes on whether or not this page stays. @throws ApiError. */
export async function startTurn(client: Client, agent: string, turn: TurnInput): Promise<string> {
  const { query, inputs, files, session, resumeFrom, version = 'draft' } = turn;
  const body = {
    query,
    ...(inputs !== undefined && { inputs }),
    ...(files !== undefined && files.length > 0 && { files }),
    // The canvas that is shown is the draft.
    ...(session === undefined ? { version } : { session_id: session }),
    ...(resumeFrom !== undefined && { resume_from: resumeFrom }),
    detach: true,
  };
  const response = await client.answer(`${agentPath(agent)}/stream`, { method: 'POST', body });
  return startedRun(response);
}

/** The id of the run that an answer streams. The stream is left: events are followed by another way, which outlives a lost connection. @throws ApiError. */
export async function startedRun(response: Response): Promise<string> {
  const run = response.headers.get('x-run-id');
  if (run === null) throw await refusalOf(response);
  await response.body?.cancel();
  return run;
}

/** A run by its id, without what its nodes did. @throws ApiError. */
export function readRun(client: Client, agent: string, run: string, signal?: AbortSignal): Promise<RunItem> {
  return client.call<RunItem>(runPath(agent, run), {
    query: RUN_ALONE,
    ...(signal !== undefined && { signal }),
  });
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = (await response.json().catch(() => ({}))) as { code?: number; message?: string; data?: unknown };
  const { code = 0, message = `The server answered ${status}.`, data } = body;
  return new ApiError(message, { code, status, data });
}
