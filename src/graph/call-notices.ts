/**
 * Calls that a node makes while it works: of models, of tools, of agents below it. A node says when one starts, what happens in
 * it and how it ends, as notices among its other events; whoever watches the run reads them back with {@link callOf}.
 *
 * They are for people and tools that look at runs. They are no part of the answer, and `canvas/wire-events` leaves them out.
 */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ErrorInfo } from './events.js';
import { type Notice, notice, type Usage } from './node-events.js';

/** What is called. */
export type CallKind = 'model' | 'tool' | 'agent';

/**
 * Facts about a call by their names in OpenTelemetry's semantic conventions (`gen_ai.request.temperature`, `server.address` …).
 * Never what was asked or answered, never a key: they leave the process.
 */
export type CallAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A call begins. */
export interface CallStart {
  /** Unique among the calls of one activation. */
  readonly id: string;
  readonly kind: CallKind;
  /** Name of the model, the tool or the agent, as its provider has it. */
  readonly name: string;
  /** Id of the call that this one is part of. @default the node itself makes it */
  readonly parent?: string;
  /** @default none */
  readonly attributes?: CallAttributes;
}

/** Something happens in a call, such as its first piece of text (`stream_started`). */
export interface CallMoment {
  readonly id: string;
  readonly name: string;
  /** @default none */
  readonly attributes?: CallAttributes;
}

/** A call is over. One that is stopped with its node has no end of its own. */
export interface CallEnd {
  readonly id: string;
  /** Why it failed. @default it did not */
  readonly error?: Pick<ErrorInfo, 'code' | 'message'>;
  /** Tokens that it took. The node says them a second time as `usage` events, which are what is added up for users. */
  readonly usage?: Omit<Usage, 'type'>;
  /** @default none */
  readonly attributes?: CallAttributes;
}

/** A call as it is read back. */
export type CallReport =
  | ({ readonly type: 'started' } & CallStart)
  | ({ readonly type: 'moment' } & CallMoment)
  | ({ readonly type: 'finished' } & CallEnd);

const STARTED = 'call_started';
const MOMENT = 'call_event';
const FINISHED = 'call_finished';

/** Says that a call begins. */
export function callStarted({ id, kind, name, parent, attributes }: CallStart): Notice {
  return notice(STARTED, {
    id,
    kind,
    name,
    ...(parent !== undefined && { parent }),
    ...(attributes && { attributes }),
  });
}

/** Says what happens in a call. */
export function callEvent({ id, name, attributes }: CallMoment): Notice {
  return notice(MOMENT, { id, name, ...(attributes && { attributes }) });
}

/** Says that a call is over. */
export function callFinished({ id, error, usage, attributes }: CallEnd): Notice {
  return notice(FINISHED, {
    id,
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(usage && { usage: { ...usage } }),
    ...(attributes && { attributes }),
  });
}

/** Whether a notice is about a call. */
export function isCallNotice({ name }: Pick<Notice, 'name'>): boolean {
  return name === STARTED || name === MOMENT || name === FINISHED;
}

/** What a notice says about a call; undefined when it is about something else, or came from a log and is not whole. */
export function callOf({ name, data }: Pick<Notice, 'name' | 'data'>): CallReport | undefined {
  if (!isCallNotice({ name }) || typeof data.id !== 'string') return undefined;
  const attributes = isJsonObject(data.attributes) ? { attributes: data.attributes as CallAttributes } : {};
  const { id } = data;
  if (name === FINISHED) return { type: 'finished', id, ...errorOf(data.error), ...usageOf(data.usage), ...attributes };
  if (typeof data.name !== 'string') return undefined;
  if (name === MOMENT) return { type: 'moment', id, name: data.name, ...attributes };
  const { kind, parent } = data;
  if (kind !== 'model' && kind !== 'tool' && kind !== 'agent') return undefined;
  const inside = typeof parent === 'string' ? { parent } : {};
  return { type: 'started', id, kind, name: data.name, ...inside, ...attributes };
}

function errorOf(error: Json | undefined): Pick<CallEnd, 'error'> {
  return isJsonObject(error) ? { error: error as JsonObject & NonNullable<CallEnd['error']> } : {};
}

function usageOf(usage: Json | undefined): Pick<CallEnd, 'usage'> {
  return isJsonObject(usage) ? { usage: usage as JsonObject & NonNullable<CallEnd['usage']> } : {};
}
