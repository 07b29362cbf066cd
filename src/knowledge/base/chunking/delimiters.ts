/** Delimiters as RAGFlow writes them. */
import { DELIMITERS } from '../../chunkers/by-tokens.js';

/** What ends pieces, and what parts chunks. */
export interface Delimiters {
  /** Signs behind which a text may be cut. */
  readonly delimiters: readonly string[];
  /** Texts between which every part is a chunk of its own. */
  readonly separators: readonly string[];
}

/** Longest list of delimiters that is read, in UTF-16 units, and how many there may be of each kind. */
const MAX_LENGTH = 10_000;
const MAX_COUNT = 1_000;

/**
 * Reads RAGFlow's delimiters: every sign is one, and texts between backticks are separators. `\\n` and `\\t` stand for the end of a line and for a
 * tab. Texts are compared, no pattern is run.
 */
export function delimitersIn(given: unknown): Delimiters {
  if (typeof given !== 'string' || given === '') return { delimiters: DELIMITERS, separators: [] };
  const written = given.slice(0, MAX_LENGTH).replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  const separators = [...written.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []);
  return {
    delimiters: [...new Set(written.replace(/`[^`]*`/g, ''))].slice(0, MAX_COUNT),
    separators: [...new Set(separators)].slice(0, MAX_COUNT),
  };
}
