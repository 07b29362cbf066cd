/** One call of a webhook, from the first check to the answer. */
import { mergeMap, of } from 'rxjs';
import { readFileValue } from '../../components/file-inputs.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import type { LiveRun } from '../../hosting/live-run.js';
import { bindFiles } from '../../hosting/tenant-services.js';
import type { Json, JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/stores.js';
import { beginParams } from '../components/begin-params.js';
import { outside } from '../envelope.js';
import type { UploadedFile } from '../files/read-multipart.js';
import type { HttpExchange } from '../http/types.js';
import { awaitRun } from '../runs/await-run.js';
import { readTurn } from '../runs/read-turn.js';
import type { ServerParts } from '../server-parts.js';
import { castValues } from './cast-values.js';
import { readCall, type WebhookCall } from './read-call.js';
import { refuse } from './refusal.js';
import { readWebhookConfig, type WebhookConfig } from './webhook-config.js';
import { credentialHeader } from './webhook-security.js';
import type { OpenTrace } from './webhook-traces.js';

/** An agent and whose it is. */
export interface WebhookTarget {
  readonly tenant: string;
  readonly agent: AgentRecord;
}

/** Categories of documents that are no agents. */
const DATAFLOW = 'dataflow_canvas';

/**
 * Checks a call, runs the draft with it as its owner, and answers as the author configured: at once, or with what the run said.
 *
 * @throws EngineError for whatever is wrong before the run begins.
 */
export async function callWebhook(
  parts: ServerParts,
  exchange: HttpExchange,
  target: WebhookTarget,
  trace: OpenTrace | undefined,
): Promise<void> {
  const config = configOf(target.agent, exchange.method);
  const { tenant, agent } = target;
  const maxBytes = await parts.webhookSecurity.admit(`${tenant}/${agent.id}`, config.security, exchange.req);
  const call = await readCall(exchange.req, exchange.query, {
    maxBytes,
    contentType: config.contentType,
    takeFile: (file) => takeFile(parts, tenant, file),
  });
  const status = config.waits ? undefined : immediateStatus(config.response.status);
  const live = await start(parts, target, payloadOf(config, call));
  if (trace !== undefined) record(parts, live, trace);
  if (status === undefined) await answerWhenDone(exchange, live);
  else answerAtOnce(exchange, status, config.response.bodyTemplate);
}

function configOf({ dsl, canvasCategory }: AgentRecord, method: string): WebhookConfig {
  if (canvasCategory === DATAFLOW) throw refuse('Dataflow can not be triggered by webhook.');
  const { document } = readDocument(dsl);
  const config = document === undefined ? undefined : readWebhookConfig(beginParams(document));
  if (config === undefined) throw refuse('Webhook not configured for this agent.');
  if (config.methods.size > 0 && !config.methods.has(method)) {
    throw refuse(`HTTP method '${method}' not allowed for this webhook.`);
  }
  return config;
}

/** A file is kept, and the agent sees what is in it. */
async function takeFile({ stores, services }: ServerParts, tenant: string, file: UploadedFile): Promise<Json> {
  const files = bindFiles(stores.files, tenant);
  const id = await files.save(file);
  return readFileValue({ id, name: file.name, mime_type: file.mimeType }, { ...services, files });
}

/** What Begin is given: each part as the schema wants it, and all of the call as it came but for its credentials. */
function payloadOf(config: WebhookConfig, call: WebhookCall): JsonObject {
  const { query, headers, body, contentType } = call;
  const secrets = new Set([credentialHeader(config.security), 'authorization', 'proxy-authorization', 'cookie']);
  const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => !secrets.has(name)));
  const fields = {
    query: castValues('query', config.query, query),
    headers: castValues('headers', config.headers, headers),
    body: castValues('body', config.body, isRecord(body) ? body : {}),
    request: { query, headers: shown, body, content_type: contentType },
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }]));
}

function isRecord(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function start(parts: ServerParts, { tenant, agent }: WebhookTarget, inputs: JsonObject): Promise<LiveRun> {
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
  exchange.type = template !== '' && isJson(template) ? 'application/json' : 'text/plain';
  exchange.status = status;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function answerWhenDone(exchange: HttpExchange, live: LiveRun): Promise<void> {
  const { id, error, sessionId } = await awaitRun(exchange, live);
  exchange.set('X-Run-Id', id);
  if (error !== undefined) {
    const { message } = outside(new EngineError(error.code, error.message));
    exchange.status = 400;
    exchange.body = { code: 400, message, success: false, session_id: sessionId };
    return;
  }
  const code = statusOf(live.transcript.messageEnd?.data.status);
  exchange.body = { message: live.transcript.content, success: true, code, session_id: sessionId };
  exchange.status = code;
}

/** What the author's Message says, when it is a status. */
function statusOf(value: Json | undefined): number {
  const status = Number(value ?? 200);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}

function record({ host, logger }: ServerParts, live: LiveRun, trace: OpenTrace): void {
  const { tenant, id } = live.identity;
  const events$ = host.follow(tenant, id, { after: 0, ready$: of(true) });
  // Nobody unsubscribes: the run ends by itself, and with it what is watched.
  events$.pipe(mergeMap(({ event, json }) => of({ event, data: JSON.parse(json) as JsonObject }))).subscribe({
    next: ({ event, data }) => {
      if (event === 'error') trace.add({ event: 'error', message: data.message ?? '', error_type: data.error ?? '' });
      else trace.add(data);
    },
    error: (error: unknown) => {
      logger.warn({ err: error, run: id }, 'a trial call could not be followed');
      trace.end(false);
    },
    complete: () => trace.end(live.record.error === undefined),
  });
}
