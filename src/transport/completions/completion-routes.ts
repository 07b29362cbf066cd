import type { Context, Middleware } from 'koa';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import type { Log } from '../../hosting/log.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject } from '../../json.js';
import { outside } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { awaitRun } from '../runs/await-run.js';
import { readTurn } from '../runs/read-turn.js';
import { streamRun } from '../runs/stream-run.js';
import type { ServerParts } from '../server-parts.js';
import { isTruthy } from '../truth.js';
import { answerOf } from './answer.js';
import { conversationFrames } from './conversation-view.js';
import { openaiError } from './openai-errors.js';
import { readOpenaiRequest } from './openai-request.js';
import { openaiCompletion, openaiView } from './openai-view.js';

/** `POST /agents/chat/completions` and the older path that means the same. */
export function completionRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents/chat/completions', (exchange) => {
      const { body } = exchange.request;
      const id = isJsonObject(body) ? body.agent_id : undefined;
      if (typeof id !== 'string' || id === '') throw badArgument('`agent_id` is required.');
      const isOpenai = isJsonObject(body) && isTruthy(body['openai-compatible']);
      return isOpenai ? completeAsOpenai(parts, exchange, id) : complete(parts, exchange, id);
    });
    router.post('/agents/:id/completions', (exchange) => complete(parts, exchange, exchange.params.id as string));
  };
}

/** The path for clients of OpenAI's API. */
export function openaiRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents_openai/:id/chat/completions', (exchange) =>
      completeAsOpenai(parts, exchange, exchange.params.id as string),
    );
  };
}

/** Answers what is refused behind it, such as a missing key, as OpenAI's clients read it. */
export function answerInOpenaiForm(logger: Log): Middleware {
  return async (exchange, next) => {
    try {
      await next();
    } catch (error) {
      refuseAsOpenai(exchange, logger, error);
    }
  };
}

async function complete(parts: ServerParts, exchange: HttpExchange, id: string): Promise<void> {
  const request = readTurn(exchange.request.body, exchange.query, exchange.headers);
  const target = { tenant: exchange.state.tenant, agentId: checkId('agent_id', id), fallback: 'draft' as const };
  const { live, session } = await parts.startTurn(target, request);
  const run = live.identity.id;
  if (request.streams) {
    // Sessions that were prepared come from chat pages, which want less; those made by a run want everything.
    const isFiltered = session.source !== 'workflow';
    streamRun(exchange, parts, run, isFiltered ? { frames: conversationFrames(request.returnsTrace) } : {});
    return;
  }
  exchange.set('X-Run-Id', run);
  exchange.body = answerOf(await awaitRun(exchange, live), live.transcript);
}

async function completeAsOpenai(parts: ServerParts, exchange: HttpExchange, id: string): Promise<void> {
  try {
    const { turn, promptTokens } = readOpenaiRequest(exchange.request.body, exchange.headers);
    const target = { tenant: exchange.state.tenant, agentId: checkId('agent_id', id), fallback: 'draft' as const };
    const { live } = await parts.startTurn(target, turn);
    const { id: run, sessionId, agentId } = live.identity;
    const header = { sessionId, agentId, created: Math.floor(live.startedAt / 1000), promptTokens };
    if (turn.streams) {
      streamRun(exchange, parts, run, openaiView(header));
      return;
    }
    exchange.set('X-Run-Id', run);
    const record = await awaitRun(exchange, live);
    const failure = record.error && outside(new EngineError(record.error.code, record.error.message)).message;
    const { status, body } = openaiCompletion(header, record, live.transcript, failure);
    exchange.status = status;
    exchange.body = body;
  } catch (error) {
    refuseAsOpenai(exchange, parts.logger, error);
  }
}

function refuseAsOpenai(exchange: Context, logger: Log, error: unknown): void {
  if (!EngineError.is(error)) logger.error({ err: error, path: exchange.path }, 'a request crashed');
  const { status, body } = openaiError(error);
  exchange.status = status;
  exchange.body = body;
  // What is left of a body that was refused is thrown away: a client that cannot finish sending never reads the answer.
  exchange.req.resume();
}
