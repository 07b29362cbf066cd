/** Putting documents in order by scores. */
import { type KnowledgeDocument, withScore } from './knowledge-document.js';

/** The documents with the highest scores, best first; equal scores are in the order of their ids. */
export function byScore(
  documents: readonly KnowledgeDocument[],
  { topK, scoreThreshold }: { readonly topK?: number | undefined; readonly scoreThreshold?: number | undefined } = {},
): KnowledgeDocument[] {
  const kept =
    scoreThreshold === undefined ? [...documents] : documents.filter(({ score }) => (score ?? 0) >= scoreThreshold);
  kept.sort((left, right) => (right.score ?? 0) - (left.score ?? 0) || compareIds(left.id, right.id));
  return topK === undefined ? kept : kept.slice(0, topK);
}

/** By code units, so that the order is the same everywhere. */
export function compareIds(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Each document once, in the order of their first places, with the highest score that any of its places has. */
export function uniqueById(documents: Iterable<KnowledgeDocument>): KnowledgeDocument[] {
  const found = new Map<string, KnowledgeDocument>();
  for (const document of documents) {
    const known = found.get(document.id);
    if (known === undefined) found.set(document.id, document);
    else if ((document.score ?? -Infinity) > (known.score ?? -Infinity)) {
      found.set(document.id, withScore(known, document.score));
    }
  }
  return [...found.values()];
}
