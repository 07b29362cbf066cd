/** Questions to assistants, in RAGFlow's form. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { TURN_VARIABLE, turnSettingsSchema } from '../../chat/service/chat-settings.js';
import { EngineError } from '../../errors.js';
import type { StartedRun } from '../../hosting/start.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/agents.js';
import { endSession } from '../agents/delete-agent.js';
import { tellRate } from '../chat/chat-routes.js';
import { chatRunInfo, type StartedChat, startChat } from '../chat/start-chat.js';
import { type Envelope, outside, success } from '../envelope.js';
import { clientLeft } from '../http/client-left.js';
import type { HttpExchange, RouteGroup } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { awaitRun, streamRun } from '../runs/answer-run.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, string, whole } from '../shapes.js';
import { settingsOf } from './assistant.js';
import { changeSession } from './change-session.js';
import { insertSession, sessionOf } from './chat-sessions.js';
import { type CompletionRequest, completionBody, readCompletion } from './completion-input.js';
import { assistantOf } from './find-chat.js';
import { answerData, type ChatAbout, ragflowChatView } from './ragflow-chat.js';
import { dataError } from './refusals.js';

/** Name of a session that a question makes. */
const NEW_SESSION = 'New session';

const answerShape = z.looseObject({
  answer: string.describe('With thoughts in `<think>` tags before it.'),
  reference: z.looseObject({ total: whole, chunks: z.array(anyObject), doc_aggs: z.array(anyObject) }),
  id: string.describe('Of the turn.'),
  session_id: string.nullable(),
  chat_id: string.optional(),
  created_at: z.number().describe('Seconds since 1970.'),
  final: z.boolean(),
});

export const chatCompletionRoutes: RouteGroup = {
  name: 'chat completions',
  description: 'Questions to assistants, in RAGFlow’s form.',
  routes: [
    looseRoute('POST /chat/completions', {
      summary: 'Asks an assistant, or the default model alone; streams unless `stream` is false',
      body: completionBody,
      answers: 'events',
      data: answerShape,
      handle: ({ tenant, body, exchange }, parts) =>
        complete(parts, tenant, exchange, readCompletion(body, exchange.headers)),
    }),
    looseRoute('POST /chats/:chat/completions', {
      summary: 'Older path of the same',
      body: completionBody,
      answers: 'events',
      data: answerShape,
      handle: ({ tenant, params, body, exchange }, parts) =>
        complete(parts, tenant, exchange, readCompletion(body, exchange.headers, params.chat)),
    }),
  ],
};

async function complete(
  parts: ServerParts,
  tenant: string,
  exchange: HttpExchange,
  request: CompletionRequest,
): Promise<Envelope | undefined> {
  const { streams, isLegacy } = request;
  const { live, isKept, rate } = await ask(parts, tenant, request, exchange);
  tellRate(exchange, rate);
  const { identity } = live;
  const about: ChatAbout = {
    info: chatRunInfo(tenant, identity),
    messageId: identity.messageId,
    sessionId: keptId(request, identity.sessionId, isKept),
    chatId: request.chatId,
    isLegacy,
  };
  if (streams) {
    streamRun(exchange, parts, identity.id, ragflowChatView(about));
    return undefined;
  }
  exchange.set('X-Run-Id', identity.id);
  return answerOf(await awaitRun(exchange, live), live, about);
}

/** What an answer calls its session: nothing goes on in one that is not kept. */
function keptId({ chatId }: CompletionRequest, sessionId: string, isKept: boolean): string | null {
  if (isKept) return sessionId;
  return chatId === undefined ? '' : null;
}

/** A chat that was started, and whether its session stays when it is over. */
interface Asked extends StartedChat {
  readonly isKept: boolean;
}

