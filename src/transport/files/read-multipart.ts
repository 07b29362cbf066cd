import type { IncomingMessage } from 'node:http';
import { badArgument } from '../../hosting/refusals.js';
import { readBytes } from '../http/read-bytes.js';

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
