/**
 * The table of error codes and the one error class.
 *
 * Every failure that Runnel reports has a code from this table. A message says what failed, which id, what was
 * received and what to do; the code is for programs, the message for the person who reads it.
 */

/** What a code means to the outside: its HTTP-like envelope code, and whether a client may read the message. */
export interface ErrorCodeInfo {
  /** Code in RAGFlow's JSON envelope (`{"code": …}`): 101 argument, 102 data, 103 operating, 500 exception … */
  readonly envelope: number;
  /** Whether the message may be shown to a remote client; otherwise it sees `summary` alone. */
  readonly expose: boolean;
  /** What happened, in one sentence without specifics. */
  readonly summary: string;
}

const code = (envelope: number, summary: string, expose = true): ErrorCodeInfo => ({ envelope, expose, summary });

/** Every code, grouped by the layer that raises it. `docs/errors.md` is generated from this table. */
export const ERROR_CODES = {
  // documents
  DOCUMENT_NOT_JSON: code(101, 'The document is not valid JSON.'),
  DOCUMENT_UNKNOWN_VERSION: code(101, 'The document is neither a version 1 nor a version 2 canvas.'),
  DOCUMENT_INVALID: code(102, 'The document has problems; every one is listed with its JSON path.'),
  DOCUMENT_NOT_CONVERTIBLE: code(102, 'The document cannot be converted to the other version.'),
  // references and templates
  REFERENCE_UNRESOLVED: code(102, 'A reference names nothing that exists in this run.'),
  REFERENCE_READ_ONLY: code(102, 'A reference names a value that cannot be written.'),
  TEMPLATE_INVALID: code(102, 'A template cannot be parsed.'),
  TEMPLATE_FAILED: code(102, 'A template failed while it was rendered.'),
  TEMPLATE_TOO_LARGE: code(102, 'A template needs more steps or gives more text than is allowed.'),
  TEMPLATE_FIELD_MISSING: code(102, 'A template needs a field that it was not given.'),
  PLACEHOLDER_INVALID: code(102, 'A placeholder for messages was given something else.'),
  // graph and runs
  OPTION_INVALID: code(101, 'An option has a value that is not allowed.'),
  PLAN_INVALID: code(102, 'The graph cannot be compiled.'),
  PLAN_CHANGED: code(102, 'The checkpoint belongs to another version of the graph.'),
  CHECKPOINT_INVALID: code(102, 'The checkpoint cannot be read.'),
  HISTORY_GONE: code(102, 'What a run did is not stored that far back, so no run can start from there.'),
  JOURNAL_FAILED: code(500, 'The journal of a run cannot be written, so the run was stopped.'),
  NODE_FAILED: code(500, 'A node failed.'),
  NODE_TIMEOUT: code(500, 'A node took longer than it may.'),
  NODE_TARGET_UNKNOWN: code(500, 'A node chose a successor that does not exist in its scope.'),
  NODE_PROTOCOL: code(500, 'A node broke the rules of activation (settled twice, or ended without settling).'),
  INPUT_MISSING: code(500, 'A step needs a value that did not come.'),
  RUN_TIMEOUT: code(500, 'The run took longer than it may.'),
  RUN_LOST: code(500, 'The process that a run was in was lost, and the run cannot continue.'),
  RUN_LOG_FULL: code(500, 'The run produced more events than its log may hold.'),
  RUN_INTERRUPTED: code(103, 'The run waits for answers.'),
  RUN_CANCELLED: code(103, 'The run was cancelled.'),
  GRAPH_NO_OUTPUT: code(102, 'A graph ended without a result.'),
  MERGE_CONFLICT: code(102, 'Values that came together cannot become one.'),
  ANSWER_UNKNOWN: code(102, 'An answer is for a question that the run does not ask.'),
  ANSWER_INVALID: code(102, 'An answer does not fit its question.'),
  STATE_MISSING: code(102, 'A step reads a state that no graph around it declares.'),
  RUN_STEPS_EXCEEDED: code(500, 'The run took more steps than it may.'),
  STREAM_EMPTY: code(102, 'A stream ended without a chunk where a value is needed.'),
  STREAM_FAILED: code(500, 'One of several streams failed that were read together.'),
  STREAM_TAKEN: code(102, 'A stream that can be read once was read again.'),
  VALUE_NOT_STORABLE: code(102, 'A value cannot be stored in a checkpoint.'),
  ROUTE_UNDECIDED: code(102, 'A branch chose no route.'),
  // models
  MODEL_UNKNOWN: code(102, 'No model is configured under that name.'),
  MODEL_REQUEST: code(500, 'The model refused the request.'),
  MODEL_UNAVAILABLE: code(500, 'The model could not be reached or was overloaded.'),
  MODEL_RESPONSE: code(500, 'The model answered something that cannot be used.'),
  MODEL_RETRIES_EXHAUSTED: code(500, 'Neither a model nor those that stand in for it gave an answer that can be used.'),
  GUARD_TRIPPED: code(102, 'A guard refused what an agent was asked or what it answered.'),
  HANDOFF_UNKNOWN: code(102, 'An agent handed over to one that is not there.'),
  INPUT_OVERFLOW: code(103, 'More inputs wait for an agent than it may have.'),
  CHUNKS_INVALID: code(102, 'The pieces of a value do not fit together.'),
  INPUT_INVALID: code(102, 'The input of a step does not have the form that the step needs.'),
  OUTPUT_INVALID: code(102, 'An answer does not have the form that was asked for.'),
  EMBEDDING_MISMATCH: code(102, 'Vectors that do not belong together cannot be compared.'),
  // knowledge bases
  DATASET_BUSY: code(102, 'Documents of a dataset are being parsed, so it cannot be changed now.'),
  INGEST_FAILED: code(500, 'A document could not be made searchable.'),
  GRAPH_BUSY: code(102, 'The graph of a dataset is being built, so it cannot be built or replaced now.'),
  GRAPH_MISSING: code(102, 'A dataset has no graph yet.'),
  BUDGET_EXHAUSTED: code(103, 'What the work may spend was spent before there was a result.'),
  // chats
  QUESTION_INVALID: code(101, 'A question cannot be answered as it is.'),
  // research
  EVIDENCE_MISSING: code(102, 'A statement has no evidence.'),
  PLAN_REJECTED: code(102, 'A plan of tasks cannot be carried out; every problem is listed with its path.'),
  // requests to the outside
  URL_INVALID: code(102, 'A URL cannot be used.'),
  URL_BLOCKED: code(102, 'A URL leads to an address that must not be reached.'),
  EGRESS_TIMEOUT: code(500, 'A request to the outside took longer than it may.'),
  EGRESS_TOO_LARGE: code(500, 'An answer from the outside is larger than allowed.'),
  EGRESS_REDIRECTS: code(500, 'A request to the outside was redirected too often.'),
  EGRESS_FAILED: code(500, 'A request to the outside failed.'),
  // tools
  TOOL_FAILED: code(500, 'A tool failed.'),
  TOOL_UNKNOWN: code(102, 'A model called a tool that is not there.'),
  TOOL_ARGUMENTS: code(102, 'A tool was called with arguments that do not fit.'),
  // the browser
  BROWSER_MISSING: code(103, 'There is no browser on the machine of the server.'),
  BROWSER_FAILED: code(500, 'The browser broke down or could not be started.'),
  // files
  FILE_UNKNOWN: code(102, 'A file is not there.'),
  FILE_UNREADABLE: code(102, 'A file cannot be read as what it claims to be.'),
  DOCUMENT_NOT_WRITTEN: code(500, 'A file could not be made from the given content.'),
  // code of documents and models
  SANDBOX_FAILED: code(500, 'Code could not be run in a sandbox.'),
  // configuration and command line
  CONFIG_INVALID: code(101, 'A setting is not valid.'),
  USAGE: code(101, 'The command was called wrongly.'),
  // service
  BAD_REQUEST: code(101, 'The request is not valid.'),
  ARGUMENT_UNUSABLE: code(100, 'A value in a request has a type that cannot be used.'),
  BODY_TOO_LARGE: code(101, 'The request body is larger than allowed.'),
  UNAUTHENTICATED: code(401, 'The request carries no valid key.'),
  FORBIDDEN: code(103, 'The caller may not do this.'),
  NO_AUTHORIZATION: code(109, "There is no such chat, or it is not the caller's."),
  NOT_FOUND: code(102, 'There is no such thing.'),
  CONFLICT: code(102, 'The request conflicts with what exists.'),
  SESSION_BUSY: code(103, 'A run of this session is still in progress, or another writer of it was faster.'),
  SESSION_INVALID: code(102, 'What a session holds, or is given to hold, is not what sessions are made of.'),
  LIMIT_REACHED: code(103, 'A limit of this server is reached.'),
  RATE_LIMITED: code(103, 'More requests came than are allowed in a second.'),
  QUOTA_EXCEEDED: code(103, 'A tenant stores as much as it may.'),
  STORE_UNAVAILABLE: code(500, 'The server cannot reach what it stores in; trying again may help.'),
  INTERNAL: code(500, 'Something unexpected went wrong.', false),
} as const satisfies Record<string, ErrorCodeInfo>;

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What a code means that comes from outside, such as that of an error in a log: INTERNAL when no code has that name. */
export function errorCodeInfo(code: unknown): ErrorCodeInfo {
  const isKnown = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
  return isKnown ? ERROR_CODES[code as ErrorCode] : ERROR_CODES.INTERNAL;
}

