/** Files that the server fetches for a client, through its egress client. */
import type { Observable } from 'rxjs';
import { ownText } from '../../dsl/json-copy.js';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { forClient } from '../http/client-left.js';
import type { HttpExchange } from '../http/route.js';
import { endingOf } from './content-headers.js';
import type { FetchedFile } from './receive-upload.js';

/** The part of the egress client that files are fetched with; it decides which addresses may be reached. */
interface UrlReader {
  fetch(request: { readonly url: string; readonly maxBytes: number }): Observable<{
    readonly status: number;
    readonly contentType: string;
    /** After redirects. */
    readonly url: string;
    readonly bytes: Uint8Array;
  }>;
}

/** Endings of files that a URL without one gives. */
const ENDINGS: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'text/markdown': 'md',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'image/png': 'png',
  'image/jpeg': 'jpg',
};

/**
 * Fetches a file from a URL that a client sent, through the server's egress client; it ends with the client.
 *
 * @throws EngineError CONFIG_INVALID for a server without such a client, NOT_FOUND unless the answer is a 2xx, BAD_REQUEST when the client has
 * left, URL_* and EGRESS_* of the egress client.
 */
export async function fetchFile(
  exchange: HttpExchange,
  http: unknown,
  url: string,
  maxBytes: number,
): Promise<FetchedFile> {
  if (!isUrlReader(http)) {
    throw new EngineError('CONFIG_INVALID', 'This server does not fetch files from URLs; send the file itself.');
  }
  const answer = await forClient(exchange, http.fetch({ url, maxBytes }));
  if (answer === undefined) throw badArgument('The client left before its file was fetched.');
  if (answer.status < 200 || answer.status > 299) {
    throw new EngineError('NOT_FOUND', `The URL answered with HTTP status ${answer.status}, so there is no file.`);
  }
  const mimeType = answer.contentType.split(';', 1)[0]?.trim().toLowerCase() || 'application/octet-stream';
  return { name: nameOf(answer.url, mimeType), mimeType, bytes: answer.bytes };
}

function isUrlReader(value: unknown): value is UrlReader {
  return typeof value === 'object' && value !== null && 'fetch' in value && typeof value.fetch === 'function';
}

function nameOf(url: string, mimeType: string): string {
  const { pathname, hostname } = new URL(url);
  const last = decoded(pathname.split('/').at(-1) ?? '');
  const name = last === '' ? hostname : last;
  const ending = ownText(ENDINGS, mimeType);
  return last !== '' && endingOf(last) !== '' ? last : `${name}${ending === undefined ? '' : `.${ending}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).replace(/[/\\]/g, '_');
  } catch {
    return text;
  }
}
