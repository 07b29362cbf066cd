import type { EgressClient } from '../../adapters/egress/egress-client.js';
import type { Headers } from '../../adapters/egress/request-headers.js';
import { EngineError } from '../../errors.js';
import { firstValue } from '../../operators/from-abortable.js';
import { requireMethods, requireOptions } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import { parserByExtension } from '../parsers/parser-by-extension.js';
import type { DocumentLoader, LoadFunction, ParseFunction } from '../ports.js';
import { requireText } from '../require-input.js';

/** How URLs are loaded. */
export interface UrlLoaderOptions {
  /** Sends the requests; it checks every address and bounds time and bytes. */
  readonly http: EgressClient;
  /** Reads the bytes. @default `parserByExtension()`, which heeds the media type */
  readonly parser?: ParseFunction;
  /** Sent with every request. @default none */
  readonly headers?: Headers;
  /** Milliseconds for a request. @default that of the client */
  readonly timeoutMs?: number;
  /** Bytes of an answer at most. @default those of the client */
  readonly maxBytes?: number;
  /** @default 'urlLoader' */
  readonly name?: string;
}

const OPTIONS = ['http', 'parser', 'headers', 'timeoutMs', 'maxBytes', 'name'];

/** Statuses that another try may not give. */
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * A loader of `http` and `https` URLs, one `GET` per call. The format is told by media type and path. Ids and `source` are the URL that was
 * asked for; where redirects led elsewhere, `finalUrl` says where.
 *
 * Errors of a call: those of the client (`URL_INVALID`, `URL_BLOCKED`, `EGRESS_TIMEOUT` …), `EGRESS_FAILED` with `details: { status }` for
 * a status other than 2xx, and those of the parser. A signal closes the connection at once.
 */
export function urlLoader(options: UrlLoaderOptions): DocumentLoader {
  requireOptions('urlLoader', options, OPTIONS, 'an object with "http"');
  requireMethods('urlLoader', 'http', options.http, ['fetch'], 'what createEgressClient(…) gives');
  const { http, parser = parserByExtension(), headers, timeoutMs, maxBytes, name = 'urlLoader' } = options;
  const request = {
    ...(headers !== undefined && { headers }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
  const load: LoadFunction = async (uri, call = {}) => {
    requireText(name, 'URI', uri);
    const answer = await firstValue(http.fetch({ ...request, url: uri }), call.signal);
    const { status, bytes, contentType, url } = answer;
    if (status < 200 || status > 299) throw refused(url, status);
    const isElsewhere = withoutFragment(url) !== withoutFragment(uri);
    const metadata = { ...(isElsewhere && { finalUrl: url }), ...call.metadata };
    return await parser({ bytes, uri, mimeType: contentType }, { ...call, metadata });
  };
  return componentFunction(name, 'loader', load);
}

/** As the client writes it. */
function withoutFragment(url: string): string {
  return (URL.canParse(url) ? new URL(url).href : url).replace(/#.*$/s, '');
}

/** Without the path, which may hold secrets. */
function refused(url: string, status: number): EngineError {
  const origin = URL.canParse(url) ? new URL(url).origin : 'the server';
  return new EngineError(
    'EGRESS_FAILED',
    `The document could not be loaded: ${origin} answered with status ${status}. Check the address and whether it needs a key.`,
    { retryable: RETRYABLE.has(status), details: { status } },
  );
}
