/** Reading bodies: JSON, bytes, multipart. */
import type { IncomingMessage } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import type { Context, Middleware } from 'koa';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { type Json, jsonErrorPlace, jsonExcess, parseJson } from '../../json.js';

/**
 * Parses JSON bodies into `request.body`; without a body it is an empty object. Bodies of other types are left to their
 * routes when they are multipart, and refused otherwise: a form that another site submits must not pass for JSON.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST (HTTP 400) from the middleware.
 */
export function readJsonBody(maxBytes: number): Middleware {
  const parse = bodyParser({
    // As text, because what is in it is counted before anything is built from it.
    enableTypes: ['text'],
    // Merged into the default, text/plain, by position, which takes its place.
    extendTypes: { text: ['application/json', 'application/*+json'] },
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
    // A number here is bytes.
    textLimit: maxBytes,
    onError: (error) => {
      throw readError(error, maxBytes);
    },
  });
  return async (exchange, next) => {
    refuseOtherTypes(exchange);
    await parse(exchange, async () => {
      // A stream may keep the exchange for an hour; the text of its request is not needed that long.
      exchange.request.rawBody = '';
      const { body } = exchange.request;
      if (typeof body === 'string') exchange.request.body = parseBody(body);
      await next();
    });
  };
}

function refuseOtherTypes({ request }: Context): void {
  if (!['POST', 'PUT', 'PATCH'].includes(request.method) || !hasBody(request.headers)) return;
  if (request.is('json', '+json', 'multipart/form-data') !== false) return;
  throw badArgument('Send the body as JSON, with the header "Content-Type: application/json".');
}

function hasBody(headers: Context['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @throws EngineError BAD_REQUEST, for more than a body may have with HTTP 200, as every other argument. */
function parseBody(text: string): Json {
  if (text === '') return {};
  const value = /^[ \t\r\n]*[[{]/.test(text) ? parseJson(text) : undefined;
  if (value !== undefined) return value;
  const excess = jsonExcess(text);
  throw excess === undefined ? notJson(jsonErrorPlace(text)) : badArgument(`The request body ${excess}.`);
}

function readError(error: Error, maxBytes: number): EngineError {
  const { type, status } = error as Error & { readonly type?: string; readonly status?: number };
  if (type === 'entity.too.large' || status === 413) {
    return new EngineError('BODY_TOO_LARGE', `The request body is larger than ${maxBytes} bytes.`);
  }
  return notJson();
}

function notJson(place?: string): EngineError {
  const where = place === undefined ? '' : ` (${place})`;
  const details = { httpStatus: 400 };
  return new EngineError('BAD_REQUEST', `The request body is not a JSON object${where}.`, { details });
}

/** The body of a request. @throws EngineError BODY_TOO_LARGE, or what `tooLarge` gives; BAD_REQUEST when it breaks off. */
export async function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: (bytes: number) => Error = () => uploadTooLarge(maxBytes),
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(announced);
  const parts: Buffer[] = [];
  let bytes = 0;
  // By hand: leaving a loop over the request would destroy the socket, and with it the answer.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else reject(tooLarge(bytes));
    });
    request.once('end', resolve);
    request.once('error', reject);
    request.once('aborted', () => reject(badArgument('The upload broke off.')));
  });
  return Buffer.concat(parts);
}

function uploadTooLarge(maxBytes: number): EngineError {
  return new EngineError('BODY_TOO_LARGE', `request body too large. At most ${maxBytes} bytes are taken.`);
}

/** A file of a multipart body. */
export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Whether a request says that its body is multipart. */
export function isMultipart({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

/**
 * The files of a multipart body in the field `field`, in order.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST when the body is not what its header says.
 */
export async function readMultipart(
  request: IncomingMessage,
  field: string,
  maxBytes: number,
): Promise<readonly UploadedFile[]> {
  if (!isMultipart(request)) throw badArgument(`\`${field}\` field is required.`);
  const form = await parseMultipart(await readBytes(request, maxBytes), request.headers['content-type'] ?? '');
  return Promise.all(form.getAll(field).flatMap((part) => (typeof part === 'string' ? [] : [toFile(part)])));
}

/** @throws EngineError BAD_REQUEST. */
export async function parseMultipart(body: Uint8Array, contentType: string): Promise<FormData> {
  try {
    // Node's own parser of multipart bodies is reached through the answer of a fetch.
    return await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw badArgument('The body is not valid multipart/form-data.');
  }
}

/** A file of a parsed form. */
export async function toFile(file: File): Promise<UploadedFile> {
  return {
    name: baseName(file.name),
    mimeType: file.type === '' ? 'application/octet-stream' : file.type,
    bytes: new Uint8Array(await file.arrayBuffer()),
  };
}

/** Some clients send a whole path. */
function baseName(name: string): string {
  return name.split(/[/\\]/).at(-1) || 'file';
}
