/** Calls from outside that start an agent, from the first check to the answer. */

import type { IncomingMessage } from 'node:http';
import { of } from 'rxjs';
import { z } from 'zod';
import { readFileValue } from '../../components/file-inputs.js';
import { beginParams } from '../../dsl/introspect.js';
import { shownMessage } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument, notOwner } from '../../hosting/refusals.js';
import type { StartedRun } from '../../hosting/start.js';
import { bindFiles, servicesOfTenant } from '../../hosting/tenant-services.js';
import { isJsonObject, type Json, type JsonObject, parseJson, parseOwnJson } from '../../json.js';
import type { AgentRecord } from '../../records/agents.js';
import { ownedKey } from '../../records/repository.js';
import { findAgent } from '../agents/find-agent.js';
import { failureOf, success } from '../envelope.js';
import { pageFacts } from '../files/receive-upload.js';
import { text } from '../http/input.js';
import type { UploadedFile } from '../http/read-body.js';
import { type HttpExchange, type Method, type RouteGroup, route } from '../http/route.js';
import { awaitRun } from '../runs/answer-run.js';
import { readTurn } from '../runs/read-turn.js';
import type { ServerParts } from '../server-parts.js';
import { castValues, isFileType, readCall, type WebhookCall } from './read-call.js';
import { readWebhookConfig, refuse, type WebhookConfig } from './webhook-config.js';
import { credentialHeader } from './webhook-security.js';
import type { OpenTrace } from './webhook-traces.js';

/** Every method that a webhook may be called with; HEAD comes with GET. */
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** An agent and its tenant. */
interface WebhookTarget {
  readonly tenant: string;
  readonly agent: AgentRecord;
}

/** Categories of documents that are no agents. */
const DATAFLOW = 'dataflow_canvas';

const logsQuery = z.object({
  since_ts: text
    .transform((given) => {
      const since = given === undefined ? undefined : Number(given);
      if (since === undefined || Number.isFinite(since)) return since;
      throw badArgument('`since_ts` must be a time in seconds.');
    })
    .describe('Seconds since 1970: only what is newer.'),
  webhook_id: text.describe('The call to watch.'),
});

export const webhookRoutes: RouteGroup = {
  name: 'webhooks',
  description: 'Calls that start an agent, as its Begin component allows. Refusals are HTTP 400.',
  routes: [
    ...METHODS.map((method) =>
      route(`${method} /agents/:id/webhook`, {
        summary: 'Calls the webhook of an agent',
        // Without a key, but with the security that its author configured.
        access: 'open',
        body: 'anything',
        answers: 'any',
        refuse: refuseCall,
        handle: async ({ params, exchange }, parts) => {
          await callWebhook(parts, exchange, await findTarget(parts, exchange.req, params.id), undefined);
        },
      }),
    ),
    ...METHODS.map((method) =>
      route(`${method} /agents/:id/webhook/test`, {
        summary: 'The same for its owner, with a record',
        body: 'anything',
        answers: 'any',
        handle: async ({ tenant, params, exchange }, parts) => {
          const agent = await parts.stores.agents.find(tenant, params.id);
          if (agent === undefined) throw notOwner();
          const trace = parts.webhookTraces.begin(ownedKey(tenant, agent.id));
          try {
            await callWebhook(parts, exchange, { tenant, agent }, trace);
          } catch (error) {
            trace.add({ event: 'error', message: refuseCall(exchange, error, parts), error_type: 'refused' });
            trace.end(false);
            // Discard the rest of a refused body: a client that cannot finish sending never reads the answer.
            exchange.req.resume();
          }
        },
      }),
    ),
    route('GET /agents/:id/webhook/logs', {
      summary: 'What was recorded',
      finds: findAgent,
      query: logsQuery,
      data: z.looseObject({
        webhook_id: z.string().nullable(),
        events: z.array(z.looseObject({ ts: z.number() })),
        next_since_ts: z.number(),
        finished: z.boolean(),
      }),
      handle: ({ tenant, query, found }, { webhookTraces }) =>
        success(webhookTraces.poll(ownedKey(tenant, found.id), query.since_ts, query.webhook_id)),
    }),
  ],
};

