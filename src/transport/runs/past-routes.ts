import { checkId } from '../../hosting/ids.js';
import { badArgument, noRun } from '../../hosting/refusals.js';
import { requireAgent } from '../agents/find-agent.js';
import { answerOf } from '../completions/answer.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryText } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { awaitRun } from './await-run.js';
import { findRun } from './find-run.js';
import { readTurn } from './read-turn.js';
import { streamRun } from './stream-run.js';
import { timelineView } from './timeline-view.js';

/** What can be made of runs that are there: their timelines, and other runs. */
export function pastRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents/:id/runs/:run/fork', (exchange) => fork(parts, exchange));
    router.get('/agents/:id/runs/:run/trace', async (exchange) => {
      const run = await findRun(parts, exchange);
      const { tenant } = exchange.state;
      const timeline = await parts.host.timeline(tenant, run.id);
      if (timeline === undefined) throw noRun();
      exchange.body = success(timelineView(run, timeline));
    });
  };
}

async function fork(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { id: agentId } = await requireAgent(parts, exchange);
  const run = checkId('run_id', exchange.params.run as string);
  const request = readTurn(exchange.request.body, exchange.query, exchange.headers);
  const at = readEventNumber(queryText(exchange.query, 'at'));
  const target = { tenant: exchange.state.tenant, agentId, fallback: 'draft' as const };
  const { live } = await parts.forkRun(target, { run, ...(at === undefined ? {} : { at }) }, request);
  const { id } = live.identity;
  if (request.streams || exchange.accepts('json', 'text/event-stream') === 'text/event-stream') {
    streamRun(exchange, parts, id);
    return;
  }
  exchange.set('X-Run-Id', id);
  exchange.body = answerOf(await awaitRun(exchange, live), live.transcript);
}

/** @throws EngineError BAD_REQUEST. */
function readEventNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(at)) return at;
  throw badArgument(`\`at\` must be the number of an event; received ${JSON.stringify(text)}.`);
}
