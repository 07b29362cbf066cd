/** A client of the API, written from its contract alone: every reply is held against the shape that the contract gives it. */
import { z } from 'zod';
import * as shapes from './contract-shapes.js';

type Json = unknown;

/** A stream of events that was read to its end. */
export interface Streamed<E> {
  readonly run: string;
  readonly events: readonly E[];
  /** Numbers of the events, as `id:` says them. */
  readonly ids: readonly number[];
}

export interface ContractClientOptions {
  readonly url: string;
  readonly key?: string;
  /** Sees every answer, which it must not read but may clone. */
  readonly look?: (method: string, path: string, response: Response) => Promise<void>;
}

export type ContractClient = ReturnType<typeof createContractClient>;

export function createContractClient({ url, key, look }: ContractClientOptions) {
  /** Every call that was made: method and path, without the query. */
  const calls = new Set<string>();
  const send = async (method: string, path: string, body?: Json, headers: Record<string, string> = {}) => {
    const name = path.split('?')[0] as string;
    calls.add(`${method} ${name}`);
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    await look?.(method, name, response);
    return response;
  };
  const api = (path: string) => `/api/v1${path}`;

  /** Calls and gives `data` of the envelope; HTTP status 200, code 0 and the shape are checked. */
  const call = async <T extends z.ZodType>(
    shape: T,
    method: string,
    path: string,
    body?: Json,
  ): Promise<z.output<T>> => {
    const response = await send(method, api(path), body);
    const reply = await read(response, shapes.success(shape));
    if (response.status !== 200) throw new Error(`${method} ${path}: HTTP ${response.status}`);
    return reply.data as z.output<T>;
  };
  const list = async <T extends z.ZodType>(shape: T, path: string) =>
    read(await send('GET', api(path)), shapes.page(shape));

  /** Calls what must be refused; gives code and message, with HTTP status 200 as business errors have it. */
  const refused = async (method: string, path: string, body?: Json) => {
    const response = await send(method, api(path), body);
    const { code, message } = await read(response, shapes.failure);
    return { status: response.status, code, message };
  };

  const stream = async (method: string, path: string, body?: Json, headers?: Record<string, string>) => {
    const response = await send(method, api(path), body, headers);
    if (!/^text\/event-stream/.test(response.headers.get('content-type') ?? '')) throw new Error(await response.text());
    const run = response.headers.get('x-run-id') ?? '';
    return { run, ...parseStream(await response.text(), shapes.event, 'data:') };
  };

  return {
    calls,
    refused,
    send,
    health: async () => read(await send('GET', '/healthz'), shapes.success(z.looseObject({}))),

    // The twelve of the design.
    agents: (query = '') => call(shapes.agentList, 'GET', `/agents${query}`),
    create: (title: string, dsl: Json, rest: object = {}) =>
      call(shapes.agentItem, 'POST', '/agents', { title, dsl, ...rest }),
    agent: (id: string) => call(shapes.agent, 'GET', `/agents/${id}`),
    update: (id: string, change: Json, method: 'PATCH' | 'PUT' = 'PATCH') =>
      call(z.looseObject({ update_time: z.number().int() }), method, `/agents/${id}`, change),
    remove: (id: string) => call(z.literal(true), 'DELETE', `/agents/${id}`),
    run: (id: string, body: Json, query = '') => call(shapes.answer, 'POST', `/agents/${id}/run${query}`, body),
    stream: (id: string, body: Json, query = '') => stream('POST', `/agents/${id}/stream${query}`, body),
    cancel: (id: string, body: Json = {}) => call(z.literal(true), 'POST', `/agents/${id}/cancel`, body),
    versions: (id: string) => list(shapes.versionItem, `/agents/${id}/versions`),
    publish: (id: string, body: Json = {}) => call(shapes.version, 'POST', `/agents/${id}/versions`, body),
    version: (id: string, version: string) => call(shapes.version, 'GET', `/agents/${id}/versions/${version}`),
    removeVersion: (id: string, version: string) =>
      call(z.literal(true), 'DELETE', `/agents/${id}/versions/${version}`),

    // Runs as resources.
    runs: (id: string, query = '') => list(shapes.run, `/agents/${id}/runs${query}`),
    runDetail: (id: string, run: string) => call(shapes.runDetail, 'GET', `/agents/${id}/runs/${run}`),
    trace: (id: string, run: string) => call(shapes.trace, 'GET', `/agents/${id}/runs/${run}/trace`),
    events: (id: string, run: string, after?: number) =>
      stream(
        'GET',
        `/agents/${id}/runs/${run}/events`,
        undefined,
        after === undefined ? {} : { 'last-event-id': `${after}` },
      ),
    fork: (id: string, run: string, at: number, body: Json = {}) =>
      call(shapes.answer, 'POST', `/agents/${id}/runs/${run}/fork?at=${at}`, body),
    forkStream: (id: string, run: string, at: number, body: object = {}) =>
      stream('POST', `/agents/${id}/runs/${run}/fork?at=${at}`, { ...body, stream: true }),
    cancelRun: (id: string, run: string) => call(z.literal(true), 'POST', `/agents/${id}/runs/${run}/cancel`, {}),
    cancelTask: (task: string) => call(z.literal(true), 'POST', `/tasks/${task}/cancel`),
    stopTask: (task: string) => call(z.literal(true), 'PATCH', `/tasks/${task}`, { action: 'stop' }),

    // RAGFlow's.
    reset: (id: string) => call(z.looseObject({}), 'POST', `/agents/${id}/reset`),
    complete: (body: Json) => call(shapes.answer, 'POST', '/agents/chat/completions', body),
    completeStream: (body: object) => stream('POST', '/agents/chat/completions', { ...body, stream: true }),
    openai: async (id: string, body: Json) =>
      read(await send('POST', api(`/agents_openai/${id}/chat/completions`), body), shapes.openaiCompletion),
    openaiStream: async (id: string, body: object) => {
      const response = await send('POST', api(`/agents_openai/${id}/chat/completions`), { ...body, stream: true });
      return parseStream(await response.text(), shapes.openaiChunk, 'data: ').events;
    },
    sessions: (id: string, query = '') => list(shapes.session, `/agents/${id}/sessions${query}`),
    createSession: (id: string, body: Json = {}) => call(shapes.session, 'POST', `/agents/${id}/sessions`, body),
    session: (id: string, session: string) =>
      call(z.looseObject({ id: z.string(), dialog_id: z.string() }), 'GET', `/agents/${id}/sessions/${session}`),
    removeSession: (id: string, session: string) =>
      call(z.number().int(), 'DELETE', `/agents/${id}/sessions/${session}`),
    removeSessions: async (id: string, ids: readonly string[]) =>
      read(await send('DELETE', api(`/agents/${id}/sessions`), { ids }), z.looseObject({ code: z.literal(0) })),
    completeOld: (id: string, body: Json) => call(shapes.answer, 'POST', `/agents/${id}/completions`, body),
    publishOld: (id: string) => call(shapes.version, 'POST', `/agents/${id}/publish`, {}),
    preview: async (file: string) => send('GET', api(`/agents/attachments/${file}/preview?ext=txt`)),
    attachment: async (file: string) => send('GET', api(`/agents/attachments/${file}/download?ext=html`)),
    tryWebhook: (id: string, body: Json) => send('POST', api(`/agents/${id}/webhook/test`), body),
    botLogs: (id: string, message: string) => call(shapes.logs, 'GET', `/agentbots/${id}/logs/${message}`),
    upload: (id: string, name: string, content: string) => {
      const form = new FormData();
      form.append('file', new Blob([content], { type: 'text/plain' }), name);
      return call(shapes.file, 'POST', `/agents/${id}/upload`, form);
    },
    download: async (file: string) => (await send('GET', api(`/agents/download?id=${file}`))).text(),
    inputForm: (id: string, component: string) =>
      call(
        z.record(z.string(), z.looseObject({ type: z.string() })),
        'GET',
        `/agents/${id}/components/${component}/input-form`,
      ),
    debug: (id: string, component: string, params: Json) =>
      call(z.looseObject({}), 'POST', `/agents/${id}/components/${component}/debug`, { params }),
    logs: (id: string, message: string) => call(shapes.logs, 'GET', `/agents/${id}/logs/${message}`),
    templates: () => call(z.array(shapes.template), 'GET', '/agents/templates'),
    prompts: () => call(shapes.prompts, 'GET', '/agents/prompts'),
    tags: () => call(z.array(z.strictObject({ tag: z.string(), count: z.number().int() })), 'GET', '/agents/tags'),
    tag: (id: string, tags: Json) => call(z.literal(true), 'PUT', `/agents/${id}/tags`, { tags }),
    webhook: (id: string, body: Json) => send('POST', api(`/agents/${id}/webhook`), body),
    webhookLogs: (id: string) => call(shapes.webhookLogs, 'GET', `/agents/${id}/webhook/logs`),
    tokens: () => call(z.array(shapes.listedToken), 'GET', '/system/tokens'),
    createToken: () => call(shapes.token, 'POST', '/system/tokens', {}),
    removeToken: (token: string) => call(z.boolean(), 'DELETE', `/system/tokens/${token}`),
    botInputs: (id: string) => call(shapes.botInputs, 'GET', `/agentbots/${id}/inputs`),
    botStream: (id: string, body: Json) => stream('POST', `/agentbots/${id}/completions`, body),
    runtime: (method: 'GET' | 'POST' | 'DELETE', tenant: string, body?: Json) =>
      call(
        z.looseObject({ tenant_id: z.string(), runtime: z.string() }),
        method,
        `/admin/canvas-runtime/${tenant}`,
        body,
      ),
  };
}

