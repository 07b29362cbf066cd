import { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { badArgument, noAgent, noRun } from '../../hosting/refusals.js';
import type { LiveFilter } from '../../hosting/run-hub.js';
import type { RunStatus } from '../../records/stores.js';
import { answerOf } from '../completions/answer.js';
import { success, successPage } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryText, readInput, readPage, readTime, received } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { awaitRun } from './await-run.js';
import { findRun } from './find-run.js';
import { readTurn } from './read-turn.js';
import { runView } from './run-view.js';
import { streamRun } from './stream-run.js';
import { runDetailView } from './timeline-view.js';

const STATUSES: readonly RunStatus[] = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'];

const idText = z.string().min(1).nullish();
const cancelSchema = z.looseObject({ session_id: idText, run_id: idText, task_id: idText });

/** Starting, watching and stopping runs. */
export function runRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents/:id/run', (exchange) => run(parts, exchange, false));
    router.post('/agents/:id/stream', (exchange) => run(parts, exchange, true));
    router.post('/agents/:id/cancel', (exchange) => cancelOfAgent(parts, exchange));
    router.get('/agents/:id/runs', (exchange) => list(parts, exchange));
    router.get('/agents/:id/runs/:run', async (exchange) => {
      const run = await findRun(parts, exchange);
      exchange.body = success(runDetailView(run, await parts.host.timeline(exchange.state.tenant, run.id)));
    });
    router.get('/agents/:id/runs/:run/events', (exchange) => events(parts, exchange));
    router.post('/agents/:id/runs/:run/cancel', async (exchange) => {
      const { id } = await findRun(parts, exchange);
      await cancel(parts, exchange, { run: id });
    });
    router.post('/tasks/:task/cancel', (exchange) => cancelTask(parts, exchange));
    router.patch('/tasks/:task', async (exchange) => {
      const { action } = readInput(z.looseObject({ action: z.string().optional() }), exchange.request.body);
      if (action !== 'stop') throw badArgument(`\`action\` must be "stop"; received ${received(action)}.`);
      await cancelTask(parts, exchange);
    });
  };
}

async function run(parts: ServerParts, exchange: HttpExchange, alwaysStreams: boolean): Promise<void> {
  const request = readTurn(exchange.request.body, exchange.query, exchange.headers);
  const target = { tenant: exchange.state.tenant, agentId: agentIdOf(exchange), fallback: 'published' as const };
  const { live } = await parts.startTurn(target, request);
  const { id } = live.identity;
  if (alwaysStreams || request.streams || exchange.accepts('json', 'text/event-stream') === 'text/event-stream') {
    streamRun(exchange, parts, id);
    return;
  }
  exchange.set('X-Run-Id', id);
  exchange.body = answerOf(await awaitRun(exchange, live), live.transcript);
}

async function list(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query } = exchange;
  await requireAgent(parts, exchange);
  const status = queryText(query, 'status') as RunStatus | undefined;
  if (status !== undefined && !STATUSES.includes(status)) {
    throw badArgument(`\`status\` must be one of ${STATUSES.join(', ')}; received ${JSON.stringify(status)}.`);
  }
  const sessionId = queryText(query, 'session_id');
  const from = readTime(query, 'from_date');
  const to = readTime(query, 'to_date');
  const { items, total } = await parts.stores.runs.list(exchange.state.tenant, {
    agentId: agentIdOf(exchange),
    ...readPage(query),
    ...(status === undefined ? {} : { status }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
  exchange.body = successPage(items.map(runView), total);
}

async function events(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { id, status } = await findRun(parts, exchange);
  const after = readLastEventId(exchange);
  // Asked before the stream begins: a refusal is JSON.
  const bounds = { maxEvents: 1, maxBytes: 1 };
  const kept = await parts.stores.log.read(exchange.state.tenant, id, after, bounds);
  if (kept === undefined && status !== 'running') throw noRun();
  streamRun(exchange, parts, id, { after });
}

/** `?after=` or `Last-Event-ID`; what a reconnecting client sends by itself counts more than the address it was given. */
function readLastEventId(exchange: HttpExchange): number {
  const text = exchange.get('Last-Event-ID') || (queryText(exchange.query, 'after') ?? '0');
  const seq = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return seq;
  throw badArgument('`Last-Event-ID` and `after` must be the number of an event.');
}

async function cancelOfAgent(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  await requireAgent(parts, exchange);
  const given = readInput(cancelSchema, exchange.request.body ?? {});
  // RAGFlow's task id is the session's; a run's is taken as well.
  const { run_id: run, session_id: sessionId, task_id: task } = given;
  const agentId = agentIdOf(exchange);
  if (task !== undefined && task !== null) {
    await cancel(parts, exchange, { agentId, sessionId: task });
    await cancel(parts, exchange, { agentId, run: task });
    return;
  }
  await cancel(parts, exchange, {
    agentId,
    ...(run === undefined || run === null ? {} : { run }),
    ...(sessionId === undefined || sessionId === null ? {} : { sessionId }),
  });
}

async function cancelTask(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const task = checkId('task_id', exchange.params.task as string);
  await cancel(parts, exchange, { sessionId: task });
  await cancel(parts, exchange, { run: task });
}

/** Stopping what is stopped, finished or unknown is done as well: what the caller wants is so. */
async function cancel(parts: ServerParts, exchange: HttpExchange, which: LiveFilter): Promise<void> {
  await parts.host.cancel(exchange.state.tenant, which);
  exchange.body = success(true);
}

async function requireAgent({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  if ((await stores.agents.find(exchange.state.tenant, agentIdOf(exchange))) === undefined) throw noAgent();
}

function agentIdOf({ params }: HttpExchange): string {
  return checkId('agent_id', params.id as string);
}