/** The message of an error as clients may read it: its own, or the summary of a code whose messages are for operators. */
export function shownMessage({ code, message }: { readonly code?: unknown; readonly message: string }): string {
  const { expose, summary } = errorCodeInfo(code);
  return expose ? message : summary;
}

/** Where and why an error happened; all optional. */
export interface EngineErrorDetails {
  /** Id of the node that failed. */
  readonly node?: string;
  /** Whether trying again may help; retry policies look at nothing else. */
  readonly retryable?: boolean;
  /** Machine-readable particulars (problems of a document, HTTP status …); JSON only, no secrets. */
  readonly details?: unknown;
  /** The error underneath. */
  readonly cause?: unknown;
}

/** The one error class: `code` for programs, `message` for people. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: ErrorCode;
  readonly node: string | undefined;
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, details: EngineErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.node = details.node;
    this.retryable = details.retryable ?? false;
    this.details = details.details;
  }

  /** Whether `value` is an EngineError, also one of another copy of this package. */
  static is(value: unknown): value is EngineError {
    return value instanceof Error && value.name === 'EngineError' && 'code' in value;
  }
}

/** Gives any thrown value back as an EngineError, under `fallback` when it is not one already. */
export function toEngineError(thrown: unknown, fallback: ErrorCode, details: EngineErrorDetails = {}): EngineError {
  if (EngineError.is(thrown)) return thrown;
  return new EngineError(fallback, messageOf(thrown), { ...details, cause: thrown });
}

