/** What a client of a live connection may send. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import { chatSchema } from '../chat/chat-input.js';
import { readInput, received } from '../http/input.js';
import { inputSchema } from '../runs/run-inputs.js';

const id = z.string().min(1).max(255);
const req = z.union([z.string().max(255), z.number()]).optional();
const seq = z.int().min(0);
const view = z.enum(['ragflow', 'engine']).default('ragflow');

const schemas = {
  auth: z.object({ type: z.literal('auth'), token: z.string() }),
  /** The other fields are those of a run request. */
  run: z.looseObject({ type: z.literal('run'), req, view }),
  /** So are those of a fork. */
  fork: z.looseObject({ type: z.literal('fork'), req, view, run_id: id, at: seq.optional() }),
  user_input: z.looseObject({ type: z.literal('user_input'), req, view, session_id: id }),
  /** The other fields are those of a question to a chat. */
  ask: chatSchema.extend({ type: z.literal('ask'), req }),
  /** Leaves a run, which is then a run without this client. */
  detach: z.object({ type: z.literal('detach'), req, run_id: id }),
  /** Says something to the agents of a run at work; the other fields are those of `POST …/inputs`. */
  input: inputSchema.extend({ type: z.literal('input'), req, run_id: id }),
  cancel: z
    .object({ type: z.literal('cancel'), req, session_id: id.optional(), run_id: id.optional() })
    .refine(({ session_id, run_id }) => session_id !== undefined || run_id !== undefined, {
      error: 'expected `session_id` or `run_id`',
    }),
  /**
   * With `batch` events that come together are one frame of the type `events`. With `lean` the engine's events lack texts that earlier ones have:
   * an empty text is in their place, and `repeats` says for each where it belongs, the number of the event that has it, and where it stands there.
   */
  attach: z.object({
    type: z.literal('attach'),
    req,
    view,
    run_id: id,
    last_event_id: seq.default(0),
    batch: z.boolean().default(false),
    lean: z.boolean().default(false),
  }),
  ack: z.object({ type: z.literal('ack'), run_id: id, seq }),
  ping: z.object({ type: z.literal('ping'), t: z.json().optional() }),
  close: z.object({ type: z.literal('close') }),
} as const;

type Schemas = typeof schemas;

/** Frames that a connection takes. */
const TAKEN: Readonly<Record<LiveKind, readonly (keyof Schemas)[]>> = {
  agent: ['auth', 'run', 'fork', 'user_input', 'detach', 'input', 'cancel', 'attach', 'ack', 'ping', 'close'],
  chat: ['auth', 'ask', 'detach', 'cancel', 'attach', 'ack', 'ping', 'close'],
  runs: ['auth', 'ping', 'close'],
};

/** What a connection is for: one agent, all chats of a tenant, or the list of the runs of its agents. */
export type LiveKind = 'agent' | 'chat' | 'runs';

/** A frame of a client. */
export type ClientFrame = { [K in keyof Schemas]: z.output<Schemas[K]> }[keyof Schemas];

/** Whatever a client calls its request; answers carry it. */
export type RequestId = string | number | undefined;

/** The JSON object in a frame; undefined when it holds none, or one beyond the bounds of JSON from outside. */
export function parseFrame(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** Reads a frame by its type. @throws EngineError BAD_REQUEST for an unknown type or wrong fields. */
export function readFrame(value: JsonObject, kind: LiveKind): ClientFrame {
  const { type } = value;
  const known = TAKEN[kind].find((name) => name === type);
  if (known === undefined) {
    throw badArgument(`\`type\` must be one of ${TAKEN[kind].join(', ')}; received ${received(type)}.`);
  }
  return readInput(schemas[known] as z.ZodType<ClientFrame>, value);
}

/** The request id of a frame, also of one that is wrong otherwise. */
export function requestIdOf(value: JsonObject): RequestId {
  return typeof value.req === 'string' || typeof value.req === 'number' ? value.req : undefined;
}
