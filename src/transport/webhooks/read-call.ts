/** Reads what a webhook was called with, and casts it to what its author declared. */
import type { IncomingMessage } from 'node:http';
import type { ParsedUrlQuery } from 'node:querystring';
import { isJsonObject, type Json, type JsonObject, jsonExcess, parseJson } from '../../json.js';
import type { Flight } from '../http/bytes-in-flight.js';
import { parseMultipart, readBytes, toFile, type UploadedFile } from '../http/read-body.js';
import { type PartSchema, refuse } from './webhook-config.js';
import { bodyTooLarge } from './webhook-security.js';

/** A call as it came. */
export interface WebhookCall {
  readonly query: JsonObject;
  /** Names in lower case. */
  readonly headers: JsonObject;
  /** Of files only their names, each with an empty list. */
  readonly body: Json;
  /** The files of a form by name, those that {@link ReadCallOptions.isFile} names; the others are dropped unread. */
  readonly files: ReadonlyMap<string, readonly UploadedFile[]>;
  /** Without parameters, in lower case; empty without a body. */
  readonly contentType: string;
}

export interface ReadCallOptions {
  /** Counts the bytes of the body as they come. */
  readonly flight: Flight;
  readonly maxBytes: number;
  /** What a body has to be; undefined: anything. */
  readonly contentType: string | undefined;
  /** Whether a part of a form is meant to be a file. */
  readonly isFile: (name: string) => boolean;
}

const MAX_FILES = 10;

/** Fields of a form; objects with very many names take seconds to make. */
const MAX_FIELDS = 10_000;

/** @throws EngineError BAD_REQUEST when the body is not of the configured type, or not of the type that its header names. */
export async function readCall(
  request: IncomingMessage,
  query: ParsedUrlQuery,
  options: ReadCallOptions,
): Promise<WebhookCall> {
  const { maxBytes, flight } = options;
  const bytes = await readBytes(request, maxBytes, { tooLarge: (size) => bodyTooLarge(size, maxBytes), flight });
  const header = request.headers['content-type'] ?? '';
  const contentType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const { contentType: expected } = options;
  if (bytes.length > 0 && expected !== undefined && contentType !== expected) {
    throw refuse(`Invalid Content-Type: expect '${expected}', got '${contentType}'`);
  }
  const files = new Map<string, UploadedFile[]>();
  return {
    files,
    query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value ?? ''])),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    body: bytes.length === 0 ? {} : await parse(bytes, contentType, { header, files, isFile: options.isFile }),
    contentType: bytes.length === 0 ? '' : contentType,
  };
}

/** How a form is read. */
interface FormReading extends Pick<ReadCallOptions, 'isFile'> {
  /** The header with the type. */
  readonly header: string;
  /** Takes the files. */
  readonly files: Map<string, UploadedFile[]>;
}

async function parse(bytes: Buffer, contentType: string, reading: FormReading): Promise<Json> {
  if (contentType === 'application/json' || contentType.endsWith('+json')) {
    const text = bytes.toString('utf8');
    const value = parseJson(text);
    if (value === undefined) throw refuse(`The body ${jsonExcess(text) ?? 'is not valid JSON'}.`);
    return value;
  }
  if (contentType === 'application/x-www-form-urlencoded') return formOf(bytes);
  if (contentType === 'multipart/form-data') return partsOf(await parseMultipart(bytes, reading.header), reading);
  return parseJson(bytes.toString('utf8')) ?? {};
}

/** The first value of each name. Fields are counted before any is made. */
function formOf(bytes: Buffer): JsonObject {
  let fields = 1;
  for (let at = bytes.indexOf('&'); at !== -1; at = bytes.indexOf('&', at + 1)) {
    fields += 1;
    if (fields > MAX_FIELDS) throw tooManyFields();
  }
  return Object.fromEntries([...new URLSearchParams(bytes.toString('utf8'))].reverse());
}

function tooManyFields(): Error {
  return refuse(`Too many fields: at most ${MAX_FIELDS} are taken`);
}

