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
import { invalidOption, requireObject, requireWhole } from '../../operators/invalid-option.js';
import { connectTo, type EgressConnection, type EgressTarget } from './connect.js';
import { type Resolver, resolveWithSystem } from './dial.js';
import { describeUrl, egressError } from './failures.js';
import { type Answer, type EgressRequest, follow, type Policy } from './follow.js';
import { decodeText } from './read-body.js';
import { sendOverOwnConnection, type Transport } from './transport.js';

export type { EgressRequest };

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

/** An answer, whatever its status. */
export interface EgressResponse extends Answer {
  /** Empty when there is none. */
  readonly contentType: string;
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
  requireObject('createEgressClient', 'options', options, 'an object');
  const { maxBytes = 16 * 1024 * 1024, timeoutMs = 60_000, maxRedirects = 10 } = options;
  checkBounds('createEgressClient', { maxBytes, timeoutMs });
  requireWhole('createEgressClient', 'maxRedirects', maxRedirects, 0);
  const policy: Policy = {
    reach: options.allowPrivateNetwork ? 'private' : 'public',
    resolver: options.resolver ?? resolveWithSystem,
    maxRedirects,
    userAgent: options.userAgent ?? 'runnel',
    trusted: options.trustedCertificates,
    transport: options.transport ?? sendOverOwnConnection,
  };
  const closed$ = new ReplaySubject<void>(1);
  return {
    fetch: (request) =>
      defer(() => {
        const bounds = { maxBytes: request.maxBytes ?? maxBytes, timeoutMs: request.timeoutMs ?? timeoutMs };
        checkBounds('fetch', bounds);
        const asked = `${request.method ?? 'GET'} ${describeUrl(request.url)}`;
        return fromAbortable((signal) => follow({ ...request, ...bounds }, policy, signal)).pipe(
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

function toResponse(answer: Answer): EgressResponse {
  const contentType = answer.headers['content-type'] ?? '';
  return { ...answer, contentType, text: () => decodeText(answer.bytes, contentType) };
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
  requireWhole(owner, 'maxBytes', maxBytes, 1);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw invalidOption(owner, 'timeoutMs', `1 to ${MAX_TIMEOUT_MS}`, timeoutMs);
  }
}
