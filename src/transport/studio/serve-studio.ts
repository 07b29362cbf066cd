/** Serves the page and its files: open to all who reach the server, as nothing in them is a secret. */
import type { Middleware, ParameterizedContext } from 'koa';
import { checkOrigin, type GuardOptions } from '../http/guards.js';
import { ENCODINGS, type Studio, type StudioEncoding, type StudioFile } from './studio-files.js';

/** What a page may do: load its own files and talk to its own server. Texts become code only in the policy that makes its workers. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types studio-worker',
].join('; ');

/** A worker has the policy that its own file comes with, so every file carries it. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': PAGE_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/**
 * Answers `GET /` with the page where a client prefers HTML, and the paths of its files with them; everything else goes on to the
 * routes. No other origin may read them.
 */
export function serveStudio({ page, files }: Studio, guard: GuardOptions): Middleware {
  return async (exchange, next) => {
    const { method, path, headers } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && path === '/') {
      if (exchange.accepts('json', 'html') === 'html') {
        // A link on another site may lead here: what it opens is the page alone, which no site can read or frame.
        checkOrigin(guard, isOpened(headers) ? { host: headers.host } : headers);
        send(exchange, page);
      } else await next();
      exchange.vary('Accept');
      return;
    }
    const file = isRead ? files.get(path.slice(1)) : undefined;
    if (file === undefined) return next();
    checkOrigin(guard, headers);
    send(exchange, file);
  };
}

/** Whether a person goes to the address, in a tab or window. */
function isOpened(headers: ParameterizedContext['headers']): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function send(exchange: ParameterizedContext, file: StudioFile): void {
  const encoding = encodingOf(exchange, file);
  exchange.set(HEADERS);
  exchange.vary('Accept-Encoding');
  exchange.set('Cache-Control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  exchange.status = 200;
  exchange.etag = encoding === undefined ? file.hash : `${file.hash}-${encoding}`;
  if (exchange.fresh) {
    exchange.status = 304;
    return;
  }
  exchange.set('Content-Type', file.type);
  if (encoding !== undefined) exchange.set('Content-Encoding', encoding);
  exchange.body = encoding === undefined ? file.bytes : file.compressed[encoding];
}

/** The best way to compress that the client takes and the build made. */
function encodingOf(exchange: ParameterizedContext, { compressed }: StudioFile): StudioEncoding | undefined {
  return ENCODINGS.find((one) => compressed[one] !== undefined && exchange.acceptsEncodings(one) === one);
}
