import type { IncomingMessage } from 'node:http';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';

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
