/** One request from its URL to its whole answer: checks, connections, redirects. */
import { isIP } from 'node:net';
import type { TraceContext } from '../../trace-context.js';
import { type Resolver, resolveHost } from './dial.js';
import { describeUrl, egressError, exchangeFailure } from './failures.js';
import { readBody, tooLarge } from './read-body.js';
import {
  type Headers,
  type HttpMethod,
  type Redirectable,
  redirected,
  redirectLocation,
  requestHeaders,
} from './request-headers.js';
import type { Destination, Transport, WireAnswer } from './transport.js';
import { blocked, checkUrl, hostOf, type Reach } from './url-policy.js';

/** What all requests of a client share. */
export interface Policy {
  /** For URLs that the operator did not fix. */
  readonly reach: Reach;
  readonly resolver: Resolver;
  readonly maxRedirects: number;
  readonly userAgent: string;
  readonly trusted: readonly string[] | undefined;
  readonly transport: Transport;
}

/** One request. Its trace context is what `traceContextOf` gives; another origin behind a redirect sees only `traceparent`. */
export interface EgressRequest extends TraceContext {
  /** `http` or `https`, without credentials. */
  readonly url: string;
  /** @default 'GET' */
  readonly method?: HttpMethod;
  /** Names in any case. Those that belong to the connection (`host`, `content-length` …) are left out. */
  readonly headers?: Headers;
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

type BoundedRequest = EgressRequest & { readonly maxBytes: number };

/** A whole answer, whatever its status. */
export interface Answer {
  readonly status: number;
  /** Names in lower case; several values of one name joined by `, `. */
  readonly headers: Headers;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly bytes: Uint8Array;
}

/** One request of a chain of redirects; its URL is checked, its addresses are not known yet. */
interface Step extends Redirectable {
  readonly url: URL;
  readonly reach: Reach;
  /** The URL in messages. */
  readonly what: string;
  /** The request in messages. */
  readonly asked: string;
}

interface Redirect {
  readonly status: number;
  readonly location: string;
}

/** Carries out a request; aborting the signal closes whatever connection is open. */
export async function follow(request: BoundedRequest, policy: Policy, signal: AbortSignal): Promise<Answer> {
  let step = firstStep(request, policy);
  for (let redirects = 0; ; redirects++) {
    const given = await exchange(step, request, policy, signal);
    if ('bytes' in given) return given;
    if (redirects === policy.maxRedirects) {
      throw egressError('EGRESS_REDIRECTS', step.asked, `there were more than ${policy.maxRedirects} redirects`);
    }
    step = nextStep(step, given, policy);
  }
}

function firstStep(request: BoundedRequest, policy: Policy): Step {
  const { method = 'GET', body } = request;
  const reach = request.isFixedByOperator === true ? 'any' : policy.reach;
  const url = checkUrl(request.url, { reach });
  const headers = requestHeaders(request.headers ?? {}, { userAgent: policy.userAgent, trace: request });
  return { url, reach, method, headers, body, what: 'URL', asked: asking(method, url) };
}

/** Another origin is limited to public addresses, and gets no credentials. */
function nextStep(step: Step, { status, location }: Redirect, policy: Policy): Step {
  const what = `Redirect from ${describeUrl(step.url.href)} to`;
  const written = URL.canParse(location, step.url.href) ? new URL(location, step.url) : undefined;
  const reach = written?.origin === step.url.origin ? step.reach : policy.reach;
  const url = checkUrl(written?.href ?? location, { reach }, what);
  const request = redirected(step, status, url.origin === step.url.origin);
  return { ...request, url, reach, what, asked: asking(request.method, url) };
}

async function exchange(
  step: Step,
  request: BoundedRequest,
  policy: Policy,
  signal: AbortSignal,
): Promise<Answer | Redirect> {
  // What waits for the end of one exchange, such as its socket, waits no longer when that is over: there may be many of them.
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const proxy = request.proxy === undefined ? undefined : await resolveProxy(request.proxy, policy);
    const addresses = await addressesOf(step, proxy !== undefined, policy);
    signal.throwIfAborted();
    const { url, method, headers, body, asked } = step;
    const { trusted } = policy;
    const wire = await policy.transport({ url, addresses, method, headers, body, proxy, trusted, asked }, own.signal);
    try {
      const { status } = wire;
      const location = redirectLocation(status, headerOf(wire, 'location'));
      if (location !== undefined && request.followRedirects !== false) return { status, location };
      return { status, url: url.href, headers: headersOf(wire), bytes: await bytesOf(wire, step, request.maxBytes) };
    } finally {
      wire.close();
    }
  } catch (error) {
    throw exchangeFailure(error, step.asked);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function resolveProxy(text: string, policy: Policy): Promise<Destination> {
  const { reach } = policy;
  const url = checkUrl(text, { reach, allowCredentials: true }, 'Proxy');
  return { url, addresses: await resolveHost(url, { resolver: policy.resolver, reach, what: 'Proxy' }) };
}

/** A proxy resolves names itself, so the target of a request cannot be checked; an address can. */
async function addressesOf({ url, reach, what }: Step, isProxied: boolean, policy: Policy): Promise<readonly string[]> {
  if (!isProxied || isIP(hostOf(url)) !== 0) return resolveHost(url, { resolver: policy.resolver, reach, what });
  if (reach === 'public') throw blocked(what, url, 'a name that the proxy would resolve unchecked');
  return [];
}

async function bytesOf(wire: WireAnswer, { method, asked }: Step, maxBytes: number): Promise<Uint8Array> {
  if (method === 'HEAD' || wire.status === 204 || wire.status === 304) return new Uint8Array();
  const encoding = headerOf(wire, 'content-encoding') ?? '';
  // Refused at its head, before anything of it is read.
  if (Number(headerOf(wire, 'content-length') ?? 0) > maxBytes) throw tooLarge({ maxBytes, asked });
  return readBody(wire.body, encoding, { maxBytes, asked });
}

function headersOf(wire: WireAnswer): Headers {
  const names = Object.keys(wire.headers);
  return Object.fromEntries(names.map((name) => [name, headerOf(wire, name) ?? '']));
}

function headerOf({ headers }: WireAnswer, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

function asking(method: HttpMethod, url: URL): string {
  return `${method} ${describeUrl(url.href)}`;
}
