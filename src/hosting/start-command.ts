/** The command that starts a run: plain data, so that any process with the same stores can carry it out. */

import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import type { Json } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import type { TraceContext } from '../trace-context.js';
import { badArgument } from './refusals.js';

const text = z.string();

const turnSchema = z.strictObject({
  query: text,
  inputs: jsonObject,
  /** Files as they were uploaded: `{id, name, mime_type}`. */
  files: z.array(z.custom<Json>()).readonly(),
  /** Continues this session; absent: a new one. */
  sessionId: text.optional(),
  /** A session of that id is made when there is none. @default it must exist */
  makesSession: z.boolean().optional(),
  userId: text.optional(),
  /** Name of a new session. */
  name: text.optional(),
  /** `draft`, or the id of a version. */
  version: text.optional(),
  /** Only what is published. */
  isReleased: z.boolean(),
  /** Id of the run to resume. */
  resumeFrom: text.optional(),
  /** The resumed or forked run may be one of another graph. */
  migrates: z.boolean(),
  /** Refused unless the session waits for input. */
  answersForm: z.boolean(),
  returnsTrace: z.boolean(),
  /** The run is not cancelled when it has no clients. */
  detached: z.boolean(),
  /** Whether the client wants a stream of events rather than one answer. */
  streams: z.boolean(),
  /** Values set for this run, such as `sys.chat_template_kwargs`. */
  variables: jsonObject,
  /** Headers for tools that declare them. */
  headers: jsonObject,
  trace: z.strictObject({ traceparent: text.optional(), tracestate: text.optional(), baggage: text.optional() }),
  /** Earlier messages, for a new session. */
  history: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: text }).readonly()).readonly(),
});

const forkSchema = z.strictObject({
  run: text,
  /** Number of an event of the run, as clients see it. @default the last one */
  at: z.int().nonnegative().optional(),
  /** Variables that are different from there on. */
  variables: jsonObject.optional(),
  /** Outputs that are different, by id of a component that had finished by then. */
  outputs: z.record(text, jsonObject).optional(),
});

const targetShape = {
  tenant: text,
  agentId: text,
  /** The document of a new session when the turn does not name one. */
  fallback: z.enum(['draft', 'published']),
  /** Names the key of a chat page: the turn belongs to a session that this key made. @default it may belong to any session of the agent */
  page: text.optional(),
  /** Whether the agent is an assistant, which is asked as a chat; it must be what this says. @default false */
  isChat: z.boolean().optional(),
};

const commandSchema = z.strictObject({
  /** Format of the command. */
  format: z.literal(1),
  ...targetShape,
  turn: turnSchema,
  /** Starts behind an event of another run, in a copy of that run's session. @default at the entry nodes, or where the session waits */
  fork: forkSchema.optional(),
});

/** Whose agent, and which document when there is no session yet. */
export type TurnTarget = Pick<StartCommand, keyof typeof targetShape>;

/** One turn that a client asks for. */
export interface TurnRequest extends Readonly<Omit<z.infer<typeof turnSchema>, 'trace'>> {
  /** The caller's position in a trace. */
  readonly trace: TraceContext;
}

/** Which run to fork, where, and what is different from there on. */
export type ForkPoint = Readonly<z.infer<typeof forkSchema>>;

/** Starts one turn of a conversation. */
export interface StartCommand extends Readonly<Omit<z.infer<typeof commandSchema>, 'turn' | 'fork'>> {
  readonly turn: TurnRequest;
  readonly fork?: ForkPoint;
}

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
  requireObject('startCommand', 'target', target, 'an object with "tenant" and "agentId"');
  const { tenant, agentId, fallback, page, isChat } = target;
  return {
    ...{ format: 1, tenant, agentId, fallback, turn: { ...PLAIN_TURN, ...turn } },
    ...(page === undefined ? {} : { page }),
    ...(isChat === undefined ? {} : { isChat }),
    ...(fork === undefined ? {} : { fork }),
  };
}

/** A command that was made of what was checked already; it is not changed, and a copy is none. */
class CheckedCommand implements StartCommand {
  readonly format = 1;
  readonly tenant: string;
  readonly agentId: string;
  readonly fallback: TurnTarget['fallback'];
  readonly turn: TurnRequest;
  declare readonly page?: string;
  declare readonly isChat?: boolean;
  declare readonly fork?: ForkPoint;
  // A private field, which no other code can give to an object.
  readonly #isChecked = true;

  constructor(
    { tenant, agentId, fallback, page, isChat = false }: TurnTarget,
    turn: TurnRequest,
    fork: ForkPoint | undefined,
  ) {
    this.tenant = tenant;
    this.agentId = agentId;
    this.fallback = fallback;
    this.turn = turn;
    if (page !== undefined) this.page = page;
    if (isChat) this.isChat = isChat;
    if (fork !== undefined) this.fork = fork;
  }

  static is(value: unknown): value is CheckedCommand {
    return typeof value === 'object' && value !== null && #isChecked in value && value.#isChecked;
  }
}

/** The command for a turn that was read from a request: carried out by this process, it is not checked again. */
export function checkedCommand(target: TurnTarget, turn: TurnRequest, fork?: ForkPoint): StartCommand {
  return new CheckedCommand(target, turn, fork);
}

/** Reads a command that came from another process. @throws EngineError BAD_REQUEST with every mismatch and its path. */
export function readStartCommand(value: unknown): StartCommand {
  if (CheckedCommand.is(value)) return value;
  const parsed = commandSchema.safeParse(value);
  // An absent header of the trace stays absent: only the types of zod allow undefined.
  if (parsed.success) return parsed.data as StartCommand;
  const problems = parsed.error.issues.map(({ path, message }) => `\`${path.map(String).join('.')}\`: ${message}`);
  throw badArgument(`The start command is not valid: ${problems.join('; ')}.`);
}
