/** What a session remembers of its runs; pure functions from one record to the next. */

import type { Session } from '../canvas/turn.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { FIRST_EPOCH } from '../records/run-log.js';
import type { RunIdentity, RunRecord } from '../records/runs.js';
import type { SessionMessage, SessionRecord, SessionStore } from '../records/sessions.js';
import { claimedElsewhere } from './refusals.js';
import type { TurnRequest } from './start-command.js';
import { MAX_PATH, type Transcript } from './transcript.js';

/** How a run ended. */
export interface RunEnd {
  readonly record: RunRecord;
  /** What the conversation is afterwards; undefined when the run never came to an end of its own. */
  readonly session: Session | undefined;
  readonly transcript: Transcript;
}

/** Messages that a session stores; older ones are forgotten. */
const MAX_MESSAGES = 2000;

/** Characters of a question that become the name of its session. */
const NAME_CHARACTERS = 250;

/** What a session is made of. */
interface NewSession extends Pick<TurnRequest, 'query'> {
  /** @default the beginning of the question */
  readonly name?: string | undefined;
  readonly userId?: string | undefined;
  /** Names the key of the chat page that makes it. */
  readonly page?: string | undefined;
  /** Which document it has. */
  readonly version?: string | undefined;
}

/** A session made by its first run. */
export function newSession(
  id: string,
  agentId: string,
  dsl: JsonObject,
  { query, name, userId, page, version }: NewSession,
  now: number,
): SessionRecord {
  return {
    id,
    agentId,
    name: (name ?? query).slice(0, NAME_CHARACTERS),
    ...(page === undefined ? {} : { page }),
    userId: userId ?? '',
    source: 'workflow',
    messages: [],
    references: [],
    dsl,
    ...(version === undefined ? {} : { documentVersion: version }),
    tokens: 0,
    durationMs: 0,
    round: 0,
    errors: null,
    createdAt: now,
    updatedAt: now,
  };
}

/** The session when a run begins: the question is stored before anything can fail. */
export function withQuestion(
  session: SessionRecord,
  { id, messageId }: RunIdentity,
  { query, files }: Pick<TurnRequest, 'query' | 'files'>,
  now: number,
): SessionRecord {
  const message: SessionMessage = {
    role: 'user',
    content: query,
    id: messageId,
    createdAt: Math.floor(now / 1000),
    ...(files.length === 0 ? {} : { files }),
  };
  const messages = append(session.messages, message);
  if (session.epoch === undefined) return { ...session, messages, lastRun: id, updatedAt: now };
  return { ...withoutQuestion(session, { id }), messages, updatedAt: now };
}

/** The session when a run begins that repeats a question. */
export function withoutQuestion(session: SessionRecord, { id }: Pick<RunIdentity, 'id'>): SessionRecord {
  if (session.epoch === undefined) return { ...session, lastRun: id };
  const { epoch: _, ...before } = session;
  return { ...before, lastRun: id };
}

/** The session when a run has ended, however it did. */
export function afterRun(session: SessionRecord, end: RunEnd, now: number): SessionRecord {
  const { record, transcript } = end;
  const answered = transcript.content !== '' || record.status === 'succeeded';
  const message: SessionMessage = {
    role: 'assistant',
    content: transcript.content,
    id: record.messageId,
    createdAt: Math.floor(now / 1000),
  };
  return {
    ...session,
    ...(answered
      ? {
          messages: append(session.messages, message),
          references: append(session.references, transcript.reference),
        }
      : {}),
    ...(end.session === undefined
      ? {}
      : { conversation: { ...end.session, path: pathAfter(session.conversation, end) } }),
    tokens: session.tokens + record.usage.totalTokens,
    durationMs: session.durationMs + Math.max(0, now - record.startedAt),
    round: session.round + 1,
    errors: record.error?.message ?? null,
    keptRun: record.id,
    keptStatus: record.status,
    updatedAt: now,
  };
}

/** As RAGFlow has it: what ran so far, the forms alone while a run waits, and from then on what ran after them. */
function pathAfter(before: SessionRecord['conversation'], { record, transcript }: RunEnd): readonly string[] {
  if (record.status === 'waiting') return waitingNodes(record.pending);
  const earlier = before?.waiting === undefined ? (before?.path ?? []) : [];
  return [...earlier, ...transcript.path].slice(-MAX_PATH);
}

function waitingNodes(pending: JsonObject | undefined): readonly string[] {
  const forms = Array.isArray(pending?.forms) ? pending.forms : [];
  const nodes = forms.map((form) => (isJsonObject(form) ? form.cpn_id : undefined));
  return [...new Set(nodes.filter((node) => typeof node === 'string'))];
}

function append<T>(list: readonly T[], item: T): readonly T[] {
  return [...(list.length < MAX_MESSAGES ? list : list.slice(list.length + 1 - MAX_MESSAGES)), item];
}

/**
 * Stores what an ended run leaves in its session. Does nothing for a session that was deleted meanwhile, that another run has, or that has the
 * end of this run already: a process may be lost after it stored the conversation.
 *
 * @throws EngineError CONFLICT when another process has claimed the run.
 */
export async function storeConversation(
  sessions: SessionStore,
  { tenant, id, sessionId }: RunIdentity,
  epoch: number,
  end: RunEnd,
  now: number,
): Promise<void> {
  const session = await findSessionOf(sessions, tenant, sessionId, id);
  if (session === undefined) return;
  const isMine = (session.epoch ?? FIRST_EPOCH) === epoch;
  if (isMine && (await sessions.replace(tenant, session, afterRun(session, end, now)))) return;
  throw claimedElsewhere(id);
}

/**
 * Notes in a session that this process has its last run; from then on the process before stores nothing there.
 *
 * @throws EngineError CONFLICT when another process has claimed the run meanwhile.
 */
export async function claimSession(
  sessions: SessionStore,
  { tenant, id, sessionId }: Pick<RunIdentity, 'tenant' | 'id' | 'sessionId'>,
  epoch: number,
): Promise<void> {
  const session = await findSessionOf(sessions, tenant, sessionId, id);
  if (session === undefined) return;
  const isOlder = (session.epoch ?? FIRST_EPOCH) < epoch;
  if (isOlder && (await sessions.replace(tenant, session, { ...session, epoch }))) return;
  throw claimedElsewhere(id);
}

/** The session that waits for the end of a run. */
async function findSessionOf(
  sessions: SessionStore,
  tenant: string,
  sessionId: string,
  run: string,
): Promise<SessionRecord | undefined> {
  const session = await sessions.find(tenant, sessionId);
  return session?.lastRun === run && session.keptRun !== run ? session : undefined;
}