/** Every refusal is HTTP 400, as callers of webhooks expect. Gives the message. */
function refuseCall(exchange: HttpExchange, error: unknown, { logger }: ServerParts): string {
  const { status, body } = failureOf(error);
  if (status >= 500) logger.error({ err: error, path: exchange.path }, 'a webhook crashed');
  exchange.status = 400;
  exchange.body = { code: 400, message: body.message };
  return body.message ?? '';
}

/** The agent and its tenant, which the call does not name. An id that several tenants have opens no agent. */
async function findTarget(
  { callers, stores: { agents } }: ServerParts,
  request: IncomingMessage,
  id: string,
): Promise<WebhookTarget> {
  const tenant = await callers.guesses.find(request, `webhook ${id}`, async () => {
    const [owner, ...others] = await agents.ownersOf(id, callers.tenants);
    return others.length === 0 ? owner : undefined;
  });
  const agent = tenant === undefined ? undefined : await agents.find(tenant, id);
  if (tenant === undefined || agent === undefined) throw refuse('Canvas not found.');
  return { tenant, agent };
}

/**
 * Checks a call, runs the draft with it as its owner, and answers as the author configured: at once, or with the answer of the run.
 *
 * @throws EngineError for anything wrong before the run begins.
 */
async function callWebhook(
  parts: ServerParts,
  exchange: HttpExchange,
  target: WebhookTarget,
  trace: OpenTrace | undefined,
): Promise<void> {
  const config = configOf(parts, target.agent, exchange.method);
  const { tenant, agent } = target;
  const maxBytes = await parts.webhookSecurity.admit(`${tenant}/${agent.id}`, config.security, exchange.req);
  parts.strangers.admit(exchange.req.socket);
  const flight = parts.bodies.open({ tenant, isPage: true });
  let status: number | undefined;
  let inputs: JsonObject;
  try {
    const call = await readCall(exchange.req, exchange.query, {
      flight,
      maxBytes,
      contentType: config.contentType,
      isFile: (name) => isFileType(config.body.types.get(name)),
    });
    if (!config.waits) status = immediateStatus(config.response.status);
    const isAnonymous = (config.security?.auth_type ?? 'none') === 'none';
    inputs = await withFiles(payloadOf(config, call), call, (file) => takeFile(parts, tenant, file, isAnonymous));
  } finally {
    flight.close();
  }
  const live = await start(parts, target, inputs);
  if (trace !== undefined) record(parts, live, trace);
  if (status === undefined) await answerWhenDone(exchange, live);
  else answerAtOnce(exchange, status, config.response.bodyTemplate);
}

function configOf({ readStored }: ServerParts, { dsl, canvasCategory }: AgentRecord, method: string): WebhookConfig {
  if (canvasCategory === DATAFLOW) throw refuse('Dataflow can not be triggered by webhook.');
  const { document } = readStored(dsl);
  const config = document === undefined ? undefined : readWebhookConfig(beginParams(document));
  if (config === undefined) throw refuse('Webhook not configured for this agent.');
  if (config.methods.size > 0 && !config.methods.has(method)) {
    throw refuse(`HTTP method '${method}' not allowed for this webhook.`);
  }
  return config;
}

/** Puts the files into what the call gives, after everything else about it has been checked: reading them is what costs most. */
async function withFiles(
  payload: CallPayload,
  { files }: WebhookCall,
  take: (file: UploadedFile) => Promise<Json>,
): Promise<JsonObject> {
  const contents = new Map<string, Json>();
  for (const [name, own] of files) {
    const values: Json[] = [];
    for (const file of own) values.push(await take(file));
    contents.set(name, values);
  }
  const read = Object.fromEntries(contents);
  const { body, request } = payload;
  const whole: Json = isJsonObject(request.body) ? { ...request.body, ...read } : (request.body ?? null);
  const fields = { ...payload, body: { ...body, ...read }, request: { ...request, body: whole } };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }]));
}

