import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { ERROR_CODES, type ErrorCode } from '../errors.js';
import type { RunUsage } from '../graph/events.js';
import type { Checkpoint } from '../graph/state.js';
import { isJsonObject, type Json } from '../json.js';
import { type Query, type Repository, resource } from './repository.js';
import { FIRST_EPOCH } from './run-log.js';

const count = z.number().int().nonnegative();

const usageSchema: z.ZodType<RunUsage> = z.object({
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  calls: count,
});

/** What a run begins with, so that one whose process was lost before its first snapshot begins anew. */
const turnSchema = z.object({
  query: z.string(),
  inputs: jsonObject,
  /** Files as they were uploaded: `{id, name, mime_type}`. */
  files: z.array(z.custom<Json>()).readonly(),
  userId: z.string().exactOptional(),
  variables: jsonObject,
  /** Earlier messages, of a new session. */
  history: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() }).readonly()).readonly(),
});

const launchSchema = z.object({
  /** Absent where a run is started by something other than a turn. */
  turn: turnSchema.readonly().exactOptional(),
  /** The state of another run that it starts from. */
  origin: z.custom<Checkpoint>(isJsonObject, 'expected an object').exactOptional(),
  /** It continues without clients for as long as it takes. */
  isDetached: z.boolean(),
  /** Headers for tools that declare them. */
  headers: jsonObject,
  /** Crash count: how often its process was lost since a node had finished, or stored a step of its work. @default 0 */
  crashes: count.exactOptional(),
  /** How often that had happened when its process was lost last. @default 0 */
  finished: count.exactOptional(),
  /** It is the one suspect that its process tries. @default false */
  isTried: z.boolean().exactOptional(),
  /** How many processes were lost while they tried it. @default 0 */
  trials: count.exactOptional(),
});

/** The form of a {@link RunRecord}. */
export const runSchema = z.object({
  id: z.string(),
  agentId: z.string(),
  sessionId: z.string(),
  /** Id of the turn. */
  messageId: z.string(),
  /** The run that this one continues. */
  parentRun: z.string().exactOptional(),
  /** Number of the event of that run behind which this one continues, when it is a fork. */
  forkedAt: count.exactOptional(),
  /** Which document it runs: `draft`, `published`, or the id of a version. @default not known */
  documentVersion: z.string().exactOptional(),
  /** What the client calls its user; no key to anything. */
  userId: z.string().exactOptional(),
  /** It belongs to a chat, which is listed and looked at as one. @default it belongs to an agent */
  isChat: z.literal(true).exactOptional(),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']),
  error: z
    .object({ code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]).catch('INTERNAL'), message: z.string() })
    .exactOptional(),
  /** The form that it waits with, while it is `waiting`. */
  pending: jsonObject.exactOptional(),
  startedAt: z.number(),
  finishedAt: z.number().exactOptional(),
  usage: usageSchema,
  /** Number of its last event; 0 while it runs. */
  lastSeq: count,
  /** Epoch of the process that has it. @default 1 */
  epoch: z.number().int().positive().exactOptional(),
  /** How it was started, for the process that recovers it; only while it runs. */
  launch: launchSchema.exactOptional(),
});

/** What is known about a run. Times are milliseconds since 1970. */
export type RunRecord = Readonly<z.infer<typeof runSchema>>;

/** How a run stands. */
export type RunStatus = RunRecord['status'];

/** Whose a run is, and what it belongs to. */
export interface RunIdentity
  extends Pick<
    RunRecord,
    'id' | 'agentId' | 'sessionId' | 'messageId' | 'parentRun' | 'forkedAt' | 'documentVersion' | 'userId' | 'isChat'
  > {
  readonly tenant: string;
}

/** What of the request that started a run matters for as long as it runs. */
export type RunLaunch = Readonly<z.infer<typeof launchSchema>>;

/** What a run begins with. */
export type RunTurn = Readonly<z.infer<typeof turnSchema>>;

/** Which runs, newest first; every condition that is given must hold. */
export interface RunQuery extends Query {
  /** Without it those of all agents, and of no chat. */
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly status?: RunStatus;
  readonly version?: string;
  readonly userId?: string;
  /** Without an agent: runs of any kind but this one. */
  readonly exceptKind?: 'chat';
  /** Bounds of `startedAt`, inclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Bounds of the milliseconds that it took, inclusive; a run that is running has no length yet. */
  readonly shortestMs?: number;
  readonly longestMs?: number;
}

/** Where the records of runs are stored. */
export type RunStore = Pick<
  Repository<RunRecord, RunQuery>,
  'save' | 'replace' | 'find' | 'list' | 'delete' | 'deleteOf'
>;

export const runs = resource<RunRecord, RunQuery>({
  name: 'runs',
  singular: 'Run',
  schema: runSchema,
  id: ({ id }) => id,
  columns: {
    agent: { type: 'text', of: ({ agentId }) => agentId, field: 'agentId' },
    session: { type: 'text', of: ({ sessionId }) => sessionId, field: 'sessionId' },
    status: { type: 'text', of: ({ status }) => status, field: 'status' },
    version: { type: 'text', of: ({ documentVersion = null }) => documentVersion, field: 'documentVersion' },
    user_id: { type: 'text', of: ({ userId = null }) => userId, field: 'userId' },
    kind: { type: 'text', of: ({ isChat }) => (isChat === true ? 'chat' : null) },
    writer: { type: 'text', of: ({ epoch = FIRST_EPOCH }) => String(epoch) },
    started_at: { type: 'number', of: ({ startedAt }) => startedAt, field: 'startedAt' },
    finished_at: { type: 'number', of: ({ finishedAt }) => finishedAt ?? null, field: 'finishedAt' },
  },
  owner: { resource: 'agents', column: 'agent' },
  writer: 'writer',
  filters: {
    agentId: ['is', 'agent'],
    sessionId: ['is', 'session'],
    status: ['is', 'status'],
    version: ['is', 'version'],
    userId: ['is', 'user_id'],
    exceptKind: ['not', 'kind'],
    from: ['from', 'started_at'],
    to: ['to', 'started_at'],
    shortestMs: ['from', 'finished_at', 'started_at'],
    longestMs: ['to', 'finished_at', 'started_at'],
  },
  orders: { startedAt: 'started_at' },
  // Of columns that never change: otherwise each end of a run would write all of them anew.
  indexes: [['tenant', 'agent', 'started_at', 'position'], ['tenant', 'started_at', 'position'], ['started_at']],
  prune: { time: 'finished_at', since: 'started_at', unless: ['status', 'running'] },
  // A record is small once its run has ended, so only the number counts.
  memory: { maxCount: 10_000, canDrop: ({ status }) => status !== 'running' },
});
