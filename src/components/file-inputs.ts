import { EngineError } from '../errors.js';
import { isJsonObject, type Json } from '../json.js';
import type { Files, StoredFile } from './services.js';

/** Kinds of text beside `text/*`, by media type and by ending of the name. */
const TEXT_TYPES = /^text\/|^application\/(?:json|x-ndjson|xml|yaml|x-yaml|csv|markdown)$|\+(?:json|xml)$/;
const TEXT_NAMES = /\.(?:txt|text|md|markdown|json|jsonl|csv|tsv|log|xml|yaml|yml|html|htm)$/i;

/**
 * The content of a file that a form was given: an image as a `data:` URL, everything else as text.
 *
 * @param value the file as clients send it, `{id, name, mime_type}`, or its id alone; a `data:` URL is its own content.
 * @throws EngineError CONFIG_INVALID when the run has no file store, NOT_FOUND when the store has no such file, BAD_REQUEST for
 * a value that names no file and for a kind of file that cannot be read.
 */
export async function readFileValue(value: Json, services: unknown): Promise<Json> {
  if (typeof value === 'string' && value.startsWith('data:')) return value;
  const id = typeof value === 'string' ? value : isJsonObject(value) ? value.id : undefined;
  if (typeof id !== 'string' || id === '') {
    throw new EngineError(
      'BAD_REQUEST',
      `A file is given as {"id", "name", "mime_type"}; received ${JSON.stringify(value)}.`,
    );
  }
  const files = filesOf(services);
  if (files === undefined) {
    throw new EngineError(
      'CONFIG_INVALID',
      `File "${id}" cannot be read, as the run was started without a file store; pass { services: { files } }.`,
    );
  }
  const file = await files.read(id);
  if (file === undefined) throw new EngineError('NOT_FOUND', `There is no file "${id}"; upload it before it is used.`);
  return decode(file);
}

function filesOf(services: unknown): Files | undefined {
  if (typeof services !== 'object' || services === null || !('files' in services)) return undefined;
  return services.files as Files | undefined;
}

function decode(file: StoredFile): string {
  const mimeType = file.mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mimeType.startsWith('image/')) return `data:${mimeType};base64,${Buffer.from(file.bytes).toString('base64')}`;
  // TextDecoder takes a byte order mark away and never fails on bytes that are no UTF-8.
  if (TEXT_TYPES.test(mimeType) || TEXT_NAMES.test(file.name)) return new TextDecoder().decode(file.bytes);
  throw new EngineError(
    'BAD_REQUEST',
    `File "${file.name}" has the type ${mimeType === '' ? 'unknown' : mimeType}, which cannot be read as text; give an image, or text, Markdown, JSON or CSV.`,
  );
}
