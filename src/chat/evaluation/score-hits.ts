/** How good what a search found for a golden question is. No model is asked. */
import { folded, type GoldenQuestion } from './golden-file.js';

/** A passage that was found. */
export interface FoundPassage {
  /** Name of its document. */
  readonly source: string;
  readonly text: string;
}

/**
 * Values from 0 to 1 by measure, of passages with the best first.
 *
 * With expected sources `hit@1` (the first is of such a document), `source@k` (one of all is) and `mrr` (1 / rank of the first that is); with
 * expected keywords `keyword@k` (the passages hold one or all of them, as the question says). Nothing for a question without an answer,
 * because a search gives what is nearest.
 */
export function scoreHits(
  { answerable, expected_sources: sources, expected_keywords: keywords, match }: GoldenQuestion,
  found: readonly FoundPassage[],
): Readonly<Record<string, number>> {
  if (!answerable) return {};
  const wanted = sources.map(folded);
  const rank = found.findIndex(({ source }) => wanted.some((one) => folded(source).includes(one)));
  const text = folded(found.map((one) => one.text).join('\n'));
  const isHeld = (keyword: string): boolean => text.includes(folded(keyword));
  const hasKeywords = match === 'all' ? keywords.every(isHeld) : keywords.some(isHeld);
  return {
    ...(wanted.length > 0 && {
      'hit@1': Number(rank === 0),
      'source@k': Number(rank >= 0),
      mrr: rank < 0 ? 0 : 1 / (rank + 1),
    }),
    ...(keywords.length > 0 && { 'keyword@k': Number(hasKeywords) }),
  };
}
