import type { Dispatcher } from 'undici';
import { parseJson } from '../json.js';
import { invalidOption, requireWhole } from '../operators/invalid-option.js';
import { brokenOff, type CallTarget, refusal, unreachable, unusable } from './provider-error.js';

/** Values of an answer: a batch of embeddings has some hundred thousand numbers. */
const MAX_VALUES = 10_000_000;

/** Bytes of an error's body that are read; messages are shorter. */
const MAX_ERROR_BYTES = 64 * 1024;

/** A server of models, and how to reach it. */
export interface ConnectionOptions {
  /** Up to and with the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Never shown in errors. The provider puts it into `headers`. */
  readonly apiKey?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Path of chats; cut off the base URL, which users copy with it. @default none */
  readonly chatPath?: string | undefined;
  /** Sockets, or how to get them at the first call; shared by servers, closed by their owner. */
  readonly dispatcher: Dispatcher | (() => Promise<Dispatcher>);
  /** Longest silence, in milliseconds, before and within an answer. @default 600000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Longest call, in milliseconds, however busy. @default 3600000 */
  readonly timeoutMs?: number | undefined;
  /** Largest answer in bytes. @default 67108864 */
  readonly maxResponseBytes?: number | undefined;
}

/** One POST to a server. */
export interface PostCall {
  readonly path: string;
  readonly model: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added behind a comma to headers of these names, which are lists. */
  readonly listHeaders?: Readonly<Record<string, string>> | undefined;
}

/** A server of models that requests can be sent to. */
export interface Connection {
  readonly timeoutMs: number;
  /** Names a call in errors. */
  targetOf(call: Pick<PostCall, 'path' | 'model' | 'headers'>): CallTarget;
  /** Sends a call and gives the body of a 2xx answer; everything else is an EngineError. */
  open(call: PostCall): Promise<AnswerBody>;
  /** Sends a call and reads the whole answer. */
  read(call: PostCall): Promise<{ readonly bytes: Buffer; readonly mediaType: string }>;
  /** Sends a call and reads the whole answer as JSON. */
  readJson(call: PostCall): Promise<unknown>;
}

/** The body of an answer, in chunks as they arrive, never more than `maxResponseBytes` in all. */
export interface AnswerBody {
  readonly mediaType: string;
  readonly chunks: AsyncGenerator<Buffer, void, void>;
}

