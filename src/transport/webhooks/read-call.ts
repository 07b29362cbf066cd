/** Reads what a webhook was called with. */
import type { IncomingMessage } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import { isTooDeep, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../json.js';
import { parseMultipart, toFile, type UploadedFile } from '../files/read-multipart.js';
import { readBytes } from '../http/read-bytes.js';
import { refuse } from './refusal.js';
import { bodyTooLarge } from './webhook-security.js';

/** A call as it came. */
export interface WebhookCall {
  readonly query: JsonObject;
  /** Names in lower case. */
  readonly headers: JsonObject;
  readonly body: Json;
  /** Without parameters, in lower case; empty without a body. */
  readonly contentType: string;
}

export interface ReadCallOptions {
  readonly maxBytes: number;
  /** What a body has to be; undefined: anything. */
  readonly contentType: string | undefined;
  /** Keeps a file and gives what the agent sees of it. */
  readonly takeFile: (file: UploadedFile) => Promise<Json>;
}

const MAX_FILES = 10;

/** Fields of a form; objects with very many names take seconds to make. */
const MAX_FIELDS = 10_000;

/** @throws EngineError BAD_REQUEST when the body is not what it has to be, or says that it is. */
export async function readCall(
  request: IncomingMessage,
  query: ParsedUrlQuery,
  options: ReadCallOptions,
): Promise<WebhookCall> {
  const bytes = await readBytes(request, options.maxBytes, (size) => bodyTooLarge(size, options.maxBytes));
  const header = request.headers['content-type'] ?? '';
  const contentType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const { contentType: expected } = options;
  if (bytes.length > 0 && expected !== undefined && contentType !== expected) {
    throw refuse(`Invalid Content-Type: expect '${expected}', got '${contentType}'`);
  }
  return {
    query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value ?? ''])),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    body: bytes.length === 0 ? {} : await parse(bytes, contentType, header, options),
    contentType: bytes.length === 0 ? '' : contentType,
  };
}

async function parse(bytes: Buffer, contentType: string, header: string, options: ReadCallOptions): Promise<Json> {
  if (contentType === 'application/json' || contentType.endsWith('+json')) {
    const value = tryParse(bytes);
    if (value === undefined) throw refuse('The body is not valid JSON.');
    if (isTooDeep(value)) throw refuse(`The body has more than ${MAX_JSON_DEPTH} levels of lists and objects.`);
    return value;
  }
  if (contentType === 'application/x-www-form-urlencoded') return formOf(new URLSearchParams(bytes.toString('utf8')));
  if (contentType === 'multipart/form-data') return partsOf(await parseMultipart(bytes, header), options);
  const value = tryParse(bytes) ?? {};
  return isTooDeep(value) ? {} : value;
}

function tryParse(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

/** The first value of each name. */
function formOf(form: URLSearchParams): JsonObject {
  if (form.size > MAX_FIELDS) throw tooManyFields();
  return Object.fromEntries([...form].reverse());
}

function tooManyFields(): Error {
  return refuse(`Too many fields: at most ${MAX_FIELDS} are taken`);
}

async function partsOf(form: FormData, { takeFile }: ReadCallOptions): Promise<JsonObject> {
  const values = new Map<string, Json>();
  let files = 0;
  for (const [name, part] of form) {
    if (values.size >= MAX_FIELDS) throw tooManyFields();
    if (typeof part === 'string') {
      if (!values.has(name)) values.set(name, part);
      continue;
    }
    files += 1;
    if (files > MAX_FILES) throw refuse(`Too many uploaded files: at most ${MAX_FILES} are taken`);
    const before = values.get(name);
    values.set(name, [...(Array.isArray(before) ? (before as Json[]) : []), await takeFile(await toFile(part))]);
  }
  return Object.fromEntries(values);
}
