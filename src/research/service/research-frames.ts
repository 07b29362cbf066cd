/** The events of a research's run as its clients read them: a pure projection, so that a client can start behind any of them. */
import { ownValue } from '../../dsl/json-copy.js';
import { type ErrorCode, shownMessage } from '../../errors.js';
import type { RunEvent } from '../../graph/events.js';
import { isJsonObject } from '../../json.js';
import type { ResearchEvent } from '../research-events.js';

/** Id of the node that researches. */
export const RESEARCH_NODE = 'research_0';

/** Name of the notices that hold events of a research. */
export const RESEARCH_NOTICE = 'research';

/** The output of the node that holds its last event. */
export const RESEARCH_OUTPUT = 'research';

/**
 * The event of a research that one event of its run is, under the same number; undefined when it is none. One that begins anew in another process begins with
 * `retract`, and tells again what it takes from its journal.
 */
export function toResearchEvent(event: RunEvent, sessionId: string): ResearchEvent | undefined {
  switch (event.type) {
    case 'run-started':
      return event.seq > 1
        ? undefined
        : { type: 'session', session_id: sessionId, run_id: event.run, trace_id: event.run };
    case 'node-started':
      return event.node === RESEARCH_NODE && event.retractFrom !== undefined
        ? { type: 'retract', reason: 'the process that researched was lost' }
        : undefined;
    case 'node-notice':
      return event.node === RESEARCH_NODE && event.name === RESEARCH_NOTICE
        ? (event.data as unknown as ResearchEvent)
        : undefined;
    case 'run-settled': {
      const final = ownValue(event.outputs ?? {}, RESEARCH_OUTPUT);
      if (!isJsonObject(final)) return errorOf('INTERNAL', 'The run ended without the report of a research.');
      return { ...(final as unknown as ResearchEvent), trace_id: event.run } as ResearchEvent;
    }
    case 'run-failed':
      return errorOf(event.error.code, shownMessage(event.error));
    case 'run-cancelled':
      return errorOf('RUN_CANCELLED', 'The research was cancelled.');
    default:
      return undefined;
  }
}

/** {@link toResearchEvent} as JSON, the type first. */
export function toResearchFrame(event: RunEvent, sessionId: string): string | undefined {
  const told = toResearchEvent(event, sessionId);
  if (told === undefined) return undefined;
  const { type, ...others } = told;
  return JSON.stringify({ type, ...others });
}

function errorOf(code: ErrorCode, message: string): ResearchEvent {
  return { type: 'error', code, message };
}
