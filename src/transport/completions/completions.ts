/** Turns as chat clients start them: RAGFlow's form and OpenAI's. */

import { z } from 'zod';
import { EngineError, type ErrorCode } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { badArgument, isNoAgent, noSuchAgent } from '../../hosting/refusals.js';
import type { StartedRun } from '../../hosting/start.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { Log } from '../../logger.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import type { AgentRecord } from '../../records/agents.js';
import { findAgent } from '../agents/find-agent.js';
import { type Envelope, outside } from '../envelope.js';
import { isTruthy, readInput } from '../http/input.js';
import { type HttpExchange, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import { answerShape, answerWithRun, awaitRun, streamRun } from '../runs/answer-run.js';
import { readTurn, type TraceHeaders, turnOf, turnQuery, turnSchema } from '../runs/read-turn.js';
import type { ServerParts } from '../server-parts.js';
import { conversationFrames } from './conversation-view.js';
import { type CompletionHeader, openaiCompletion, openaiView } from './openai-view.js';

export const messageSchema = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }))])
    .nullish(),
});

const MESSAGES =
  'The last user message is the question, the messages of users and assistants before it are the history of a new session. Parts that are not text are refused; system messages are not passed on, because the agent has its own.';

/** A question in OpenAI's form. */
export const openaiSchema = z.looseObject({
  messages: z.array(messageSchema).nullish().describe(MESSAGES),
  model: z.unknown().optional().describe('The agent of a request that names none; otherwise ignored.'),
  stream: z.unknown().optional().describe('true: the answer is a stream of chunks.'),
  tools: z.unknown().optional().describe('Ignored, as are the settings of models: the agent has its own tools.'),
  id: z.string().nullish().describe('The same as `session_id`; also `metadata.id`.'),
  session_id: z.string().nullish().describe('Continues this session: the id of an earlier completion.'),
  inputs: z.unknown().optional().describe('Values for the form that the session waits with: `{"field": value}`.'),
  detach: z.unknown().optional().describe('true: the run continues when the client leaves; otherwise it is cancelled.'),
});

/** The body is in one of two forms, which the agent's id does not distinguish. */
const eitherSchema = turnSchema.extend({
  agent_id: z.string(),
  'openai-compatible': z.unknown().optional().describe("true: the body and the answer are in OpenAI's form."),
});

export const completionRoutes: RouteGroup = {
  name: 'completions',
  description: "Turns as chat clients start them: RAGFlow's form and OpenAI's.",
  routes: [
    route('POST /agents/chat/completions', {
      summary: 'Runs a turn of the draft',
      query: turnQuery,
      takes: eitherSchema,
      answers: 'events',
      data: answerShape,
      handle: (request, parts) => {
        const body = isJsonObject(request.body) ? request.body : {};
        const id = filledText(body.agent_id);
        // A client of OpenAI's API can set neither the flag nor the agent's id.
        if (isTruthy(body['openai-compatible']) || (id === undefined && Array.isArray(body.messages))) {
          return completeInOpenaiForm(request, parts, id ?? filledText(body.model)).catch((error: unknown) =>
            refuseInOpenaiForm(request.exchange, error, parts),
          );
        }
        if (id === undefined) throw badArgument('`agent_id` is required.');
        return complete(request, parts, checkId('agent_id', id), readInput(turnSchema, body));
      },
    }),
    route('POST /agents/:id/completions', {
      summary: 'Older path of the same',
      query: turnQuery,
      body: turnSchema,
      answers: 'events',
      data: answerShape,
      handle: (request, parts) => complete(request, parts, request.params.id, request.body),
    }),
    route('POST /agents_openai/:id/chat/completions', {
      summary: "Runs a turn for clients of OpenAI's API",
      takes: openaiSchema.extend({
        messages: z.array(messageSchema).describe(MESSAGES),
        stream: z.boolean().optional().describe('true: the answer is a stream of chunks.'),
      }),
      answers: 'openai',
      refuse: refuseInOpenaiForm,
      handle: (request, parts) => completeInOpenaiForm(request, parts, request.params.id),
    }),
    route('GET /agents_openai/:id/models', {
      summary: "Lists the agent, as the only model, for clients of OpenAI's API",
      finds: findAgent,
      answers: 'openai',
      refuse: refuseInOpenaiForm,
      handle: ({ tenant, found }) => ({ object: 'list', data: [modelOf(found, tenant)] }),
    }),
    route('GET /agents_openai/:id/models/:model', {
      summary: 'The same, by its id',
      finds: findAgent,
      answers: 'openai',
      refuse: refuseInOpenaiForm,
      handle: ({ tenant, params, found }) => {
        if (params.model === found.id) return modelOf(found, tenant);
        throw new EngineError('NOT_FOUND', `The only model here is the agent, ${JSON.stringify(found.id)}.`);
      },
    }),
  ],
};