async function read<T extends z.ZodType>(response: Response, shape: T): Promise<z.output<T>> {
  const text = await response.text();
  const parsed = shape.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new Error(`${response.url} is not as agreed: ${z.prettifyError(parsed.error)}\nin ${text.slice(0, 1_000)}`);
}

/** Frames as section 7.1 says: one `data:` line each, blank lines between them, `[DONE]` last and once. */
function parseStream<T extends z.ZodType>(raw: string, shape: T, mark: string) {
  const blocks = raw.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  const lines = blocks.map((block) => block.split('\n').find((line) => line.startsWith('data:')) ?? '');
  if (lines.at(-1) !== `${mark}[DONE]` || lines.filter((line) => line.endsWith('[DONE]')).length !== 1) {
    throw new Error(`The stream does not end as agreed: ${raw.slice(-200)}`);
  }
  const ids = blocks.flatMap((block) => block.match(/^id: ?(\d+)$/m)?.[1] ?? []).map(Number);
  const events = lines.slice(0, -1).map((line) => {
    if (!line.startsWith(`${mark}{`)) throw new Error(`A frame is not as agreed: ${line.slice(0, 100)}`);
    const parsed = shape.safeParse(JSON.parse(line.slice(5)));
    if (parsed.success) return parsed.data as z.output<T>;
    throw new Error(`An event is not as agreed: ${z.prettifyError(parsed.error)}\nin ${line.slice(0, 1_000)}`);
  });
  return { events, ids };
}
