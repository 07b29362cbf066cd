import type { IncomingMessage } from 'node:http';
import { EngineError } from '../../errors.js';
import { badArgument } from '../refusals.js';

/** A file of a multipart body. */
export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
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
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) throw badArgument(`\`${field}\` field is required.`);
  const body = await readBody(request, maxBytes);
  const form = await parse(body, contentType);
  const files = form.getAll(field).filter((part) => typeof part !== 'string');
  return Promise.all(
    files.map(async (file) => ({
      name: baseName(file.name),
      mimeType: file.type === '' ? 'application/octet-stream' : file.type,
      bytes: new Uint8Array(await file.arrayBuffer()),
    })),
  );
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const parts: Buffer[] = [];
  let bytes = 0;
  // By hand: leaving a loop over the request would destroy the socket, and with it the answer.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else reject(tooLarge(maxBytes));
    });
    request.once('end', resolve);
    request.once('error', reject);
    request.once('aborted', () => reject(badArgument('The upload broke off.')));
  });
  return Buffer.concat(parts);
}

async function parse(body: Buffer, contentType: string): Promise<FormData> {
  try {
    // Node's own parser of multipart bodies is reached through the answer of a fetch.
    return await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw badArgument('The body is not valid multipart/form-data.');
  }
}

/** Some clients send a whole path. */
function baseName(name: string): string {
  return name.split(/[/\\]/).at(-1) || 'file';
}

function tooLarge(maxBytes: number): EngineError {
  return new EngineError('BODY_TOO_LARGE', `request body too large. At most ${maxBytes} bytes are taken.`);
}
