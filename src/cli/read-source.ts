/** Texts that commands are given by name. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { MAX_DOCUMENT_CHARACTERS } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import { cannot } from './command.js';
import type { Terminal } from './terminal.js';

/** Four bytes a character at most: what is longer cannot be a document. */
const MAX_DOCUMENT_BYTES = 4 * MAX_DOCUMENT_CHARACTERS;

/**
 * The text of a file, or of the standard input for `-`.
 *
 * @param maxBytes as many as any document may have, unless another number is given
 * @throws EngineError USAGE when it cannot be read or is longer.
 */
export async function readSource(path: string, terminal: Terminal, maxBytes = MAX_DOCUMENT_BYTES): Promise<string> {
  const name = path === '-' ? 'the standard input' : `"${path}"`;
  return readText(path === '-' ? terminal.openInput() : createReadStream(path), name, maxBytes);
}

/**
 * The text of a stream called `name`, of at most `maxBytes`.
 *
 * @throws EngineError USAGE; the system's error is its `cause`.
 */
export async function readText(stream: Readable, name: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const buffer = Buffer.from(chunk);
      bytes += buffer.length;
      if (bytes > maxBytes) throw new EngineError('USAGE', `${name} has more than ${maxBytes} bytes.`);
      chunks.push(buffer);
    }
  } catch (cause) {
    throw EngineError.is(cause) ? cause : cannot(`read ${name}`, cause);
  }
  return Buffer.concat(chunks).toString('utf8');
}
