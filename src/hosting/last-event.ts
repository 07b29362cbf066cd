import type { WireEvent } from '../canvas/ragflow-events.js';
import { CANCELLED } from '../canvas/ragflow-events.js';
import { EngineError, type ErrorCode } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { LoggedEvent, RunRecord } from '../records/stores.js';

/** Whether an event of that name is the last of its run. */
export function isLastEvent(name: string): boolean {
  return name === 'workflow_finished' || name === 'user_inputs' || name === 'error';
}

/** The event that ends a run which failed, at a time in seconds since 1970; `calls` is what nodes were calling then. */
export function failureEvent(
  { id, messageId, sessionId }: Pick<RunRecord, 'id' | 'messageId' | 'sessionId'>,
  createdAt: number,
  failure: EngineError | undefined,
  calls?: Json,
): WireEvent {
  const { code, message } = failure ?? new EngineError('INTERNAL', `Run "${id}" ended without saying how.`);
  return {
    event: 'error',
    message_id: messageId,
    created_at: createdAt,
    task_id: sessionId,
    session_id: sessionId,
    data: { code, message, ...(calls !== undefined && { calls }) },
  };
}

/** What the last event says of how its run ended. */
export function endIn({ event, json }: LoggedEvent): Pick<RunRecord, 'status' | 'error' | 'pending'> {
  const said = JSON.parse(json) as JsonObject;
  const data: JsonObject = isJsonObject(said.data) ? said.data : {};
  switch (event as WireEvent['event']) {
    case 'user_inputs':
      return { status: 'waiting', pending: data };
    case 'workflow_finished':
      return { status: data.outputs === CANCELLED ? 'cancelled' : 'succeeded' };
    default:
      return { status: 'failed', error: { code: said.error as ErrorCode, message: String(said.message) } };
  }
}
