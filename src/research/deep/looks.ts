/** Which of the texts that were found for a sub-question are read, look by look. */
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import type { Reading } from './read-question.js';

/** Texts that are read at one look. */
export const READ_AT_ONCE = 8;
/** Texts that are asked of each place. */
export const FOUND_AT_ONCE = 24;
/** Texts beside those of an answer that may contradict it. */
export const BESIDE = 4;
/** Id under which the question itself is searched; its evidence fills the places behind that of the parts. */
export const WHOLE = 'question';
/** Texts of a look that is repeated since its answer was not borne out. */
const REREAD = 10;

/** What a look gives that did not take place. */
export const NOT_READ: Reading = { answer: '', supported_by: [], confidence: 0, verdict: 'unsupported' };

/** What a look reads: the best first; then, after an answer that was not borne out, those again and a few more; after none, the next ones. */
export function partOf(
  found: readonly ResearchEvidence[],
  at: number,
  best: Reading | undefined,
): readonly ResearchEvidence[] {
  if (at === 0) return found.slice(0, READ_AT_ONCE);
  if (best !== undefined && best.answer !== '') return found.slice(0, REREAD + at - 1);
  return found.slice(at * READ_AT_ONCE, (at + 1) * READ_AT_ONCE);
}

/** Several lists as one: the first of each, the second of each … */
export function rankByRank<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    lists.flatMap((list) => (at < list.length ? [list[at] as T] : [])),
  ).flat();
}
