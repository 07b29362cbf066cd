/** Indexes in memory that find passages by the words they share with a question. */
import type { Passage, PassageIndex, PassageIndexes } from '../../../../src/knowledge/base/ports.js';

export interface FakeIndexes extends PassageIndexes {
  /** What an index holds, by id. */
  passages(tenant: string, datasetId: string): ReadonlyMap<string, Passage>;
  /** How many passages were added in all, the same one counted each time. */
  readonly added: () => number;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export function createFakeIndexes(): FakeIndexes {
  const all = new Map<string, Map<string, Passage>>();
  let added = 0;
  const placeOf = (tenant: string, datasetId: string): string => JSON.stringify([tenant, datasetId]);
  const passagesOf = (place: string): Map<string, Passage> => {
    const known = all.get(place) ?? new Map<string, Passage>();
    all.set(place, known);
    return known;
  };
  const open = (tenant: string, datasetId: string): PassageIndex => {
    const passages = passagesOf(placeOf(tenant, datasetId));
    return {
      async add(some) {
        for (const one of some) passages.set(one.id, one);
        added += some.length;
      },
      async remove(ids) {
        for (const id of ids) passages.delete(id);
      },
      async setAvailable(ids, available) {
        for (const id of ids) {
          const one = passages.get(id);
          if (one !== undefined) passages.set(id, { ...one, available });
        }
      },
      async search({ question, limit, documentIds }) {
        const words = new Set(wordsOf(question));
        const hits = [...passages.values()].flatMap((one) => {
          if (!one.available || (documentIds !== undefined && !documentIds.includes(one.documentId))) return [];
          const own = new Set(wordsOf(`${one.title} ${one.text} ${one.questions?.join(' ')}`));
          const score = [...words].filter((word) => own.has(word)).length / words.size;
          return score > 0 ? [{ id: one.id, score, scores: { words: score } }] : [];
        });
        return hits.sort((a, b) => b.score - a.score).slice(0, limit);
      },
    };
  };
  return {
    open,
    drop: async (tenant, datasetId) => {
      all.delete(placeOf(tenant, datasetId));
    },
    passages: (tenant, datasetId) => all.get(placeOf(tenant, datasetId)) ?? new Map(),
    added: () => added,
  };
}
