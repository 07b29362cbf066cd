import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import type { Variables } from '../graph/plan.js';
import type { Checkpoint } from '../graph/state.js';
import { isJsonObject, type Json } from '../json.js';
import { type Query, type Repository, resource } from './repository.js';
import { FIRST_EPOCH } from './run-log.js';
import { type RunStatus, runSchema } from './runs.js';

const messageSchema = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  /** Id of the turn; question and answer share it. */
  id: z.string(),
  /** Seconds since 1970. */
  createdAt: z.number(),
  files: z.array(z.custom<Json>()).readonly().exactOptional(),
  /** What its reader thought of it. */
  thumbUp: z.boolean().exactOptional(),
  feedback: z.string().exactOptional(),
});

const conversationSchema = z.object({
  version: z.literal(1),
  variables: z.custom<Variables>(isJsonObject, 'expected an object'),
  /** Where the last run waits for answers. */
  waiting: z.custom<Checkpoint>(isJsonObject, 'expected an object').exactOptional(),
  /** Ids of the nodes that ran, in the order in which they started; while the last run waits, those that wait. */
  path: z.array(z.string()).readonly().exactOptional(),
});

const sessionSchema = z.object({
  id: z.string(),
  agentId: z.string(),
  name: z.string(),
  /** Names the key of a chat page that made it, which then opens it; absent: a key of the API made it. */
  page: z.string().exactOptional(),
  /** What the client calls its user; no key to anything. */
  userId: z.string(),
  /** `workflow`: made by its first run; `agent`: made on its own. */
  source: z.enum(['workflow', 'agent']),
  messages: z.array(messageSchema.readonly()).readonly(),
  /** One entry per answer: what it cites. */
  references: z.array(jsonObject).readonly(),
  /** The document that its runs use, whatever becomes of the agent. */
  dsl: jsonObject,
  /** Which one that was: `draft`, `published`, or the id of a version. @default not known */
  documentVersion: z.string().exactOptional(),
  /** The session that it goes on from, and the question there that another one stands in for. */
  forkedFrom: z.object({ session: z.string(), message: z.string() }).readonly().exactOptional(),
  /** Absent before the first run. */
  conversation: conversationSchema.readonly().exactOptional(),
  /** Id of the last run. */
  lastRun: z.string().exactOptional(),
  /** Epoch of the process that has that run. @default 1 */
  epoch: z.number().int().positive().exactOptional(),
  /** Id of the last run whose end is stored in the session. */
  keptRun: z.string().exactOptional(),
  /** How that run ended. @default not known, of sessions from before it was stored */
  keptStatus: runSchema.shape.status.exactOptional(),
  tokens: z.number(),
  /** Milliseconds that its runs took together. */
  durationMs: z.number(),
  /** Number of its runs. */
  round: z.number(),
  /** Why its last run failed. */
  errors: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** The message of one side. */
export type SessionMessage = Readonly<z.infer<typeof messageSchema>>;

/** A conversation with an agent. Times are milliseconds since 1970. */
export type SessionRecord = Readonly<z.infer<typeof sessionSchema>>;

/** Which sessions; every condition that is given must hold. */
export interface SessionQuery extends Query {
  /** Without it, and without `agentIds`, those of all agents and assistants. */
  readonly agentId?: string;
  readonly agentIds?: readonly string[];
  readonly id?: string;
  readonly userId?: string;
  readonly name?: string;
  /** How their last runs stand; a session without a run has no status. */
  readonly status?: RunStatus;
  /** Part of the id, the name or a message, without regard to case. */
  readonly keywords?: string;
  /** Bounds of `createdAt`, inclusive. */
  readonly from?: number;
  readonly to?: number;
  readonly orderBy: 'createdAt' | 'updatedAt' | 'name';
  readonly descending: boolean;
}

/** Where conversations are stored. */
export type SessionStore = Pick<
  Repository<SessionRecord, SessionQuery>,
  'save' | 'replace' | 'find' | 'list' | 'select' | 'delete' | 'deleteOf'
>;

export const sessions = resource<SessionRecord, SessionQuery>({
  name: 'sessions',
  singular: 'Session',
  schema: sessionSchema,
  id: ({ id }) => id,
  columns: {
    agent: { type: 'text', of: ({ agentId }) => agentId, field: 'agentId' },
    name: { type: 'text', of: ({ name }) => name, field: 'name' },
    user_id: { type: 'text', of: ({ userId }) => userId, field: 'userId' },
    status: { type: 'text', of: statusOf },
    writer: { type: 'text', of: ({ lastRun = '', epoch = FIRST_EPOCH }) => `${lastRun}/${epoch}` },
    search: { type: 'search', of: ({ id, name, messages }) => [id, name, ...messages.map(({ content }) => content)] },
    created_at: { type: 'number', of: ({ createdAt }) => createdAt, field: 'createdAt' },
    updated_at: { type: 'number', of: ({ updatedAt }) => updatedAt, field: 'updatedAt' },
  },
  owner: { resource: 'agents', column: 'agent' },
  shared: 'dsl',
  writer: 'writer',
  filters: {
    agentId: ['is', 'agent'],
    agentIds: ['in', 'agent'],
    id: ['is', 'id'],
    userId: ['is', 'user_id'],
    name: ['is', 'name'],
    status: ['is', 'status'],
    keywords: ['contains', 'search'],
    from: ['from', 'created_at'],
    to: ['to', 'created_at'],
  },
  orders: { createdAt: 'created_at', updatedAt: 'updated_at', name: 'name' },
  // Not by `updated_at`, which every run changes: those of an agent are sorted when they are listed.
  indexes: [['tenant', 'agent', 'created_at', 'position']],
  prune: { time: 'updated_at' },
  maxRecordBytes: 64 * 1024 ** 2,
  memory: { maxCount: 100_000, maxBytes: 512 * 1024 ** 2, canDrop: () => true },
});

/** A last run whose end the session does not have is at work. */
function statusOf({ lastRun, keptRun, keptStatus, errors, conversation }: SessionRecord): RunStatus | null {
  if (lastRun === undefined) return null;
  if (keptRun !== lastRun) return 'running';
  if (keptStatus !== undefined) return keptStatus;
  if (errors !== null) return 'failed';
  return conversation?.waiting === undefined ? 'succeeded' : 'waiting';
}