/** A file is stored, and the agent gets its content. */
async function takeFile(parts: ServerParts, tenant: string, file: UploadedFile, isAnonymous: boolean): Promise<Json> {
  const { stores, config, now } = parts;
  const files = bindFiles(stores.files, tenant);
  const services = { ...servicesOfTenant(parts, tenant), files };
  const id = createId();
  const facts = isAnonymous ? pageFacts(config, now()) : {};
  await stores.files.save(tenant, { ...file, ...facts, id, createdAt: now() });
  return readFileValue({ id, name: file.name, mime_type: file.mimeType }, services);
}

/** The parts of a call as Begin is given them. */
interface CallPayload extends JsonObject {
  readonly query: JsonObject;
  readonly headers: JsonObject;
  readonly body: JsonObject;
  readonly request: JsonObject;
}

/** What Begin is given, but for files: each part as the schema wants it, and all of the call as it came but for its credentials. */
function payloadOf(config: WebhookConfig, call: WebhookCall): CallPayload {
  const { query, headers, body, contentType } = call;
  const secrets = new Set([credentialHeader(config.security), 'authorization', 'proxy-authorization', 'cookie']);
  const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => !secrets.has(name)));
  return {
    query: castValues('query', config.query, query),
    headers: castValues('headers', config.headers, headers),
    body: castValues('body', config.body, isJsonObject(body) ? body : {}),
    request: { query, headers: shown, body, content_type: contentType },
  };
}

async function start(parts: ServerParts, { tenant, agent }: WebhookTarget, inputs: JsonObject): Promise<StartedRun> {
  const target = { tenant, agentId: agent.id, fallback: 'draft' as const };
  const { live } = await parts.startTurn(target, readTurn({ inputs, name: 'webhook', detach: true }));
  return live;
}

function immediateStatus(value: Json): number {
  const status = Number(value);
  if (Number.isInteger(status) && status >= 200 && status <= 399) return status;
  throw refuse(`Invalid response status code: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

function answerAtOnce(exchange: HttpExchange, status: number, template: string): void {
  // With the body still unset, Koa takes an empty one for "no content".
  exchange.body = template;
  exchange.type = parseJson(template) !== undefined ? 'application/json' : 'text/plain';
  exchange.status = status;
}

async function answerWhenDone(exchange: HttpExchange, live: StartedRun): Promise<void> {
  const { id, error, sessionId } = await awaitRun(exchange, live);
  exchange.set('X-Run-Id', id);
  if (error !== undefined) {
    exchange.status = 400;
    exchange.body = { code: 400, message: shownMessage(error), success: false, session_id: sessionId };
    return;
  }
  const code = statusOf(live.transcript.messageEnd?.data.status);
  exchange.body = { message: live.transcript.content, success: true, code, session_id: sessionId };
  exchange.status = code;
}

/** The status that the author's Message declares, when it is valid. */
function statusOf(value: Json | undefined): number {
  const status = Number(value ?? 200);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}

function record({ host, logger }: ServerParts, live: StartedRun, trace: OpenTrace): void {
  const { tenant, id } = live.identity;
  const events$ = host.follow(tenant, id, { after: 0, ready$: of(true) });
  // Ends with the run, so it needs no unsubscribing.
  events$.subscribe({
    next: ({ source, ragflow }) => {
      if (ragflow === undefined) return;
      const data = parseOwnJson(ragflow) as JsonObject;
      if (source.type !== 'run-failed') trace.add(data);
      else trace.add({ event: 'error', message: data.message ?? '', error_type: data.error ?? '' });
    },
    error: (error: unknown) => {
      logger.warn({ err: error, run: id }, 'a trial call could not be followed');
      trace.end(false);
    },
    complete: () => trace.end(live.record.error === undefined),
  });
}
