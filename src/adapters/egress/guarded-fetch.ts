/** `fetch` for libraries that bring their own protocol: streaming, under the policy of the one egress client. */
import type { Readable } from 'node:stream';
import { noop } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { TraceContext } from '../../trace-context.js';
import { type Resolver, resolveHost, resolveWithSystem } from './dial.js';
import { describeUrl, exchangeFailure } from './failures.js';
import { type BodyLimits, tooLarge } from './read-body.js';
import { HTTP_METHODS, type HttpMethod, requestHeaders } from './request-headers.js';
import { sendOverOwnConnection, type Transport, type WireAnswer } from './transport.js';
import { checkUrl, type Reach } from './url-policy.js';

/** How a guarded `fetch` is made. */
export interface GuardedFetchOptions {
  /** Lets URLs reach private and loopback addresses, but no metadata services. @default false */
  readonly allowPrivateNetwork?: boolean;
  /** A URL of the operator: its origin may be anywhere, as in `isFixedByOperator` of the egress client. @default none */
  readonly fixedUrl?: string;
  /** Bytes of an answer; of an event stream, of each of its events. At least 1. @default 4 MiB */
  readonly maxBytes?: number;
  /** Bytes of a whole event stream. @default unbounded, for the caller ends it */
  readonly maxStreamBytes?: number;
  /** Passed on with every request that does not bring its own. @default none */
  readonly trace?: TraceContext;
  /** Gives all addresses of a name. @default the operating system's */
  readonly resolver?: Resolver;
  /** @default 'runnel' */
  readonly userAgent?: string;
  /** PEM certificates that are trusted in place of Node's. @default Node's */
  readonly trustedCertificates?: readonly string[];
  /** How a request gets onto the wire; for tests. @default one connection per request */
  readonly transport?: Transport;
}

/** What of a request is read; a body is text. */
export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers?: ConstructorParameters<typeof Headers>[0] | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** See {@link createGuardedFetch}. */
export interface GuardedFetch {
  /** As the `fetch` of the standard with `redirect: 'manual'`. */
  fetch(url: string | URL, request?: GuardedRequest): Promise<Response>;
  /** Closes every connection; later requests are refused with `EGRESS_FAILED`. */
  close(): void;
}

/** Statuses whose answers have no body. */
const BODILESS = new Set([204, 205, 304]);

/**
 * Makes a `fetch` whose every connection is judged and pinned like one of the egress client.
 *
 * Redirects are answers: following one is a new request, which is checked again. There is no time limit but the one for
 * connecting; the caller aborts. Answers come uncompressed, so that the bound counts what is read.
 *
 * Rejects with `URL_INVALID`, `URL_BLOCKED`, `OPTION_INVALID`, `EGRESS_FAILED`, or the reason of the signal; the stream of
 * a body errors with `EGRESS_TOO_LARGE` or `EGRESS_FAILED`. No message holds more of a URL than its origin.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const {
    maxBytes = 4 * 1024 * 1024,
    maxStreamBytes = Number.POSITIVE_INFINITY,
    transport = sendOverOwnConnection,
  } = options;
  const open = new Set<AbortController>();
  let isClosed = false;
  return {
    async fetch(target, request = {}) {
      const { signal } = request;
      signal?.throwIfAborted();
      const hop = readRequest(options, target, request);
      if (isClosed) throw exchangeFailure(new Error('closed'), hop.asked);
      const abort = new AbortController();
      const stop = (): void => abort.abort(signal?.reason);
      const done = (): void => {
        open.delete(abort);
        signal?.removeEventListener('abort', stop);
      };
      open.add(abort);
      signal?.addEventListener('abort', stop, { once: true });
      try {
        const resolver = options.resolver ?? resolveWithSystem;
        const addresses = await resolveHost(hop.url, { resolver, reach: hop.reach, what: 'URL' });
        abort.signal.throwIfAborted();
        const fixed = { proxy: undefined, trusted: options.trustedCertificates };
        const wire = await transport({ ...hop, ...fixed, addresses }, abort.signal);
        return responseOf(wire, { maxBytes, maxStreamBytes, asked: hop.asked }, done);
      } catch (error) {
        done();
        throw signal?.aborted === true ? signal.reason : exchangeFailure(error, hop.asked);
      }
    },
    close() {
      isClosed = true;
      for (const one of open) one.abort();
    },
  };
}

function readRequest(options: GuardedFetchOptions, target: string | URL, request: GuardedRequest) {
  const reach = reachOf(options, target);
  const url = checkUrl(String(target), { reach });
  const method = methodOf(request.method);
  const given = Object.fromEntries(new Headers(request.headers));
  const { userAgent = 'runnel', trace = {} } = options;
  const headers = { ...requestHeaders(given, { userAgent, trace }), 'accept-encoding': 'identity' };
  return { url, reach, method, headers, body: bodyOf(request.body), asked: `${method} ${describeUrl(url.href)}` };
}

/** Only the very origin that the operator wrote is his. */
function reachOf({ fixedUrl, allowPrivateNetwork = false }: GuardedFetchOptions, target: string | URL): Reach {
  const text = String(target);
  if (fixedUrl !== undefined && URL.canParse(text) && new URL(text).origin === new URL(fixedUrl).origin) return 'any';
  return allowPrivateNetwork ? 'private' : 'public';
}

