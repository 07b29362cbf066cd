import type { Ending } from './messages.js';

/** Characters of a failure's text. */
const MAX_TEXT = 100_000;

/** What stands for an ending that cannot be read. */
export const BROKEN_ENDING: Ending = {
  type: 'raised',
  text: 'The script broke what its result is told with.',
  isMemory: false,
};

/** Characters that an ending as JSON may have: escapes of JSON within JSON take up to twice the room. */
export function maxEndingLength(maxResultBytes: number): number {
  return 2 * maxResultBytes + 65_536;
}

/**
 * What the inside of an interpreter told about its end, as JSON; undefined for anything else than an ending.
 *
 * A script can bend what makes that text, so nothing about it is certain.
 */
export function readEnding(told: string, maxResultBytes: number): Ending | undefined {
  const { type, json, text, code, isMemory, limit } = parse(told);
  if (type === 'returned' && typeof json === 'string') {
    return json.length > maxResultBytes ? { type: 'limit', limit: 'output' } : { type, json };
  }
  if (type === 'raised' && typeof text === 'string') {
    return { type, text: text.slice(0, MAX_TEXT), isMemory: isMemory === true };
  }
  if (type === 'exited' && typeof code === 'number') return { type, code };
  return type === 'limit' && limit === 'output' ? { type, limit } : undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
