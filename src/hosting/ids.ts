import { randomUUID } from 'node:crypto';
import { badArgument } from './refusals.js';

/** A fresh id as RAGFlow writes them: 32 hexadecimal digits. */
export function createId(): string {
  return randomUUID().replaceAll('-', '');
}

/**
 * Checks an id that a client sent: it goes into headers, frames and logs.
 *
 * @throws EngineError BAD_REQUEST for control characters (CR and LF would start a new line of a frame) and for more than 255
 * characters.
 */
export function checkId(name: string, id: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (id !== '' && id.length <= 255 && !/[\x00-\x1f\x7f]/.test(id)) return id;
  throw badArgument(`\`${name}\` must have 1 to 255 characters and no control characters.`);
}
