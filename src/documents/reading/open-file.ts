import { EngineError } from '../../errors.js';
import { isJsonObject, type Json } from '../../json.js';
import type { Files, StoredFile } from '../../records/files.js';

/** The id of a file as clients send it: `{id, …}`, `{file_id, …}` or the id alone; undefined for what names no file. */
export function fileId(value: Json): string | undefined {
  const id = isJsonObject(value) ? value.id || value.file_id : value;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The name of a file as the client that sent it calls it, if it does. */
export function fileName(value: Json): string | undefined {
  const name = isJsonObject(value) ? value.name || value.filename : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/**
 * Reads a file from the store of the run.
 *
 * @throws EngineError BAD_REQUEST for a value that names no file, CONFIG_INVALID when the run has no file store, FILE_UNKNOWN
 * when the store has no such file.
 */
export async function openFile(value: Json, services: unknown): Promise<StoredFile> {
  const id = fileId(value);
  if (id === undefined) {
    throw new EngineError('BAD_REQUEST', `A file is given as {"id", "name", "mime_type"}; received ${shown(value)}.`);
  }
  const files = filesOf(services);
  if (files === undefined) {
    throw new EngineError(
      'CONFIG_INVALID',
      `File "${id}" cannot be read, as the run was started without a file store; pass { services: { files } }.`,
    );
  }
  const file = await files.read(id);
  if (file !== undefined) return file;
  const called = fileName(value);
  throw new EngineError(
    'FILE_UNKNOWN',
    `There is no file "${id}"${called === undefined ? '' : ` ("${called}")`}; upload it before it is used.`,
  );
}

/** The file store among the services of a run, if there is one. */
export function filesOf(services: unknown): Files | undefined {
  if (typeof services !== 'object' || services === null || !('files' in services)) return undefined;
  return services.files as Files | undefined;
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
