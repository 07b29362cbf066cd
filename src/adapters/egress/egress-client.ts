/** HTTP requests to servers that documents, models and web pages name. */
import {
  catchError,
  defer,
  identity,
  type MonoTypeOperatorFunction,
  map,
  type Observable,
  ReplaySubject,
  takeUntil,
  throwError,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { TraceContext } from '../../trace-context.js';
import { connectTo, type EgressConnection, type EgressTarget } from './connect.js';
import { type Resolver, resolveWithSystem } from './dial.js';
import { describeUrl, egressError } from './failures.js';
import { type Answer, createFollower, type Policy } from './follow.js';
import { decodeText } from './read-body.js';
import type { HttpMethod } from './request-headers.js';
import { sendOverOwnConnection, type Transport } from './transport.js';

/** How an egress client is built. */
export interface EgressOptions {
  /** Lets URLs reach private and loopback addresses, but no metadata services. @default false */
  readonly allowPrivateNetwork?: boolean;
  /** Gives all addresses of a name. @default the operating system's */
  readonly resolver?: Resolver;
  /** Bytes that an answer may have, after decompression; at least 1. @default 16 MiB */
  readonly maxBytes?: number;
  /** Milliseconds for a whole request, redirects and body included; 1 to 2^31 - 1. @default 60_000 */
  readonly timeoutMs?: number;
  /** Redirects that are followed, at least 0. @default 10 */
  readonly maxRedirects?: number;
  /** @default 'runnel' */
  readonly userAgent?: string;
  /** PEM certificates that are trusted in place of Node's. @default Node's, with those of `NODE_EXTRA_CA_CERTS` */
  readonly trustedCertificates?: readonly string[];
  /** Removes further secrets from the message of an error. @default nothing more */
  readonly redact?: (message: string) => string;
  /** How a request gets onto the wire; for tests. @default one connection per request */
  readonly transport?: Transport;
}

/** One request. Its trace context is what `traceContextOf` gives; another origin behind a redirect sees only `traceparent`. */
export interface EgressRequest extends TraceContext {
  /** `http` or `https`, without credentials. */
  readonly url: string;
  /** @default 'GET' */
  readonly method?: HttpMethod;
  /** Names in any case. Those that belong to the connection (`host`, `content-length` …) are left out. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** @default that of the client */
  readonly timeoutMs?: number;
  /** @default that of the client */
  readonly maxBytes?: number;
  /** Otherwise a redirect is an answer like any other. @default true */
  readonly followRedirects?: boolean;
  /** `http://[user:password@]host:port`. Without `allowPrivateNetwork` only targets without a name go through a proxy. */
  readonly proxy?: string;
  /** The host was set by the operator and not by an author or a model: it may be anywhere. Redirects to others may not. */
  readonly isFixedByOperator?: boolean;
}

/** An answer, whatever its status. */
export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; several values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there is none. */
  readonly contentType: string;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly bytes: Uint8Array;
  /** The body in its character set. */
  text(): string;
}

/** See {@link createEgressClient}. */
export interface EgressClient {
  /** One subscription is one request; emits its answer. Unsubscribing closes the connection at once. */
  fetch(request: EgressRequest): Observable<EgressResponse>;
  /** Opens a connection for another protocol, to an address that was judged. See `connectTo`; it stays until unsubscribed. */
  connect(target: EgressTarget): Observable<EgressConnection>;
  /** Ends all requests with `EGRESS_FAILED`, later ones too, and closes all connections. */
  close(): void;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Makes the client through which every node and tool asks servers that it did not choose itself.
 *
 * - Only `http` and `https`, only public addresses: all that a name resolves to are checked, and the connection goes to those
 *   only, so that a name cannot resolve to something else later. Every redirect is checked like a first URL, and another origin gets
 *   none of the caller's headers that could be a credential.
 * - Time, redirects, headers and body have bounds; the body's counts after decompression.
 * - It does not retry: `retryable` of an error says whether trying again may help.
 *
 * Errors of `fetch`: `URL_INVALID`, `URL_BLOCKED`, `OPTION_INVALID` (headers, bounds), `EGRESS_REDIRECTS`, `EGRESS_TOO_LARGE`;
 * retryable: `EGRESS_TIMEOUT`, `EGRESS_FAILED` (unless another try must fail too). No message holds more of a URL than its
 * origin, nor anything that was sent or received.
 *
 * @throws EngineError OPTION_INVALID at construction.
 */
export function createEgressClient(options: EgressOptions = {}): EgressClient {
  const { maxBytes = 16 * 1024 * 1024, timeoutMs = 60_000, maxRedirects = 10 } = options;
  checkBounds('createEgressClient', { maxBytes, timeoutMs });
  if (!(Number.isSafeInteger(maxRedirects) && maxRedirects >= 0)) {
    throw invalidOption('createEgressClient', 'maxRedirects', 'a whole number of at least 0', maxRedirects);
  }
  const policy: Policy = {
    allowPrivateNetwork: options.allowPrivateNetwork ?? false,
    resolver: options.resolver ?? resolveWithSystem,
    maxRedirects,
    userAgent: options.userAgent ?? 'runnel',
    trusted: options.trustedCertificates,
    transport: options.transport ?? sendOverOwnConnection,
  };
  const follow = createFollower(policy);
  const closed$ = new ReplaySubject<void>(1);
  return {
    fetch: (request) =>
      defer(() => {
        const bounds = { maxBytes: request.maxBytes ?? maxBytes, timeoutMs: request.timeoutMs ?? timeoutMs };
        checkBounds('fetch', bounds);
        const asked = `${request.method ?? 'GET'} ${describeUrl(request.url)}`;
        return fromAbortable((signal) => follow({ ...request, ...bounds }, signal)).pipe(
          timeout({ first: bounds.timeoutMs, with: () => throwError(() => expired(asked, bounds.timeoutMs)) }),
          map(toResponse),
          takeUntil(closed$),
          throwIfEmpty(() => egressError('EGRESS_FAILED', asked, 'the client was closed')),
        );
      }).pipe(options.redact === undefined ? identity : redactWith(options.redact)),
    connect: (target) =>
      connectTo(target, policy).pipe(
        takeUntil(closed$),
        throwIfEmpty(() => egressError('EGRESS_FAILED', 'Connection', 'the client was closed')),
      ),
    close: () => closed$.next(),
  };
}

function expired(asked: string, timeoutMs: number): EngineError {
  return egressError('EGRESS_TIMEOUT', asked, `there was no whole answer within ${timeoutMs} milliseconds`, true);
}

function toResponse({ status, headers, url, bytes }: Answer): EgressResponse {
  const contentType = headers['content-type'] ?? '';
  return { status, headers, contentType, url, bytes, text: () => decodeText(bytes, contentType) };
}

function redactWith<T>(redact: (message: string) => string): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    if (!EngineError.is(error)) throw error;
    const { code, message, retryable, details } = error;
    throw new EngineError(code, redact(message), { retryable, details });
  });
}

function checkBounds(
  owner: string,
  { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
) {
  if (!(Number.isSafeInteger(maxBytes) && maxBytes >= 1)) {
    throw invalidOption(owner, 'maxBytes', 'a whole number of at least 1', maxBytes);
  }
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw invalidOption(owner, 'timeoutMs', `1 to ${MAX_TIMEOUT_MS}`, timeoutMs);
  }
}