/**
 * A client of one server of models. Redirects are not followed; aborting the signal closes the socket at once.
 *
 * Errors of a call: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE`; none of them contains the key.
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { idleTimeoutMs = 600_000, timeoutMs = 3_600_000, maxResponseBytes = 64 * 1024 * 1024 } = options;
  requireWhole('createConnection', 'idleTimeoutMs', idleTimeoutMs, 1);
  requireWhole('createConnection', 'timeoutMs', timeoutMs, 1);
  requireWhole('createConnection', 'maxResponseBytes', maxResponseBytes, 1);
  const base = parseBaseUrl(options.baseUrl);
  const prefix = withoutEnd(base.pathname.replace(/\/+$/, ''), options.chatPath ?? '');
  const ownHeaders = lowerCased(options.headers);

  const targetOf: Connection['targetOf'] = (call) => ({
    model: call.model,
    endpoint: `${base.host}${prefix}${call.path}`,
    secrets: secretsOf(options.apiKey, ownHeaders, call.headers),
  });

  const open = async (call: PostCall): Promise<AnswerBody> => {
    const target = targetOf(call);
    const answer = await send(call).catch((error: unknown) => {
      throw unreachable(target, error);
    });
    const { statusCode: status, headers, body } = answer;
    // A body that is destroyed emits an error event, which would end the process without a listener.
    body.on('error', () => {});
    if (status < 200 || status > 299) {
      throw refusal(target, { status, headers, body: await readErrorBody(body) });
    }
    return { mediaType: mediaTypeOf(headers['content-type']), chunks: boundedChunks(body, target, maxResponseBytes) };
  };

  const send = async (call: PostCall): Promise<Dispatcher.ResponseData> => {
    // Not before the first call: see `createDispatcher`.
    const { request } = await import('undici');
    const { dispatcher } = options;
    // The query stays behind the path: Azure expects its `api-version` there.
    return request(`${base.origin}${prefix}${call.path}${base.search}`, {
      method: 'POST',
      headers: {
        ...withLists({ ...ownHeaders, ...lowerCased(call.headers) }, call.listHeaders),
        'content-type': 'application/json',
      },
      body: JSON.stringify(call.body),
      signal: call.signal,
      dispatcher: typeof dispatcher === 'function' ? await dispatcher() : dispatcher,
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
  };

  const read: Connection['read'] = async (call) => {
    const { mediaType, chunks } = await open(call);
    const parts: Buffer[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return { bytes: Buffer.concat(parts), mediaType };
  };

  const readJson: Connection['readJson'] = async (call) => {
    const { bytes } = await read(call);
    const value = parseJson(bytes.toString('utf8'), { maxValues: MAX_VALUES });
    if (value !== undefined) return value;
    const beginning = bytes.subarray(0, 100).toString('utf8');
    throw unusable(targetOf(call), `answered something that is not JSON: "${beginning}"`);
  };

  return { timeoutMs, targetOf, open, read, readJson };
}

/** Passes the chunks of a body, counts them, and releases the connection however reading ends. */
async function* boundedChunks(
  body: Dispatcher.ResponseData['body'],
  target: CallTarget,
  maxBytes: number,
): AsyncGenerator<Buffer, void, void> {
  let bytes = 0;
  let isRead = false;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw unusable(target, `answered more than ${maxBytes} bytes`);
      // A reader that stops early returns at the `yield`, where `isRead` is true.
      isRead = true;
      yield chunk;
      isRead = false;
    }
    isRead = true;
  } catch (error) {
    isRead = false;
    throw brokenOff(target, error, bytes);
  } finally {
    if (isRead) drain(body, bytes);
    else body.destroy();
  }
}

/** Reads what little follows the end mark of a stream, so that the connection can be used again; a longer rest closes it. */
function drain(body: Dispatcher.ResponseData['body'], bytes: number): void {
  const ignore = (): void => {};
  body.dump({ limit: bytes + MAX_ERROR_BYTES, signal: AbortSignal.timeout(2_000) }).then(ignore, ignore);
}

async function readErrorBody(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status is enough; a body that breaks off is quoted as far as it was received.
  }
  return Buffer.concat(parts).toString('utf8');
}

function parseBaseUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const allowed = 'an http or https URL without a password';
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalidOption('createConnection', 'baseUrl', allowed, baseUrl);
  }
  // Quoted without the credentials.
  if (url.username !== '' || url.password !== '') {
    throw invalidOption('createConnection', 'baseUrl', allowed, `${url.protocol}//***@${url.host}`);
  }
  return url;
}

function withoutEnd(text: string, end: string): string {
  return end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withLists(headers: Record<string, string>, lists: PostCall['listHeaders'] = {}): Record<string, string> {
  const added = Object.entries(lists).map(([name, value]) => {
    const given = headers[name];
    return [name, given === undefined ? value : `${given},${value}`];
  });
  return { ...headers, ...Object.fromEntries(added) };
}

/** Every header may carry a key (`api-key`, `x-api-key` …); short values would only mangle messages. */
function secretsOf(apiKey: string | undefined, ...headers: (Readonly<Record<string, string>> | undefined)[]): string[] {
  const values = headers.flatMap((some) => Object.values(some ?? {})).filter((value) => value.length >= 8);
  return apiKey ? [...values, apiKey] : values;
}

function mediaTypeOf(contentType: string | string[] | undefined): string {
  const value = Array.isArray(contentType) ? contentType[0] : contentType;
  return value?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
