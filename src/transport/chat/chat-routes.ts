/** Chats: a question in, the events of its eight stages out. */
import { z } from 'zod';
import { toChatFrame } from '../../chat/chat-frames.js';
import type { RateState } from '../../chat/limits/rate-limits.js';
import { badArgument, noRun, noSession } from '../../hosting/refusals.js';
import { isAssistant } from '../../records/agents.js';
import type { RunIdentity, RunRecord } from '../../records/runs.js';
import { success, successPage } from '../envelope.js';
import { clientLeft } from '../http/client-left.js';
import { engineFrames, sseFrame } from '../http/event-stream.js';
import { checked, listFitting, PAGE_BYTES, pageOf, pageQuery, text } from '../http/input.js';
import { type HttpExchange, type PathRequest, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import { type RunView, streamRun } from '../runs/answer-run.js';
import { followRun } from '../runs/follow-run.js';
import { runView, timelineView } from '../runs/run-view.js';
import type { ServerParts } from '../server-parts.js';
import { chatSchema, readChat } from './chat-input.js';
import { chatStages, chatTraceShape } from './chat-trace.js';
import { chatRunInfo, findChatRun, startChat } from './start-chat.js';

const eventsQuery = z.object({
  after: text.describe('Number of the last event that the client has.'),
  view: checked('view', '"chat" or "engine"', (given) =>
    (['chat', 'engine'] as const).find((view) => view === given),
  ).describe('"engine": every event as the engine stores it, numbered without gaps. Default: the events of a chat.'),
});

const runsQuery = pageQuery.extend({ session_id: text.describe('The session; needed.') });

export const chatRoutes: RouteGroup = {
  name: 'chat',
  description:
    'Questions that are answered from datasets and tools, with citations. Events: `session`, `stage_start`, `stage_end`, `shortcut`, `evidence`, `thinking`, `first_token`, `token`, `retract`, and `final` or `error` at the end.',
  routes: [
    route('POST /chat/stream', {
      summary: 'Asks a question and streams what happens until it is answered',
      body: chatSchema,
      answers: 'events',
      handle: async ({ tenant, body, exchange }, parts) => {
        const request = readChat(body, exchange.headers);
        const { live, rate } = await startChat(parts, tenant, request, clientLeft(exchange));
        tellRate(exchange, rate);
        streamRun(exchange, parts, live.identity.id, chatView(tenant, live.identity));
      },
    }),
    route('GET /chat/runs', {
      summary: 'Lists the runs of a session of a chat, newest first',
      reserves: PAGE_BYTES,
      query: runsQuery,
      answers: 'page',
      data: z.array(runView.shape),
      handle: listRuns,
    }),
    route('GET /chat/runs/:run', {
      summary: 'Reads a run of a chat',
      finds: findRun,
      data: runView.shape,
      handle: async ({ found }) => success(runView.of(found)),
    }),
    route('GET /chat/runs/:run/events', {
      summary: 'Streams the events of a chat, from the first or after `Last-Event-ID`',
      finds: findRun,
      query: eventsQuery,
      answers: 'events',
      handle: (request, parts) => {
        const { tenant, found, query } = request;
        const isEngine = query.view === 'engine';
        return followRun(parts, request, () =>
          isEngine ? { isExact: true, frames: engineFrames } : chatView(tenant, found),
        );
      },
    }),
    route('POST /chat/runs/:run/cancel', {
      summary: 'Stops a chat',
      finds: findRun,
      data: z.boolean(),
      handle: async ({ tenant, found }, { host }) => {
        await host.cancel(tenant, { run: found.id });
        return success(true);
      },
    }),
    route('GET /chat/runs/:run/trace', {
      summary: 'Reads what each stage, model and tool of a chat did, over time',
      finds: findRun,
      data: chatTraceShape,
      handle: async ({ tenant, found }, parts) => {
        const timeline = await parts.host.timeline(tenant, found.id);
        if (timeline === undefined) throw noRun();
        const stages = await chatStages(parts.stores.log, tenant, found.id, chatRunInfo(tenant, found));
        return success({ ...timelineView(found, timeline), ...stages });
      },
    }),
  ],
};

async function listRuns({ tenant, query }: RouteRequest<never, typeof runsQuery>, parts: ServerParts) {
  const { sessions, runs } = parts.stores;
  const { session_id: sessionId } = query;
  if (sessionId === undefined) throw badArgument('`session_id` is needed.');
  const session = await sessions.find(tenant, sessionId);
  const agent = session && (await parts.stores.agents.find(tenant, session.agentId));
  if (agent === undefined || !isAssistant(agent)) throw noSession();
  const page = pageOf(query);
  const wanted = { agentId: agent.id, sessionId, ...page };
  const { items, total } = await listFitting(wanted, (one) => runs.list(tenant, one));
  return successPage(items.map(runView.of), total, page);
}

async function findRun({ tenant, params }: PathRequest<'run'>, parts: ServerParts): Promise<RunRecord> {
  return findChatRun(parts, tenant, params.run);
}

/** The events of a chat as frames. */
function chatView(tenant: string, run: Pick<RunIdentity, 'id' | 'agentId' | 'sessionId'>): RunView {
  const about = chatRunInfo(tenant, run);
  return {
    frames: ({ seq, source }) => {
      const json = toChatFrame(source, about);
      return json === undefined ? [] : [sseFrame(seq, json)];
    },
  };
}

/** Says how many more chats may begin. */
export function tellRate(exchange: HttpExchange, rate: RateState | undefined): void {
  if (rate === undefined) return;
  exchange.set('X-RateLimit-Limit', String(rate.limit));
  exchange.set('X-RateLimit-Remaining', String(rate.remaining));
  exchange.set('X-RateLimit-Reset', String(rate.resetSeconds));
}
