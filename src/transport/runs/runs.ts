/** Runs: starting, watching, forking and stopping them. */
import { z } from 'zod';
import { badArgument, noRun, stillRunning } from '../../hosting/refusals.js';
import type { LiveFilter } from '../../hosting/run-hub.js';
import type { AgentStore } from '../../records/agents.js';
import type { RunRecord } from '../../records/runs.js';
import { notForPages } from '../access/page-keys.js';
import { findAgent } from '../agents/find-agent.js';
import { type Envelope, success, successPage } from '../envelope.js';
import { engineFrames } from '../http/event-stream.js';
import {
  checked,
  given,
  listFitting,
  PAGE_BYTES,
  pageOf,
  pageQuery,
  periodQuery,
  readInput,
  received,
  text,
} from '../http/input.js';
import { type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { acceptsStream, answerShape, answerWithRun } from './answer-run.js';
import { findRun } from './find-run.js';
import { eventNumber, followRun } from './follow-run.js';
import { forkChangeOf, forkSchema, turnOf, turnQuery, turnSchema } from './read-turn.js';
import {
  listedRunShape,
  runDetailShape,
  runDetailView,
  runView,
  statusText,
  timelineShape,
  timelineView,
} from './run-view.js';
import { stateShape, stateView } from './state-view.js';
import { readValues, valuesReadShape } from './values-read.js';

const idText = z.string().min(1).nullish();
const cancelSchema = z.looseObject({
  session_id: idText,
  run_id: idText,
  task_id: idText.describe('Id of a session or of a run.'),
});

const allRunsQuery = pageQuery.extend({
  status: statusText,
  version: text.describe('`draft`, `published`, or the id of a version.'),
  user_id: text.describe("The client's name for its user."),
  agent_id: text.describe('Default: all agents.'),
  ...periodQuery.shape,
  min_seconds: lengthBound('min_seconds').describe(
    'Shortest length, as `elapsed_time` has it; a run that is running has none.',
  ),
  max_seconds: lengthBound('max_seconds').describe('Longest length.'),
});

const runsQuery = allRunsQuery.omit({ agent_id: true }).extend({ session_id: text });

const at = checked('at', 'the number of an event', eventNumber).describe('Number of the event; default the last one.');

const stateQuery = z.object({ at });

const readsQuery = z.object({
  at: checked('at', 'the number of an event', eventNumber).describe('Number of the event with which the node began.'),
  until: checked('until', 'the number of an event', eventNumber).describe(
    'Number of the event with which it ended: what had no value yet is looked up there.',
  ),
});

const forkQuery = turnQuery.extend({ at });

const runQuery = z.object({
  nodes: text
    .transform((value) => value?.toLowerCase() !== 'false')
    .describe('"false" leaves out what the nodes did, for which all events of the run are read.'),
});

const eventsQuery = z.object({
  after: text.describe('Number of the last event that the client has.'),
  view: checked('view', '"ragflow" or "engine"', (given) =>
    (['ragflow', 'engine'] as const).find((view) => view === given),
  ).describe('"engine": every event as the engine stores it, numbered without gaps. Default: RAGFlow\'s events.'),
});

export const runRoutes: RouteGroup = {
  name: 'runs',
  description: 'Turns of conversations: starting, watching and stopping them. `X-Run-Id` names the run.',
  routes: [
    ...(['run', 'stream'] as const).map((name) =>
      route(`POST /agents/:id/${name}`, {
        summary:
          name === 'run'
            ? 'Runs a turn and waits for the answer; streams when asked to'
            : 'Runs a turn and streams its events',
        query: turnQuery,
        body: turnSchema,
        answers: 'events',
        data: answerShape,
        handle: async ({ tenant, params, query, body, exchange }, parts) => {
          const turn = turnOf(body, query, exchange.headers);
          const { live } = await parts.startTurn({ tenant, agentId: params.id, fallback: 'published' }, turn);
          const streams = name === 'stream' || turn.streams || acceptsStream(exchange);
          return answerWithRun(exchange, parts, live, { streams });
        },
      }),
    ),
    route('POST /agents/:id/cancel', {
      summary: 'Stops runs of the caller; without a body all of the agent',
      finds: findAgent,
      body: cancelSchema,
      data: z.boolean(),
      handle: async ({ tenant, body, found }, parts) => {
        const { id: agentId } = found;
        const { run_id: run, session_id: sessionId, task_id: task } = body;
        if (!task) return cancel(parts, tenant, { agentId, ...given({ run, sessionId }) });
        // RAGFlow's task id is the session's; a run's is accepted as well.
        await cancel(parts, tenant, { agentId, sessionId: task });
        return cancel(parts, tenant, { agentId, run: task });
      },
    }),
    route('GET /agents/:id/runs', {
      summary: 'Lists runs, newest first',
      reserves: PAGE_BYTES,
      finds: findAgent,
      query: runsQuery,
      answers: 'page',
      data: z.array(runView.shape),
      handle: async ({ tenant, query, found }, parts) => {
        const page = pageOf(query);
        const wanted = {
          agentId: found.id,
          ...page,
          ...conditionsOf(query),
          ...given({ sessionId: query.session_id }),
        };
        const { items, total } = await listFitting(wanted, (one) => parts.stores.runs.list(tenant, one));
        return successPage(items.map(runView.of), total, page);
      },
    }),
    route('GET /runs', {
      summary: 'Lists runs of all agents, newest first',
      reserves: PAGE_BYTES,
      query: allRunsQuery,
      answers: 'page',
      data: z.array(listedRunShape),
      handle: async ({ query, ...caller }, parts) => {
        // A key for one agent sees no other.
        const id = query.agent_id ?? caller.boundAgent;
        const agent = id === undefined ? undefined : await findAgent({ ...caller, params: { id } }, parts);
        const page = pageOf(query);
        const whose = agent === undefined ? { exceptKind: 'chat' as const } : { agentId: agent.id };
        const { items, total } = await listFitting({ ...whose, ...page, ...conditionsOf(query) }, (one) =>
          parts.stores.runs.list(caller.tenant, one),
        );
        const titles = await titlesOf(parts.stores.agents, caller.tenant, items);
        const listed = items.map((run) => ({ ...runView.of(run), agent_title: titles.get(run.agentId) ?? '' }));
        return successPage(listed, total, page);
      },
    }),
    route('GET /agents/:id/runs/:run', {
      summary: 'Reads a run',
      finds: findRun,
      query: runQuery,
      data: runDetailShape,
      handle: async ({ tenant, query, found }, { host }) =>
        success(runDetailView(found, query.nodes ? await host.timeline(tenant, found.id) : undefined)),
    }),
    route('GET /agents/:id/runs/:run/trace', {
      summary: 'Reads what each node of a run did, over time',
      finds: findRun,
      data: timelineShape,
      handle: async ({ tenant, found }, { host }) => {
        const timeline = await host.timeline(tenant, found.id);
        if (timeline === undefined) throw noRun();
        return success(timelineView(found, timeline));
      },
    }),
    route('GET /agents/:id/runs/:run/state', {
      summary: 'Reads where a run stood after an event: outputs, variables, tokens',
      reserves: PAGE_BYTES,
      finds: findRun,
      query: stateQuery,
      data: stateShape,
      handle: async ({ tenant, query, found }, { host }) =>
        success(stateView(found.id, await host.state(tenant, found.id, query.at))),
    }),
    route('GET /agents/:id/runs/:run/reads', {
      summary: 'Reads the values that a node read: each reference in its parameters, when it began',
      reserves: PAGE_BYTES,
      finds: findRun,
      query: readsQuery,
      data: valuesReadShape,
      handle: async ({ tenant, query: { at = 0, until }, found }, parts) =>
        success(await readValues(parts, tenant, found, { at, until })),
    }),
    route('POST /agents/:id/runs/:run/fork', {
      summary: 'Starts another run from an event of a run; nodes that had finished by then are not run again',
      finds: findAgent,
      query: forkQuery,
      body: forkSchema,
      answers: 'events',
      data: answerShape,
      handle: async ({ tenant, params, query, body, exchange, found }, parts) => {
        const turn = turnOf(body, query, exchange.headers);
        const point = { run: params.run, ...given({ at: query.at }), ...forkChangeOf(body) };
        const { live } = await parts.forkRun({ tenant, agentId: found.id, fallback: 'draft' }, point, turn);
        return answerWithRun(exchange, parts, live, { streams: turn.streams || acceptsStream(exchange) });
      },
    }),
    route('GET /agents/:id/runs/:run/events', {
      summary: 'Streams the events of a run, from the first or after `Last-Event-ID`',
      // A page whose connection broke goes on with the run that it started.
      access: 'page',
      finds: findRun,
      query: eventsQuery,
      answers: 'events',
      handle: (request, parts) => {
        const isEngine = request.query.view === 'engine';
        if (request.page !== undefined && isEngine) throw notForPages('`view=engine`');
        return followRun(parts, request, () => (isEngine ? { isExact: true, frames: engineFrames } : {}));
      },
    }),
    route('DELETE /agents/:id/runs/:run', {
      summary: 'Deletes a run that is over, with its events; its conversation stays',
      finds: findRun,
      data: z.boolean(),
      handle: async ({ tenant, found: { id, status } }, { stores, host }) => {
        if (status === 'running') throw stillRunning(id);
        const wasThere = await stores.runs.delete(tenant, id);
        await stores.log.delete(tenant, id);
        host.noteRunChange(tenant);
        return success(wasThere);
      },
    }),
    route('POST /agents/:id/runs/:run/cancel', {
      summary: 'Stops a run',
      finds: findRun,
      data: z.boolean(),
      handle: ({ tenant, found }, parts) => cancel(parts, tenant, { run: found.id }),
    }),
    route('POST /tasks/:task/cancel', {
      summary: 'Stops the run of a session, or a run',
      data: z.boolean(),
      handle: cancelTask,
    }),
    route('PATCH /tasks/:task', {
      summary: 'The same, in another form',
      takes: z.looseObject({ action: z.literal('stop') }),
      data: z.boolean(),
      handle: (request, parts) => {
        const { action } = readInput(z.looseObject({ action: z.string().optional() }), request.body);
        if (action !== 'stop') throw badArgument(`\`action\` must be "stop"; received ${received(action)}.`);
        return cancelTask(request, parts);
      },
    }),
  ],
};

/** A bound of how long runs took, in milliseconds. */
function lengthBound(name: string) {
  return checked(name, 'a number of seconds, 0 or more', (given) => {
    const ms = Math.round(Number(given) * 1_000);
    return given.trim() !== '' && Number.isSafeInteger(ms) && ms >= 0 ? ms : undefined;
  });
}

/** What both lists of runs are narrowed down by. */
function conditionsOf(query: Omit<z.output<typeof allRunsQuery>, 'agent_id'>) {
  const { status, version, user_id: userId, from_date: from, to_date: to } = query;
  const { min_seconds: shortestMs, max_seconds: longestMs } = query;
  return given({ status, version, userId, from, to, shortestMs, longestMs });
}

/** Titles by id of the agent, of those that are still there. */
async function titlesOf(agents: AgentStore, tenant: string, runs: readonly RunRecord[]) {
  const ids = [...new Set(runs.map(({ agentId }) => agentId))];
  if (ids.length === 0) return new Map<string, string>();
  const query = { ids, offset: 0, limit: ids.length, orderBy: 'title', descending: false } as const;
  const { items } = await agents.select(tenant, query, ['title']);
  return new Map(items.map(({ id, title }) => [id, String(title)]));
}

async function cancelTask({ tenant, params }: RouteRequest<'task'>, parts: ServerParts): Promise<Envelope> {
  await cancel(parts, tenant, { sessionId: params.task });
  return cancel(parts, tenant, { run: params.task });
}

/** Also succeeds when nothing matches: then nothing that matches is running, which is what was requested. */
async function cancel(parts: ServerParts, tenant: string, which: LiveFilter): Promise<Envelope> {
  await parts.host.cancel(tenant, which);
  return success(true);
}