function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An agent as OpenAI's API lists models. */
function modelOf({ id, createdAt }: AgentRecord, tenant: string): JsonObject {
  return { id, object: 'model', created: Math.floor(createdAt / 1000), owned_by: tenant };
}

async function complete(
  { tenant, query, exchange }: RouteRequest<never, typeof turnQuery>,
  parts: ServerParts,
  agentId: string,
  body: z.output<typeof turnSchema>,
): Promise<Envelope | undefined> {
  const turn = turnOf(body, query, exchange.headers);
  const { live, session } = await parts.startTurn({ tenant, agentId, fallback: 'draft' }, turn);
  // Sessions that were created before their first run belong to chat pages, which get fewer events.
  const view = session.source === 'workflow' ? {} : { frames: conversationFrames(turn.returnsTrace) };
  return answerWithRun(exchange, parts, live, { streams: turn.streams, view });
}

async function completeInOpenaiForm(
  { tenant, body, exchange }: RouteRequest<never>,
  parts: ServerParts,
  id: string | undefined,
): Promise<JsonObject | undefined> {
  const { turn, promptTokens } = readOpenaiRequest(readInput(openaiSchema, body), exchange.headers);
  if (id === undefined) throw badArgument('`agent_id` is required, or the id of an agent as `model`.');
  const target = { tenant, agentId: checkId('agent_id', id), fallback: 'draft' as const };
  const { live } = await parts.startTurn(target, turn).catch((error: unknown) => {
    throw isNoAgent(error) ? new EngineError('FORBIDDEN', noSuchAgent(id)) : error;
  });
  const { sessionId, agentId } = live.identity;
  const header = { sessionId, agentId, created: Math.floor(live.startedAt / 1000), promptTokens };
  return answerInOpenaiForm(exchange, parts, live, { header, turn });
}

/** How a run is answered in OpenAI's form. */
interface OpenaiAnswer {
  readonly header: CompletionHeader;
  readonly turn: Pick<TurnRequest, 'streams' | 'detached'>;
}

/** Answers with a run as a stream of chunks, or as one completion; a run that is not detached ends with its client. */
export async function answerInOpenaiForm(
  exchange: HttpExchange,
  parts: ServerParts,
  live: StartedRun,
  { header, turn }: OpenaiAnswer,
): Promise<JsonObject | undefined> {
  const { id: run } = live.identity;
  if (turn.streams) {
    streamRun(exchange, parts, run, openaiView(header));
    if (!turn.detached) cancelWhenLeft(live, parts);
    return undefined;
  }
  exchange.set('X-Run-Id', run);
  const ended = awaitRun(exchange, live);
  if (!turn.detached) cancelWhenLeft(live, parts);
  const { status, body: completion } = openaiCompletion(header, await ended, live.transcript);
  exchange.status = status;
  return completion;
}

/**
 * Cancels a run as soon as it has no client: one of OpenAI's API cannot come back to a stream, and the rest of the answer would be
 * paid for and lost. The subscription ends with the last client. A server that never cancels such runs does not cancel these.
 */
function cancelWhenLeft(live: StartedRun, { config }: ServerParts): void {
  if (config.detachGraceMs > 0) live.clients.abandoned(0).subscribe(() => live.cancel());
}

