/** Reading bodies: JSON, bytes, multipart. */
import type { IncomingMessage } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import type { Context, Middleware, ParameterizedContext } from 'koa';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { type Json, jsonErrorPlace, jsonExcess, parseJson } from '../../json.js';
import type { BytesInFlight, Flight, FlightOwner } from './bytes-in-flight.js';
import type { Guard } from './guards.js';
import { isMultipart, readParts } from './multipart.js';
import type { Dialect, HttpExchange, RequestState } from './route.js';

/** Bodies up to this size are not counted: there may be very many of them, and they are read at once. */
const SMALL_BYTES = 64 * 1024;

/**
 * Parses JSON bodies into `request.body`; without a body it is an empty object. Bodies of other types are left to their
 * routes when they are multipart, and refused otherwise: a form that another site submits must not pass for JSON.
 *
 * @param bodies counts what is being read
 * @param parse gives the value of the text of a body
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST (HTTP 400), LIMIT_REACHED (HTTP 503) from the guard; what `parse` throws.
 */
export function readJsonBody(
  maxBytes: number,
  bodies: BytesInFlight,
  parse: (text: string) => unknown = parseBody,
): Guard {
  const readText = bodyParser({
    // As text, because what is in it is counted before anything is built from it.
    enableTypes: ['text'],
    // Merged into the default, text/plain, by position, which takes its place.
    extendTypes: { text: ['application/json', 'application/*+json'] },
    parsedMethods: BODY_METHODS,
    // A number here is bytes.
    textLimit: maxBytes,
    onError: (error) => {
      throw readError(error, maxBytes);
    },
  });
  const readCounted = async (exchange: HttpExchange): Promise<void> => {
    refuseOtherTypes(exchange);
    const flight = openFlight(exchange, maxBytes, bodies);
    try {
      if (flight !== undefined && isOfUnknownLength(exchange)) {
        exchange.request.body = (await readBytes(exchange.req, maxBytes, { flight })).toString('utf8');
      } else {
        await (readText as Middleware)(exchange, async () => {});
      }
    } finally {
      flight?.close();
    }
    // A stream may keep the exchange for an hour; the text of its request is not needed that long.
    exchange.request.rawBody = '';
    const { body } = exchange.request;
    if (typeof body === 'string') exchange.request.body = parse(body);
  };
  return async (exchange) => {
    const { req } = exchange;
    if (!isSmallJson(req, maxBytes)) return readCounted(exchange);
    // It mostly comes with the head of its request, a moment later.
    await undefined;
    const bytes = wholeBody(req) ?? (await readBytes(req, maxBytes));
    exchange.request.body = parse(textOf(bytes));
  };
}

/** The same in a dialect. */
export function readJsonOf({ checkBody, parse }: Dialect, maxBytes: number, bodies: BytesInFlight): Guard {
  const read = readJsonBody(maxBytes, bodies, parse);
  return (exchange) => {
    checkBody(exchange);
    if (hasBody(exchange.headers)) return read(exchange);
    exchange.request.body = parse('');
  };
}

/** A body as nearly all are: small, as it is, and of a known length. */
function isSmallJson({ method = '', headers }: IncomingMessage, maxBytes: number): boolean {
  const type = headers['content-type'];
  if (type !== 'application/json' && type?.startsWith('application/json;') !== true) return false;
  if (!BODY_METHODS.includes(method) || headers['content-encoding'] !== undefined) return false;
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 && length <= Math.min(SMALL_BYTES, maxBytes);
}

/** The body of a request that has come already; undefined, and nothing is read, while some of it is still to come. */
function wholeBody(request: IncomingMessage): Buffer | undefined {
  if (request.readableLength !== Number(request.headers['content-length'])) return undefined;
  const bytes: Buffer | null = request.read();
  // Its end follows, and would be waited for by what comes next on the connection.
  if (!request.complete) request.resume();
  return bytes ?? undefined;
}

/** Without the mark that some programs begin a text with. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

const BYTE_ORDER_MARK = 0xfeff;

/** Counts a JSON body; one that is compressed may have any size. */
function openFlight(
  { request, state }: ParameterizedContext<RequestState>,
  maxBytes: number,
  bodies: BytesInFlight,
): Flight | undefined {
  if (!BODY_METHODS.includes(request.method) || !hasBody(request.headers)) return undefined;
  if (request.is('json', '+json') === false) return undefined;
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  const isPlain = !isCompressed(request.headers);
  if (isPlain && length <= SMALL_BYTES) return undefined;
  const bytes = isPlain ? Math.min(length, maxBytes) : maxBytes;
  const flight = bodies.open(ownerOf(state));
  if (!Number.isNaN(bytes)) flight.add(bytes);
  return flight;
}

/** Whose share a body counts against. */
export function ownerOf({ tenant = '', page }: Partial<RequestState>): FlightOwner {
  return { tenant, isPage: page !== undefined };
}

/** Its parser would read it without counting. */
function isOfUnknownLength({ request: { headers } }: Pick<Context, 'request'>): boolean {
  return headers['content-length'] === undefined && !isCompressed(headers);
}

function isCompressed(headers: Context['headers']): boolean {
  return !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '');
}

const BODY_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

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

/** How a body is read. */
export interface ReadBytesOptions {
  /** The error of a body that is too large. @default BODY_TOO_LARGE */
  readonly tooLarge?: (bytes: number) => Error;
  /** Counts the bytes as they come. @default they are not counted */
  readonly flight?: Flight;
}

/**
 * The body of a request.
 *
 * @throws EngineError BODY_TOO_LARGE, or what `tooLarge` gives; BAD_REQUEST when it breaks off; what `flight` throws.
 */
export async function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  { tooLarge = () => uploadTooLarge(maxBytes), flight }: ReadBytesOptions = {},
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(announced);
  const parts: Buffer[] = [];
  let bytes = 0;
  // By hand: leaving a loop over the request would destroy the socket, and with it the answer.
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: unknown): void => {
      request.off('data', take);
      parts.length = 0;
      reject(error);
    };
    const take = (part: Buffer): void => {
      bytes += part.length;
      try {
        if (bytes > maxBytes) throw tooLarge(bytes);
        flight?.add(part.length);
        parts.push(part);
      } catch (error) {
        refuse(error);
      }
    };
    request.on('data', take);
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

/** How many files of a multipart body are read into memory, and how they are counted. */
export interface ReadFilesOptions {
  readonly maxBytes: number;
  readonly maxFiles: number;
  readonly flight: Flight;
}

/**
 * The files of a multipart body in the field `field`, in order.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST when the body is not what its header says or has too many files; what `flight` throws.
 */
export async function readMultipart(
  request: IncomingMessage,
  field: string,
  { maxBytes, maxFiles, flight }: ReadFilesOptions,
): Promise<readonly UploadedFile[]> {
  if (!isMultipart(request)) throw badArgument(`\`${field}\` field is required.`);
  const files: { readonly name: string; readonly mimeType: string; readonly pieces: Buffer[] }[] = [];
  const limits = { maxBytes, maxFiles, onBytes: (bytes: number) => flight.add(bytes) };
  await readParts(request, limits, (head) => {
    if (head.field !== field || head.fileName === undefined) return undefined;
    const pieces: Buffer[] = [];
    files.push({ name: head.fileName || 'file', mimeType: head.mimeType, pieces });
    return (piece) => void pieces.push(piece);
  });
  return files.map(({ name, mimeType, pieces }) => ({ name, mimeType, bytes: Buffer.concat(pieces) }));
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