/** @throws EngineError NO_AUTHORIZATION, NOT_FOUND, RATE_LIMITED; as `startTurn` */
async function ask(
  parts: ServerParts,
  tenant: string,
  request: CompletionRequest,
  exchange: HttpExchange,
): Promise<Asked> {
  const { chatId, llmId, settings, turn, storesHistory } = request;
  const agent = chatId === undefined ? undefined : await assistantOf(parts, tenant, chatId);
  const sessionId = agent && (await openSession(parts, tenant, agent, request));
  if (llmId !== undefined) requireModel(parts, llmId);
  const isKept = agent !== undefined && storesHistory;
  const history = sessionId === undefined || !request.passesHistory ? undefined : request.past;
  const variable: JsonObject = {
    ...(agent && (await existingDatasets(parts, tenant, agent))),
    ...settings,
    ...(history && { history: history as unknown as JsonObject[] }),
  };
  const asked = {
    turn: {
      ...turn,
      ...(Object.keys(variable).length > 0 && { variables: { [TURN_VARIABLE]: variable } }),
      ...(sessionId === undefined ? { history: request.past, name: NEW_SESSION } : { sessionId }),
    },
    ...(agent !== undefined && { chatId: agent.id }),
  };
  const started = await startChat(parts, tenant, asked, clientLeft(exchange)).catch(async (error: unknown) => {
    // Nothing was asked in a session that was made for the question.
    if (sessionId !== undefined && sessionId !== request.sessionId) await endSession(parts, tenant, sessionId);
    throw error;
  });
  if (!isKept) dropWhenOver(parts, tenant, started.live);
  return { ...started, isKept };
}

/** The session that a question continues, or a new one; undefined where none is kept. */
async function openSession(
  parts: ServerParts,
  tenant: string,
  agent: AgentRecord,
  { sessionId, storesHistory, turn }: CompletionRequest,
): Promise<string | undefined> {
  const session = sessionId === undefined ? undefined : await sessionOf(parts, tenant, agent.id, sessionId);
  if (!storesHistory) return undefined;
  if (session === undefined)
    return (await insertSession(parts, tenant, agent, { name: NEW_SESSION, userId: turn.userId })).id;
  if (!isDeepStrictEqual(session.dsl, agent.dsl)) {
    // An assistant that was changed answers as it is now, also in older sessions.
    await changeSession(parts, { tenant, chatId: agent.id, sessionId: session.id }, (before) => ({
      ...before,
      dsl: agent.dsl,
    }));
  }
  return session.id;
}

/** The datasets of an assistant that are still there, where some are not; nothing otherwise: a search refuses what it does not find. */
export async function existingDatasets(
  { openKnowledge }: Pick<ServerParts, 'openKnowledge'>,
  tenant: string,
  agent: AgentRecord,
): Promise<JsonObject> {
  const { dataset_ids: ids = [] } = settingsOf(agent);
  if (ids.length === 0 || openKnowledge === undefined) return {};
  const query = { ids, offset: 0, limit: ids.length, orderBy: 'createdAt', descending: false } as const;
  const found = new Set(
    (await (await openKnowledge()).datasets.list(tenant, query)).items.map((one) => one.dataset.id),
  );
  return found.size === ids.length ? {} : { dataset_ids: ids.filter((id) => found.has(id)) };
}

/** @throws EngineError NOT_FOUND (envelope 102) for a model that is not there, and for what is too long to be a name */
export function requireModel({ services: { models } }: ServerParts, llmId: string): void {
  const refusal = dataError(`Cannot use specified model ${llmId.slice(0, 255)}.`);
  if (!turnSettingsSchema.shape.llm_id.safeParse(llmId).success) throw refusal;
  try {
    models.chat(llmId);
  } catch {
    throw refusal;
  }
}

/** The subscription of a run that keeps nothing: its session is there for as long as it works. */
export function dropWhenOver(parts: ServerParts, tenant: string, live: StartedRun): void {
  const { sessionId, id: run } = live.identity;
  live.ended
    .then(() => endSession(parts, tenant, sessionId))
    .catch((error: unknown) => parts.logger.warn({ err: error, run }, 'the session of a chat was not deleted'));
}

type Ended = Awaited<StartedRun['ended']>;

function answerOf({ error, status }: Ended, { transcript }: StartedRun, about: ChatAbout): Envelope {
  if (error !== undefined) return refusalOf(new EngineError(error.code, error.message));
  if (status !== 'succeeded') return refusalOf(new EngineError('RUN_CANCELLED', 'The chat was cancelled.'));
  const { content, reference, finished } = transcript;
  const outputs = finished?.data.outputs;
  const response = isJsonObject(outputs) && typeof outputs.content === 'string' ? outputs.content : content;
  return success(
    answerData(about, {
      // What was retracted meanwhile is in the text of the run, and not in its answer.
      answer: content.endsWith(response) ? content : response,
      reference,
      createdAt: finished?.created_at ?? 0,
    }),
  );
}

function refusalOf(error: EngineError): Envelope {
  const { code, message } = outside(error);
  return { code, message, data: { answer: `**ERROR**: ${message}`, reference: [] } };
}