/** A turn that came in OpenAI's form. */
export interface OpenaiRequest {
  readonly turn: TurnRequest;
  /** Estimated tokens of all messages. */
  readonly promptTokens: number;
}

/**
 * Reads OpenAI's form: the last user message is the question, what comes before it is the history of a new session.
 *
 * @throws EngineError BAD_REQUEST.
 */
export function readOpenaiRequest(body: z.output<typeof openaiSchema>, headers: TraceHeaders): OpenaiRequest {
  const { messages: sent, session_id, id, metadata } = body;
  const messages = (sent ?? []).map(({ role, content }) => ({ role, content: textOf(role, content) }));
  if (messages.length === 0) throw badArgument('You must provide at least one message.');
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[at]?.content;
  if (question === undefined) throw badArgument('One of the messages must have the role "user".');
  const ids = [session_id, id, isJsonObject(metadata) ? metadata.id : undefined];
  const sessionId = ids.find((id) => typeof id === 'string' && id !== '');
  return {
    turn: {
      ...readTurn({ ...body, session_id: sessionId, query: question }, headers),
      history: messages.slice(0, at).filter(isSpoken),
    },
    promptTokens: messages.reduce((sum, { content }) => sum + estimateTokens(content), 0),
  };
}

interface Spoken {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

function isSpoken(message: { readonly role: string; readonly content: string }): message is Spoken {
  return message.role === 'user' || message.role === 'assistant';
}

/** The text of a message. @throws EngineError BAD_REQUEST when a user's message has parts that are not text. */
function textOf(role: string, content: z.infer<typeof messageSchema>['content']): string {
  if (typeof content === 'string') return content;
  const other = (content ?? []).find(
    ({ type = 'text', text }) => role === 'user' && type !== 'text' && text === undefined,
  );
  if (other !== undefined) {
    throw badArgument(
      `A part of the type ${JSON.stringify(other.type)} cannot be passed to an agent. Upload the file with POST /api/v1/agents/{id}/upload, and send what that answers in \`files\`.`,
    );
  }
  return (content ?? [])
    .map(({ text = '' }) => text)
    .filter((text) => text !== '')
    .join('\n');
}

/** HTTP status and type of OpenAI's errors by code; anything else is the server's fault. */
const KINDS: Readonly<Partial<Record<ErrorCode, readonly [status: number, type: string]>>> = {
  BAD_REQUEST: [400, 'invalid_request_error'],
  BODY_TOO_LARGE: [413, 'invalid_request_error'],
  DOCUMENT_INVALID: [400, 'invalid_request_error'],
  UNAUTHENTICATED: [401, 'authentication_error'],
  FORBIDDEN: [403, 'permission_error'],
  NO_AUTHORIZATION: [404, 'not_found_error'],
  MODEL_UNKNOWN: [404, 'not_found_error'],
  QUESTION_INVALID: [400, 'invalid_request_error'],
  NOT_FOUND: [404, 'not_found_error'],
  SESSION_BUSY: [409, 'invalid_request_error'],
  LIMIT_REACHED: [503, 'server_error'],
  // No 429, which clients of OpenAI repeat.
  QUOTA_EXCEEDED: [403, 'insufficient_quota'],
  STORE_UNAVAILABLE: [503, 'server_error'],
};

/** A refusal in OpenAI's form; the message of anything but an EngineError is not exposed. */
function openaiError(thrown: unknown): { readonly status: number; readonly body: JsonObject } {
  const error = EngineError.is(thrown) ? thrown : new EngineError('INTERNAL', '');
  const [usual, type] = KINDS[error.code] ?? [500, 'server_error'];
  const { message, status = usual } = outside(error);
  return { status, body: { error: { message, type } } };
}

export function refuseInOpenaiForm(exchange: HttpExchange, error: unknown, { logger }: { readonly logger: Log }): void {
  if (!EngineError.is(error)) logger.error({ err: error, path: exchange.path }, 'a request crashed');
  const { status, body } = openaiError(error);
  exchange.status = status;
  exchange.body = body;
}
