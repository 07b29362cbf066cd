/** What a client asks for when it starts a turn. */
import type { TraceContext } from '../graph/trace-context.js';
import type { Json, JsonObject } from '../json.js';
import type { RunOrigin } from './run-origin.js';

/** One turn that a client asks for. */
export interface TurnRequest {
  readonly query: Json;
  readonly inputs: JsonObject;
  /** Files as they were uploaded: `{id, name, mime_type}`. */
  readonly files: readonly Json[];
  /** Goes on with this session; absent: a new one. */
  readonly sessionId?: string;
  readonly userId?: string;
  /** Name of a new session. */
  readonly name?: string;
  /** `draft`, or the id of a version. */
  readonly version?: string;
  /** Only what is published. */
  readonly isReleased: boolean;
  /** Id of the run to go on from. */
  readonly resumeFrom?: string;
  /** A run that is gone on from may have been one of another graph. */
  readonly migrates: boolean;
  /** Where the run goes on from; the server's own, never read from a client. */
  readonly origin?: RunOrigin;
  /** Only goes on with a session that waits for input. */
  readonly answersForm: boolean;
  readonly returnsTrace: boolean;
  /** Goes on without clients for as long as it takes. */
  readonly detached: boolean;
  /** Whether the client wants a stream of events rather than one answer. */
  readonly streams: boolean;
  /** Values set for this run, such as `sys.chat_template_kwargs`. */
  readonly variables: JsonObject;
  /** Headers for tools that declare them. */
  readonly headers: JsonObject;
  /** Where the caller stands in a trace. */
  readonly trace: TraceContext;
  /** What was said before, for a new session. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
}
