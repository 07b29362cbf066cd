/** Sessions with assistants as the API gives them, in RAGFlow's names. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { SessionMessage, SessionRecord } from '../../records/sessions.js';
import { anyObject, defineView, string, timeFields, whole } from '../shapes.js';

/** Id of the message with which an assistant opens a session. */
export const PROLOGUE_ID = 'prologue';

const messageShape = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: string,
  id: string.optional().describe('That of the turn, which question and answer share; absent for the prologue.'),
  created_at: whole.describe('Seconds since 1970.'),
  thumbup: z.boolean().optional(),
  feedback: string.optional(),
  files: z.array(anyObject).optional(),
});

const referenceShape = z.looseObject({ chunks: z.array(anyObject), doc_aggs: z.array(anyObject) });

const forkedFromShape = z.looseObject({ session_id: string, message_id: string });

const sessionView = defineView<SessionRecord>()({
  id: [string, 'id'],
  chat_id: [string, 'agentId'],
  name: [string, 'name'],
  user_id: [string, 'userId'],
  messages: [z.array(messageShape), ({ messages }) => messages.map(messageOf)],
  reference: [
    z.array(referenceShape).describe('What each answer cites.'),
    ({ references }) => references.map(referenceOf),
  ],
  forked_from: [
    forkedFromShape
      .optional()
      .describe('The session that it goes on from, and the question there that it asks differently.'),
    ({ forkedFrom }) => forkedFrom && { session_id: forkedFrom.session, message_id: forkedFrom.message },
  ],
  ...timeFields('createdAt', 'updatedAt'),
});

export const chatSessionShape = sessionView.shape;

/** A session as it is given. */
export const showSession = sessionView.of;

function messageOf({ role, content, id, createdAt, files, thumbUp, feedback }: SessionMessage): JsonObject {
  return {
    role,
    content,
    ...(id === PROLOGUE_ID ? {} : { id }),
    created_at: createdAt,
    ...(files !== undefined && { files }),
    ...(thumbUp !== undefined && { thumbup: thumbUp }),
    ...(feedback !== undefined && { feedback }),
  };
}

/** What an answer cites, with its passages as a list in the order of their numbers. */
export function referenceOf(reference: JsonObject): JsonObject {
  return { chunks: listOf(reference.chunks), doc_aggs: listOf(reference.doc_aggs) };
}

function listOf(given: Json | undefined): readonly Json[] {
  if (Array.isArray(given)) return given;
  return Object.values(isJsonObject(given) ? given : {});
}
