/** Messages of sessions with an assistant: delete a turn, say what an answer was worth. */
import { z } from 'zod';
import type { Json, JsonObject } from '../../json.js';
import type { SessionMessage, SessionRecord } from '../../records/sessions.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import type { ServerParts } from '../server-parts.js';
import { changeSession, type SessionPlace } from './change-session.js';
import { findChat } from './find-chat.js';
import { dataError } from './refusals.js';
import { chatSessionShape, PROLOGUE_ID, showSession } from './session-view.js';

/** Longest feedback, in UTF-16 units. */
const MAX_FEEDBACK = 4_096;

/** Runs of a session that are looked through for a message. */
const MOST_RUNS = 2_000;

const feedbackBody = z.looseObject({
  thumbup: z.unknown().optional().describe('true or false.'),
  feedback: z.unknown().optional().describe('A text, kept when `thumbup` is false.'),
});

export const chatMessageRoutes: RouteGroup = {
  name: 'chat messages',
  description: 'Messages of sessions with an assistant.',
  routes: [
    looseRoute('DELETE /chats/:chat/sessions/:session/messages/:message', {
      summary: 'Deletes a question with its answer; gives the session',
      finds: findChat,
      data: chatSessionShape,
      handle: async ({ tenant, params, found }, parts) => {
        const place = { tenant, chatId: found.id, sessionId: params.session };
        const after = await changeSession(parts, place, async (before) => {
          const changed = withoutTurn(before, params.message);
          if (changed !== before) await forget(parts, place, params.message);
          return changed;
        });
        return success(showSession(after));
      },
    }),
    looseRoute('PUT /chats/:chat/sessions/:session/messages/:message/feedback', {
      summary: 'Says what an answer was worth; gives the session',
      finds: findChat,
      body: feedbackBody,
      data: chatSessionShape,
      handle: async ({ tenant, params, body, found }, parts) => {
        const place = { tenant, chatId: found.id, sessionId: params.session };
        const { thumbup, feedback } = body;
        if (typeof thumbup !== 'boolean') throw dataError('thumbup must be a boolean');
        const isText = typeof feedback === 'string' && feedback.length <= MAX_FEEDBACK;
        if (!isText && feedback !== undefined && feedback !== null) {
          throw dataError(`\`feedback\` must be a text of at most ${MAX_FEEDBACK} characters.`);
        }
        const said = isText && feedback !== '' && !thumbup ? feedback : undefined;
        const after = await changeSession(parts, place, async (before) => {
          const changed = withFeedback(before, params.message, thumbup, said);
          if (changed !== before)
            await remember(parts, place, params.message, { thumbup, ...(said && { feedback: said }) });
          return changed;
        });
        return success(showSession(after));
      },
    }),
  ],
};

/** The session without the messages of a turn, what they cite, and what its runs remember of them; the same when there is none. */
export function withoutTurn(session: SessionRecord, messageId: string): SessionRecord {
  const { messages, references, conversation } = session;
  const isOf = ({ id }: SessionMessage): boolean => id === messageId && id !== PROLOGUE_ID;
  if (!messages.some(isOf)) return session;
  const said = messages.filter(({ id }) => id !== PROLOGUE_ID);
  const answers = said.filter(({ role }) => role === 'assistant');
  return {
    ...session,
    messages: messages.filter((message) => !isOf(message)),
    references: withoutAligned(references, answers, isOf),
    ...(conversation && {
      conversation: { ...conversation, variables: withoutRemembered(conversation.variables, said, isOf) },
    }),
  };
}

/** The oldest entries of either list may have been dropped, so they are matched from the end. */
function withoutAligned<T, M>(list: readonly T[], messages: readonly M[], isOf: (message: M) => boolean): readonly T[] {
  const skipped = list.length - messages.length;
  return list.filter((_, at) => {
    const message = messages[at - skipped];
    return message === undefined || !isOf(message);
  });
}

/** Variables in which runs have the conversation, an entry for each message. */
const HISTORIES = ['history', 'sys.history'] as const;

type Variables = NonNullable<SessionRecord['conversation']>['variables'];

function withoutRemembered(
  variables: Variables,
  said: readonly SessionMessage[],
  isOf: (message: SessionMessage) => boolean,
): Variables {
  const changed = HISTORIES.flatMap((name): [string, readonly Json[]][] => {
    const list: unknown = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return Array.isArray(list) ? [[name, withoutAligned(list as readonly Json[], said, isOf)]] : [];
  });
  return { ...variables, ...Object.fromEntries(changed) };
}

function withFeedback(
  session: SessionRecord,
  messageId: string,
  thumbUp: boolean,
  said: string | undefined,
): SessionRecord {
  const isIt = ({ id, role }: SessionMessage): boolean =>
    id === messageId && role === 'assistant' && id !== PROLOGUE_ID;
  if (!session.messages.some(isIt)) return session;
  const messages = session.messages.map((message) => {
    if (!isIt(message)) return message;
    const { feedback: _, ...others } = message;
    return { ...others, thumbUp, ...(said !== undefined && { feedback: said }) };
  });
  return { ...session, messages };
}

/** Takes a turn out of what later chats are told. */
async function forget(parts: ServerParts, place: SessionPlace, messageId: string): Promise<void> {
  // What a fork took over has no run in it, and is named by its message.
  const turn = (await runOf(parts, place, messageId)) ?? messageId;
  await parts.stores.chats?.remove(place.tenant, place.sessionId, [`${turn}:question`, `${turn}:answer`]);
}

async function remember(
  parts: ServerParts,
  place: SessionPlace,
  messageId: string,
  details: JsonObject,
): Promise<void> {
  const run = await runOf(parts, place, messageId);
  if (run !== undefined) await parts.stores.chats?.setDetails(place.tenant, place.sessionId, `${run}:answer`, details);
}

/** The run that a message belongs to. */
async function runOf(
  { stores: { runs } }: ServerParts,
  { tenant, chatId: agentId, sessionId }: SessionPlace,
  messageId: string,
): Promise<string | undefined> {
  const limit = 100;
  for (let offset = 0; offset < MOST_RUNS; offset += limit) {
    const { items } = await runs.list(tenant, { agentId, sessionId, offset, limit });
    const found = items.find((run) => run.messageId === messageId);
    if (found !== undefined || items.length < limit) return found?.id;
  }
  return undefined;
}
