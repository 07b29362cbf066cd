import { EngineError } from '../../errors.js';
import type { Transcript } from '../../hosting/transcript.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/stores.js';
import { type Envelope, outside } from '../envelope.js';

/**
 * The answer of a run to a client that does not stream.
 *
 * It looks like the end of the last message, else the form that the run waits with, else the end of the workflow; its data has what
 * the other two say as well, so that usage and outputs are there in any case.
 */
export function answerOf(run: RunRecord, transcript: Transcript): Envelope {
  const { messageEnd, userInputs, finished, trace } = transcript;
  if (run.error !== undefined) {
    const { message } = outside(new EngineError(run.error.code, run.error.message));
    return { code: 500, message, data: { session_id: run.sessionId, run_id: run.id, status: run.status } };
  }
  const ids = { session_id: run.sessionId, run_id: run.id, status: run.status };
  const chosen = messageEnd ?? userInputs ?? finished;
  if (chosen === undefined) return { code: 0, data: ids };
  const data: JsonObject = {
    ...finished?.data,
    ...userInputs?.data,
    ...messageEnd?.data,
    content: transcript.content,
    reference: transcript.reference,
    ...(Object.keys(transcript.structured).length === 0 ? {} : { structured: transcript.structured }),
    ...(trace.length === 0 ? {} : { trace: traceOf(trace) }),
  };
  return { code: 0, data: { ...chosen, data, ...ids } };
}

/** What each node did, as RAGFlow lists it. */
export function traceOf(finished: readonly JsonObject[]): JsonObject[] {
  return finished.map((data) => ({ component_id: data.component_id ?? null, trace: [data] }));
}
