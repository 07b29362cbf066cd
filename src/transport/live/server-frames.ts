/** What the server sends on a live connection, as text. */

import type { EventFrame } from '../../hosting/event-frame.js';
import type { RunRecord, RunStatus } from '../../records/runs.js';
import { failureOf } from '../envelope.js';
import type { RequestId } from './client-frames.js';

/** Unacknowledged events after which a client that acknowledges is left waiting. */
export const WINDOW = 256;

/** Seconds for which the events of an ended run can be counted on. */
const RESUME_TTL_SECONDS = 600;

export function readyFrame(connectionId: string, agentId: string, heartbeatMs: number): string {
  return JSON.stringify({
    type: 'ready',
    connection_id: connectionId,
    agent_id: agentId,
    heartbeat_s: heartbeatMs / 1000,
    window: WINDOW,
    resume_ttl_s: RESUME_TTL_SECONDS,
  });
}

export function acceptedFrame(req: RequestId, run: { id: string; sessionId: string; messageId: string }): string {
  return JSON.stringify({
    type: 'accepted',
    req,
    run_id: run.id,
    session_id: run.sessionId,
    message_id: run.messageId,
  });
}

/** How a client reads the events of a run. */
export type LiveView = 'ragflow' | 'engine';

/** The event is put in as it is: it was serialised once for all clients. Undefined when the view does not show it. */
export function eventFrame(run: string, frame: EventFrame, view: LiveView): string | undefined {
  const { seq, fromSeq } = frame;
  const json = view === 'engine' ? frame.engine : frame.ragflow;
  if (json === undefined) return undefined;
  const from = fromSeq === undefined ? '' : `"from_seq":${fromSeq},`;
  return `{"type":"event","run_id":${JSON.stringify(run)},${from}"seq":${seq},"event":${json}}`;
}

export function doneFrame(run: RunRecord, seq: number): string {
  return JSON.stringify({ type: 'done', run_id: run.id, session_id: run.sessionId, seq, status: run.status });
}

export function attachedFrame(req: RequestId, run: string, fromSeq: number, status: RunStatus): string {
  return JSON.stringify({ type: 'attached', req, run_id: run, from_seq: fromSeq, status });
}

export function gapFrame(run: string, missingFrom: number, missingTo: number): string {
  return JSON.stringify({ type: 'gap', run_id: run, missing_from: missingFrom, missing_to: missingTo });
}

/** What a run came to, in place of events that are gone. */
export interface Snapshot {
  readonly content: string;
  readonly reference: unknown;
  readonly pendingInputs: unknown;
}

export function snapshotFrame({ id, status }: RunRecord, { content, reference, pendingInputs }: Snapshot): string {
  return JSON.stringify({ type: 'snapshot', run_id: id, content, reference, pending_inputs: pendingInputs, status });
}

export function pongFrame(t: unknown, now: number): string {
  return JSON.stringify({ type: 'pong', t, server_time: now });
}

export function errorFrame(thrown: unknown, about: { req?: RequestId; run?: string; isFatal?: boolean } = {}): string {
  const { code, message, data } = failureOf(thrown).body;
  const hasDetails = typeof data === 'object' && data !== null;
  const { req, run, isFatal = false } = about;
  return JSON.stringify({
    type: 'error',
    req,
    run_id: run,
    code,
    message,
    ...(hasDetails ? { data } : {}),
    fatal: isFatal,
  });
}

/** Why a live connection is closed. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  internal: 1011,
  restart: 1012,
  badFrame: 4400,
  unauthenticated: 4401,
  noAgent: 4404,
  authTimeout: 4408,
  tooSlow: 4429,
} as const;
