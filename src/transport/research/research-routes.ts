/** Researches: a question in, the events of its sub-questions out, a report at the end. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { RunIdentity } from '../../records/runs.js';
import { EMPTY_PICTURE } from '../../research/deep/fold-research.js';
import { REPORT_FORMATS, reportFile } from '../../research/service/report-file.js';
import { researchAgentId } from '../../research/service/research-document.js';
import { toResearchFrame } from '../../research/service/research-frames.js';
import { steerSchema } from '../../research/steer.js';
import { success, successPage } from '../envelope.js';
import { contentHeaders } from '../files/content-headers.js';
import { engineFrames, sseFrame } from '../http/event-stream.js';
import { checked, listFitting, PAGE_BYTES, pageOf, pageQuery, text } from '../http/input.js';
import { type HttpExchange, type RouteGroup, route } from '../http/route.js';
import { awaitRun, type RunView, streamRun } from '../runs/answer-run.js';
import { followRun } from '../runs/follow-run.js';
import { runView, timelineShape, timelineView } from '../runs/run-view.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, string } from '../shapes.js';
import { askedQuestion, LISTED_QUESTION } from './asked-question.js';
import { planOfResearch, putPlan, requireAtWork, steersOf } from './plan-of-research.js';
import { readerAddress } from './reader-address.js';
import { findResearchRun, readResearch, researchSchema, startResearch } from './start-research.js';

const eventsQuery = z.object({
  after: text.describe('Number of the last event that the client has.'),
  view: checked('view', '"research" or "engine"', (given) =>
    (['research', 'engine'] as const).find((view) => view === given),
  ).describe('"engine": every event as the engine stores it. Default: the events of a research.'),
});

const reportQuery = z.object({
  format: checked('format', 'one of md, pdf, docx, html', (given) =>
    REPORT_FORMATS.find((one) => one === given),
  ).describe('md, pdf, docx or html; default md.'),
});

const planShape = z.object({
  plan: anyObject,
  tools: z.array(z.string()).describe('Names of the tools that tasks may use, the usual one first.'),
  tasks: anyObject.describe('How tasks stand that have begun, by id: running, done, failed or skipped.'),
});

const listedShape = runView.shape.extend({
  question: string
    .nullable()
    .describe(`What was asked, at most ${LISTED_QUESTION} characters of it; null where its events are gone.`),
});

const researchShape = runView.shape.extend({
  question: string.nullable().describe('What was asked; null where its events are gone.'),
  questions: z.array(anyObject).describe('Sub-questions, their status and their findings.'),
  final: anyObject.nullable().describe('The last event; null while the research is at work.'),
});

export const researchRoutes: RouteGroup = {
  name: 'research',
  description:
    'Questions that take several searches. Events: `session`, `clarify`, `plan`, `plan_changed`, `task_started`, `task_finished`, `question`, `searched`, `evidence`, `finding`, `gap`, `contradiction`, `budget`, `steered`, `report_outline`, `token`, `retract`, and `final` or `error` at the end.',
  routes: [
    route('POST /research', {
      summary:
        'Researches a question and streams what happens until there is a report; with `stream: false` waits for it',
      body: researchSchema,
      answers: 'events',
      handle: async ({ tenant, body, exchange }, parts) => {
        const live = await startResearch(parts, tenant, body, exchange.headers);
        const { identity } = live;
        if (body.stream !== false) {
          streamRun(exchange, parts, identity.id, researchView(identity));
          return undefined;
        }
        exchange.set('X-Run-Id', identity.id);
        const record = await awaitRun(exchange, live);
        const { final } = await readResearch(parts, tenant, record);
        return success({
          run_id: record.id,
          session_id: record.sessionId,
          status: record.status,
          final: final ?? null,
        });
      },
    }),
    route('GET /research', {
      summary: 'Lists the researches of the tenant, newest first',
      reserves: PAGE_BYTES,
      query: pageQuery,
      answers: 'page',
      data: z.array(listedShape),
      handle: async ({ tenant, query }, { stores }) => {
        const page = pageOf(query);
        const wanted = { agentId: researchAgentId(tenant), ...page };
        const { items, total } = await listFitting(wanted, (one) => stores.runs.list(tenant, one));
        const questions = await Promise.all(items.map((one) => askedQuestion({ stores }, tenant, one)));
        const listed = items.map((one, at) => ({
          ...runView.of(one),
          question: questions[at]?.slice(0, LISTED_QUESTION) ?? null,
        }));
        return successPage(listed, total, page);
      },
    }),
    route('GET /research/:run', {
      summary: 'Reads a research: its questions, their findings, and its report when there is one',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      data: researchShape,
      handle: async ({ tenant, found }, parts) => {
        const [question, { picture, final }] = await Promise.all([
          askedQuestion(parts, tenant, found),
          readResearch(parts, tenant, found),
        ]);
        return success({ ...runView.of(found), question, questions: picture.questions, final: final ?? null });
      },
    }),
    route('GET /research/:run/events', {
      summary: 'Streams the events of a research, from the first or after `Last-Event-ID`',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      query: eventsQuery,
      answers: 'events',
      handle: (request, parts) =>
        followRun(parts, request, () =>
          request.query.view === 'engine' ? { isExact: true, frames: engineFrames } : researchView(request.found),
        ),
    }),
    route('GET /research/:run/evidence', {
      summary: 'Reads everything that a research has read',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      data: z.array(anyObject),
      handle: async ({ tenant, found }, parts) => {
        const { picture = EMPTY_PICTURE } = await readResearch(parts, tenant, found);
        return success(picture.evidence);
      },
    }),
    route('GET /research/:run/plan', {
      summary: 'Reads the plan of a research, and how its tasks stand',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      data: planShape,
      handle: async ({ tenant, found }, parts) => {
        const { plan, tools, tasks } = await planOfResearch(parts, tenant, found);
        return success({ plan, tools, tasks: Object.fromEntries(tasks) });
      },
    }),
    route('PUT /research/:run/plan', {
      summary: 'Changes the plan of a research: all of it before it is approved, later what has not begun',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      body: z.looseObject({ tasks: z.unknown().describe('All tasks; those that have begun as they are.') }),
      data: anyObject,
      handle: async ({ tenant, found, body }, parts) => success({ plan: await putPlan(parts, tenant, found, body) }),
    }),
    route('GET /research/:run/trace', {
      summary: 'Reads what each call of a research did, over time',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      data: timelineShape,
      handle: async ({ tenant, found }, { host }) => {
        const timeline = await host.timeline(tenant, found.id);
        if (timeline === undefined) throw new EngineError('NOT_FOUND', 'Nothing of this research is stored.');
        return success(timelineView(found, timeline));
      },
    }),
    route('POST /research/:run/steer', {
      summary:
        'Changes a research at work: add, drop, answer or order questions or tasks, exclude a source, enough, approve, clarify',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      body: steerSchema,
      data: z.literal(true),
      handle: async ({ tenant, found, body }, { services }) => {
        requireAtWork(found);
        await steersOf(services.steers, tenant).put(found.id, body as unknown as JsonObject);
        return success(true);
      },
    }),
    route('POST /research/:run/cancel', {
      summary: 'Stops a research at once; with `finish: true` it searches no more, and writes its report',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      body: z.looseObject({ finish: z.boolean().nullish().describe('Ends with a report. Default false.') }),
      data: z.literal(true),
      handle: async ({ tenant, found, body }, { services, host }) => {
        if (body.finish === true && found.status === 'running') {
          await steersOf(services.steers, tenant).put(found.id, { action: 'enough' });
        } else await host.cancel(tenant, { run: found.id });
        return success(true);
      },
    }),
    route('GET /research/:run/report', {
      summary: 'Gives the report of a research as a file',
      finds: ({ tenant, params }, parts) => findResearchRun(parts, tenant, params.run),
      query: reportQuery,
      answers: 'file',
      handle: async ({ tenant, found, query, exchange }, parts) => {
        const { final } = await readResearch(parts, tenant, found);
        if (final === undefined) throw new EngineError('NOT_FOUND', `Research "${found.id}" has no report yet.`);
        const format = query.format ?? 'md';
        const { bytes, mimeType } = await reportFile(final, format, {
          threads: parts.services.threads,
          // Where the client reached this server, which is where its reader does.
          studio: parts.studio === undefined ? undefined : addressOf(exchange, parts),
        });
        const about = { mimeType, extension: format, fileName: `research-${found.id}.${format}`, isInline: false };
        exchange.set(contentHeaders(about));
        exchange.body = Buffer.from(bytes);
      },
    }),
  ],
};

function addressOf({ req, protocol, host }: HttpExchange, { config }: ServerParts): string {
  return readerAddress({ socket: req.socket, headers: req.headers, protocol, host }, config.trustedProxies);
}

/** The events of a research as frames. */
function researchView({ sessionId }: Pick<RunIdentity, 'sessionId'>): RunView {
  return {
    frames: ({ seq, source }) => {
      const json = toResearchFrame(source, sessionId);
      return json === undefined ? [] : [sseFrame(seq, json)];
    },
  };
}