function methodOf(given = 'GET'): HttpMethod {
  const method = HTTP_METHODS.find((one) => one === given.toUpperCase());
  if (method !== undefined) return method;
  throw new EngineError('OPTION_INVALID', `fetch: method must be one of ${HTTP_METHODS.join(', ')}.`);
}

function bodyOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new EngineError('OPTION_INVALID', 'fetch: body must be a text or bytes.');
}

/** Bounds of an answer, and of a stream of them. */
interface AnswerLimits extends BodyLimits {
  readonly maxStreamBytes: number;
}

function responseOf(wire: WireAnswer, limits: AnswerLimits, done: () => void): Response {
  const { status, body } = wire;
  const headers = new Headers();
  for (const [name, value] of Object.entries(wire.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  body.once('close', () => {
    done();
    wire.close();
  });
  // Never removed: an error of a stream without a listener would end the process.
  body.on('error', noop);
  if (BODILESS.has(status)) {
    body.destroy();
    return new Response(null, { status, headers });
  }
  return new Response(streamOf(body, limits, headers.get('content-type') ?? ''), { status, headers });
}

/** By hand: the adapters of Node leave errors behind, and streams open, when a reader lets go half-way. */
function streamOf(body: Readable, limits: AnswerLimits, contentType: string): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  const count = boundMessages(limits, contentType);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (done === true) {
          controller.close();
          return;
        }
        count(value);
        controller.enqueue(value);
      } catch (error) {
        body.destroy();
        controller.error(exchangeFailure(error, limits.asked));
      }
    },
    cancel() {
      body.destroy();
    },
  });
}

const CR = 13;
const LF = 10;

/**
 * Counts a body as it arrives: the returned function gets every piece and throws at the first byte too many, of the whole
 * body or, for an event stream, which may never end, of one event and of the stream.
 *
 * Errors of that function: `EGRESS_TOO_LARGE`.
 */
function boundMessages(limits: AnswerLimits, contentType: string): (piece: Uint8Array) => void {
  const isEvents = /^\s*text\/event-stream\b/i.test(contentType);
  let bytes = 0;
  let streamBytes = 0;
  let lineBytes = 0;
  let wasReturn = false;
  // An empty line ends an event, whichever way its lines end.
  const countEvents = (piece: Uint8Array): void => {
    streamBytes += piece.length;
    if (streamBytes > limits.maxStreamBytes) throw tooLarge({ ...limits, maxBytes: limits.maxStreamBytes });
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      bytes += 1;
      if (bytes > limits.maxBytes) throw tooLarge(limits);
      if (byte !== CR && byte !== LF) lineBytes += 1;
      else if (!(byte === LF && wasReturn)) {
        if (lineBytes === 0) bytes = 0;
        lineBytes = 0;
      }
      wasReturn = byte === CR;
    }
  };
  const countBytes = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes > limits.maxBytes) throw tooLarge(limits);
  };
  return isEvents ? countEvents : countBytes;
}
