/** The command that starts a run: plain data, so that any process with the same stores can carry it out. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { TraceContext } from '../trace-context.js';
import type { DefaultDocument } from './canvases.js';
import { badArgument } from './refusals.js';

/** Whose agent, and which document when there is no session yet. */
export interface TurnTarget {
  readonly tenant: string;
  readonly agentId: string;
  /** The document of a new session when the turn does not name one. */
  readonly fallback: DefaultDocument;
}

/** One turn that a client asks for. */
export interface TurnRequest {
  readonly query: string;
  readonly inputs: JsonObject;
  /** Files as they were uploaded: `{id, name, mime_type}`. */
  readonly files: readonly Json[];
  /** Continues this session; absent: a new one. */
  readonly sessionId?: string;
  readonly userId?: string;
  /** Name of a new session. */
  readonly name?: string;
  /** `draft`, or the id of a version. */
  readonly version?: string;
  /** Only what is published. */
  readonly isReleased: boolean;
  /** Id of the run to resume. */
  readonly resumeFrom?: string;
  /** The resumed or forked run may be one of another graph. */
  readonly migrates: boolean;
  /** Refused unless the session waits for input. */
  readonly answersForm: boolean;
  readonly returnsTrace: boolean;
  /** The run is not cancelled when it has no clients. */
  readonly detached: boolean;
  /** Whether the client wants a stream of events rather than one answer. */
  readonly streams: boolean;
  /** Values set for this run, such as `sys.chat_template_kwargs`. */
  readonly variables: JsonObject;
  /** Headers for tools that declare them. */
  readonly headers: JsonObject;
  /** The caller's position in a trace. */
  readonly trace: TraceContext;
  /** Earlier messages, for a new session. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
}

/** Which run to fork, and where. */
export interface ForkPoint {
  readonly run: string;
  /** Number of an event of the run, as clients see it. @default the last one */
  readonly at?: number;
}

/** Starts one turn of a conversation. */
export interface StartCommand extends TurnTarget {
  /** Format of the command. */
  readonly format: 1;
  readonly turn: TurnRequest;
  /** Starts behind an event of another run, in a copy of that run's session. @default at the entry nodes, or where the session waits */
  readonly fork?: ForkPoint;
}

const text = z.string();
const object = z.custom<JsonObject>(isJsonObject, 'expected an object');

const schema = z.strictObject({
  format: z.literal(1),
  tenant: text,
  agentId: text,
  fallback: z.enum(['draft', 'published']),
  turn: z.strictObject({
    query: text,
    inputs: object,
    files: z.array(z.custom<Json>()),
    sessionId: text.optional(),
    userId: text.optional(),
    name: text.optional(),
    version: text.optional(),
    isReleased: z.boolean(),
    resumeFrom: text.optional(),
    migrates: z.boolean(),
    answersForm: z.boolean(),
    returnsTrace: z.boolean(),
    detached: z.boolean(),
    streams: z.boolean(),
    variables: object,
    headers: object,
    trace: z.strictObject({ traceparent: text.optional(), tracestate: text.optional(), baggage: text.optional() }),
    history: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: text })),
  }),
  fork: z.strictObject({ run: text, at: z.int().nonnegative().optional() }).optional(),
});

/** What most turns leave out. */
const PLAIN_TURN = {
  query: '',
  inputs: {},
  files: [],
  isReleased: false,
  migrates: false,
  answersForm: false,
  returnsTrace: false,
  detached: false,
  streams: false,
  variables: {},
  headers: {},
  trace: {},
  history: [],
} satisfies TurnRequest;

/** The command for a turn; what `turn` does not mention is empty or off. */
export function startCommand(target: TurnTarget, turn: Partial<TurnRequest>, fork?: ForkPoint): StartCommand {
  const { tenant, agentId, fallback } = target;
  return {
    ...{ format: 1, tenant, agentId, fallback, turn: { ...PLAIN_TURN, ...turn } },
    ...(fork === undefined ? {} : { fork }),
  };
}

/** Reads a command that came from another process. @throws EngineError BAD_REQUEST with every mismatch and its path. */
export function readStartCommand(value: unknown): StartCommand {
  const parsed = schema.safeParse(value);
  // An absent property stays absent: only the types of zod say that it may be undefined.
  if (parsed.success) return parsed.data as StartCommand;
  const problems = parsed.error.issues.map(({ path, message }) => `\`${path.map(String).join('.')}\`: ${message}`);
  throw badArgument(`The start command is not valid: ${problems.join('; ')}.`);
}
