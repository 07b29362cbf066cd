import { documentWithState } from '../../canvas/session-document.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { SessionMessage, SessionRecord } from '../../records/stores.js';
import { formatTime } from '../format-time.js';

/** A session as the API shows it. Times are milliseconds since 1970, those of messages seconds. */
export function sessionView(session: SessionRecord, showsDsl: boolean): Record<string, Json> {
  return {
    id: session.id,
    name: session.name,
    agent_id: session.agentId,
    user_id: session.userId,
    exp_user_id: null,
    message: messagesOf(session),
    tokens: session.tokens,
    source: session.source,
    duration: session.durationMs / 1000,
    round: session.round,
    thumb_up: 0,
    errors: session.errors,
    version_title: null,
    create_time: session.createdAt,
    create_date: formatTime(session.createdAt),
    update_time: session.updatedAt,
    update_date: formatTime(session.updatedAt),
    ...(showsDsl ? { dsl: documentWithState(session.dsl, session.conversation) } : {}),
  };
}

/** The stored row, which RAGFlow gives when one session is asked for. */
export function sessionRow(session: SessionRecord): Record<string, Json> {
  const { agent_id, message: _, ...rest } = sessionView(session, true);
  return {
    ...rest,
    dialog_id: agent_id as Json,
    message: session.messages.map(messageView),
    reference: session.references,
  };
}

/** References belong to answers of runs: each after the first entry when that is what the agent says by itself. */
function messagesOf({ messages, references }: SessionRecord): Json[] {
  let answers = 0;
  // Old answers may be forgotten while the newest are kept, on both lists alike: they are matched from the end.
  const said = messages.filter(({ role, id }) => role === 'assistant' && id !== PROLOGUE_ID).length;
  const skipped = references.length - said;
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.id === PROLOGUE_ID) return messageView(message);
    const reference = references[skipped + answers];
    answers += 1;
    return { ...messageView(message), reference: citationsOf(reference) };
  });
}

/** Id of the message with which an agent opens a conversation. */
export const PROLOGUE_ID = 'prologue';

function messageView({ role, content, id, createdAt, files }: SessionMessage): Record<string, Json> {
  return {
    role,
    content,
    ...(id === PROLOGUE_ID ? {} : { id }),
    created_at: createdAt,
    ...(files === undefined ? {} : { files }),
  };
}

/** Chunks of a reference as a list; `citation_id` is the number that the text cites. */
function citationsOf(reference: JsonObject | undefined): Json[] {
  const chunks = reference?.chunks;
  const entries = Array.isArray(chunks)
    ? chunks.map((chunk): [string | undefined, Json] => [undefined, chunk])
    : Object.entries(isJsonObject(chunks) ? chunks : {});
  return entries.flatMap(([key, chunk]) => {
    if (!isJsonObject(chunk)) return [];
    const { id, content, document_id, document_name, dataset_id, image_id, positions } = chunk;
    const shown = { id, content, document_id, document_name, dataset_id, image_id, positions };
    const filled = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, value ?? null]));
    return [{ ...filled, ...(key === undefined ? {} : { citation_id: key }) }];
  });
}