/** The error with the id of the node that it happened in, where it names none; code, details, cause and stack stay. */
export function errorAt(error: EngineError, node: string): EngineError {
  return error.node === undefined ? movedError(error, node) : error;
}

/** The same error at another node. */
export function movedError(error: EngineError, node: string): EngineError {
  const { code, message, retryable, details, stack } = error;
  // Of a class of its own the error itself is kept, with what it carries.
  const cause = Object.getPrototypeOf(error) === EngineError.prototype ? error.cause : error;
  const located = new EngineError(code, message, { node, retryable, details, cause });
  if (stack !== undefined) located.stack = stack;
  return located;
}

/** What a thrown value says, also one that cannot be made text. */
function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message;
    if (thrown === undefined || thrown === null) return `${thrown} was thrown; throw an Error that says what failed.`;
    if (typeof thrown !== 'object') return String(thrown);
    const { message } = thrown as { readonly message?: unknown };
    if (typeof message === 'string') return message;
    const keys = Object.keys(thrown).slice(0, MAX_SHOWN_KEYS).join(', ');
    return `An object was thrown that is no Error${keys === '' ? '' : ` (with the keys ${keys})`}; throw an Error.`;
  } catch {
    return 'Something was thrown that cannot be read; throw an Error.';
  }
}

const MAX_SHOWN_KEYS = 10;
