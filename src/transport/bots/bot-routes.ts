import { mode, prologue } from '../../dsl/introspect.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/stores.js';
import { agentIdOf, requireAgent } from '../agents/find-agent.js';
import { answerOf } from '../completions/answer.js';
import { beginParams } from '../components/begin-params.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { awaitRun } from '../runs/await-run.js';
import { readTurn } from '../runs/read-turn.js';
import { streamRun } from '../runs/stream-run.js';
import type { ServerParts } from '../server-parts.js';
import { traceOfMessage } from '../traces/trace-routes.js';

/** The refusal of a chat page without a good key, in RAGFlow's words. */
export const noPageKey = (): EngineError => new EngineError('NOT_FOUND', 'Authorization is not valid!');

/** What chat pages on other sites call, with a key that may stand in a page. */
export function botRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agentbots/:id/completions', (exchange) => complete(parts, exchange));
    router.get('/agentbots/:id/inputs', async (exchange) => {
      exchange.body = success(inputsOf(await requireBot(parts, exchange)));
    });
    router.get('/agentbots/:id/logs/:message', async (exchange) => {
      const { id } = await requireBot(parts, exchange);
      exchange.body = success(await traceOfMessage(parts, exchange, id));
    });
  };
}

async function complete(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { body } = exchange.request;
  const { id: agentId } = await requireBot(parts, exchange);
  const request = readTurn(body, exchange.query);
  const { live } = await parts.startTurn({ tenant: exchange.state.tenant, agentId, fallback: 'draft' }, request);
  const { id } = live.identity;
  // Pages stream unless they say that they do not.
  const says = isJsonObject(body) && body.stream !== undefined && body.stream !== null;
  if (request.streams || !says) {
    streamRun(exchange, parts, id);
    return;
  }
  exchange.set('X-Run-Id', id);
  exchange.body = answerOf(await awaitRun(exchange, live), live.transcript);
}

/** What a page shows before the first question. */
function inputsOf({ title, avatar, dsl }: AgentRecord): object {
  const { document } = readDocument(dsl);
  if (document === undefined) return { title, avatar, inputs: {}, prologue: '', mode: '' };
  const { inputs } = beginParams(document) ?? {};
  return { title, avatar, inputs: inputs ?? {}, prologue: prologue(document), mode: mode(document) };
}

/** @throws EngineError NOT_FOUND when there is no such agent, or the key does not open it. */
async function requireBot(parts: ServerParts, exchange: HttpExchange): Promise<AgentRecord> {
  try {
    return await requireAgent(parts, exchange);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'FORBIDDEN') throw error;
    throw new EngineError('NOT_FOUND', `Can't find agent by ID: ${agentIdOf(exchange)}`);
  }
}