async function partsOf(form: FormData, { files, isFile }: FormReading): Promise<JsonObject> {
  const values = new Map<string, Json>();
  let parts = 0;
  for (const [name, part] of form) {
    if (values.size >= MAX_FIELDS) throw tooManyFields();
    if (typeof part === 'string') {
      if (!values.has(name)) values.set(name, part);
      continue;
    }
    parts += 1;
    if (parts > MAX_FILES) throw refuse(`Too many uploaded files: at most ${MAX_FILES} are taken`);
    if (!isFile(name)) continue;
    values.set(name, []);
    files.set(name, [...(files.get(name) ?? []), await toFile(part)]);
  }
  return Object.fromEntries(values);
}

/** One part of a call. */
type PartName = 'query' | 'headers' | 'body';

/**
 * What a part of a call has of what its schema declares, each in its declared type: texts are cast, what is optional and
 * missing is empty by its type, everything else is dropped. Names of headers are compared without regard to case.
 *
 * @throws EngineError BAD_REQUEST naming the field.
 */
export function castValues(part: PartName, schema: PartSchema, given: JsonObject): JsonObject {
  const names = new Map(Object.keys(given).map((name) => [keyOf(part, name), name]));
  for (const name of schema.required) {
    if (!names.has(keyOf(part, name))) throw refuse(`${part} missing required field: ${name}`);
  }
  return Object.fromEntries(
    [...schema.types].map(([name, typeName]): [string, Json] => {
      const source = names.get(keyOf(part, name));
      const type = typeOf(typeName);
      if (source === undefined) return [name, type.empty];
      const where = `${part}.${name}`;
      const value = cast(where, type, given[source] ?? null);
      if (type.fits(value)) return [name, value];
      throw refuse(`${where} type mismatch: expected ${typeName}, got ${nameOf(value)}`);
    }),
  );
}

/** Names of headers have no case. */
function keyOf(part: PartName, name: string): string {
  return part === 'headers' ? name.toLowerCase() : name;
}

/** Whether a type of a schema is that of files. */
export function isFileType(name: string | undefined): boolean {
  return name !== undefined && /^(?:file|array<\s*file\s*>)$/.test(name);
}

/** What a type of a schema means. */
interface ValueType {
  /** The value where none is sent. */
  readonly empty: Json;
  readonly fits: (value: Json) => boolean;
  /** Reads a text as a value of the type. */
  readonly cast?: (where: string, text: string) => Json;
}

const TYPES: Readonly<Record<string, ValueType>> = {
  string: { empty: '', fits: (value) => typeof value === 'string' },
  number: { empty: 0, fits: (value) => typeof value === 'number', cast: castNumber },
  integer: { empty: 0, fits: (value) => Number.isInteger(value), cast: castNumber },
  boolean: { empty: false, fits: (value) => typeof value === 'boolean', cast: castBoolean },
  object: { empty: {}, fits: isJsonObject, cast: castJson },
  array: { empty: [], fits: (value) => Array.isArray(value), cast: castJson },
  // A file was parsed into a list.
  file: { empty: [], fits: () => true },
};

/** An unknown type cannot be checked. */
const UNKNOWN: ValueType = { empty: null, fits: () => true };

function typeOf(name: string): ValueType {
  if (Object.hasOwn(TYPES, name)) return TYPES[name] as ValueType;
  if (!name.startsWith('array')) return UNKNOWN;
  const inner = /^array<(.+)>$/.exec(name)?.[1]?.trim();
  const isList = (value: Json): boolean => Array.isArray(value) && (value as Json[]).every(typeOf(inner ?? '').fits);
  return { empty: [], fits: inner === undefined ? UNKNOWN.fits : isList, cast: castJson };
}

function cast(where: string, type: ValueType, value: Json): Json {
  // A name that was given several times, where one value is meant.
  const isRepeated = Array.isArray(value) && !Array.isArray(type.empty) && where.startsWith('query.');
  const one = isRepeated ? ((value as Json[])[0] ?? null) : value;
  return typeof one === 'string' && type.cast !== undefined ? type.cast(where, one) : one;
}

function castBoolean(where: string, text: string): boolean {
  const word = text.trim().toLowerCase();
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  throw refuse(`${where} auto-cast failed: ${JSON.stringify(text)} is no boolean`);
}

function castNumber(where: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw refuse(`${where} auto-cast failed: ${JSON.stringify(text)} is no number`);
}

function castJson(where: string, text: string): Json {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw refuse(`${where} auto-cast failed: the text ${jsonExcess(text) ?? 'is not valid JSON'}`);
}

function nameOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
