/** Indexes in memory that find passages by the words they share with a question. */
import { EngineError } from '../../../../src/errors.js';
import type { PassageIndex, PassageIndexes } from '../../../../src/knowledge/base/ports.js';
import type { Passage } from '../../../../src/knowledge/search/passage.js';

export interface FakeIndexes extends PassageIndexes {
  /** What an index holds, by id. */
  passages(tenant: string, datasetId: string): ReadonlyMap<string, Passage>;
  /** How many passages were added in all, the same one counted each time. */
  readonly added: () => number;
}

const cosineOf = (a: readonly number[], b: readonly number[]): number => {
  const dot = (one: readonly number[], other: readonly number[]) =>
    one.reduce((sum, x, at) => sum + x * (other[at] ?? 0), 0);
  return Math.max(0, dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)));
};

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
  const vectors = new Map<string, readonly number[]>();
  const open: PassageIndexes['open'] = (tenant, datasetId, model): PassageIndex => {
    const passages = passagesOf(placeOf(tenant, datasetId));
    const keyOf = (id: string): string => JSON.stringify([tenant, datasetId, model?.name, id]);
    return {
      async add(some) {
        for (const one of some) passages.set(one.id, one);
        added += some.length;
      },
      async remove(ids) {
        for (const id of ids) {
          passages.delete(id);
          vectors.delete(keyOf(id));
        }
      },
      async setAvailable(ids, available) {
        for (const id of ids) {
          const one = passages.get(id);
          if (one !== undefined) passages.set(id, { ...one, available });
        }
      },
      async search({ question, limit, documentIds }) {
        const words = new Set(wordsOf(question));
        const [asked] = model === undefined ? [] : await model.embedder.embed([question]);
        const hits = [...passages.values()].flatMap((one) => {
          if (!one.available || (documentIds !== undefined && !documentIds.includes(one.documentId))) return [];
          const own = new Set(wordsOf(`${one.title} ${one.text} ${one.questions?.join(' ')}`));
          const bm25 = words.size === 0 ? 0 : [...words].filter((word) => own.has(word)).length / words.size;
          const vector = vectors.get(keyOf(one.id));
          if (asked === undefined || vector === undefined) {
            return bm25 > 0 ? [{ id: one.id, score: bm25, scores: { bm25 } }] : [];
          }
          if (asked.length !== vector.length)
            throw new EngineError('EMBEDDING_MISMATCH', 'Vectors of other dimensions.');
          const cosine = cosineOf(asked, vector);
          return [{ id: one.id, score: (bm25 + cosine) / 2, scores: { bm25, vector: cosine } }];
        });
        return hits.sort((a, b) => b.score - a.score).slice(0, limit);
      },
      async setVectors(some) {
        for (const [id, vector] of some) vectors.set(keyOf(id), vector);
      },
    };
  };
  return {
    open,
    settled: async () => {},
    drop: async (tenant, datasetId) => {
      all.delete(placeOf(tenant, datasetId));
    },
    passages: (tenant, datasetId) => all.get(placeOf(tenant, datasetId)) ?? new Map(),
    added: () => added,
  };
}
