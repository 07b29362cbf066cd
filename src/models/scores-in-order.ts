import { type CallTarget, unusable } from './provider-error.js';

/** The scores of a ranking in the order of its documents. @throws EngineError MODEL_RESPONSE when one has none */
export function scoresInOrder(
  ranking: readonly { readonly index: number; readonly score: number }[],
  documents: number,
  target: CallTarget,
): number[] {
  const scores = new Map(ranking.map(({ index, score }) => [index, score]));
  return Array.from({ length: documents }, (_, index) => {
    const score = scores.get(index);
    if (score === undefined) throw unusable(target, `gave no score for document ${index}`);
    return score;
  });
}
