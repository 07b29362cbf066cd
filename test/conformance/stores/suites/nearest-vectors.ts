import { beforeEach, expect, it } from 'vitest';
import { openSearchIndex } from '../../../../src/knowledge/search/search-index.js';
import {
  type IndexScope,
  type IndexStorage,
  type NearestVectors,
  VECTOR_ROWS,
} from '../../../../src/records/index-storage.js';
import { newTenant } from '../../../stores/support/records.js';

const SEGMENT = 'vectors-m';
const row = (key: string, ...values: number[]) => ({
  kind: VECTOR_ROWS,
  key,
  bytes: new Uint8Array(Int8Array.from(values).buffer),
});

/** What every storage does that finds nearest vectors; one that cannot is skipped for its reason. */
export function describeNearestVectors(storageOf: () => IndexStorage, reasonToSkip: () => string | undefined): void {
  let storage: IndexStorage;
  let index: NearestVectors;
  let scope: IndexScope;
  beforeEach((context) => {
    const reason = reasonToSkip();
    if (reason !== undefined) context.skip(reason);
    storage = storageOf();
    index = storage.nearestVectors as NearestVectors;
    scope = { tenant: newTenant(), dataset: 'd' };
  });
  const nearest = (vector: number[], where = scope, limit = 2) => index.nearest(where, SEGMENT, { vector, limit });

  it('builds nothing of no vectors, and finds nothing without an index', async () => {
    expect(await index.build(scope, SEGMENT)).toBe(false);
    await storage.write(scope, SEGMENT, [row('a', 1, 2)]);
    expect(await nearest([1, 2])).toBeUndefined();
  });

  it('finds the nearest first, by the cosine', async () => {
    await storage.write(scope, SEGMENT, [row('x', 127, 0, 0), row('y', 0, 64, -128), row('z', 1, 2, 2)]);
    expect(await index.build(scope, SEGMENT)).toBe(true);
    expect(await index.build(scope, SEGMENT)).toBe(true);
    expect(await nearest([0.9, 0.1, 0])).toEqual(['x', 'z']);
    expect(await nearest([0, 0.4, -0.9], scope, 1)).toEqual(['y']);
  });

  it('follows what is added, replaced and erased', async () => {
    await storage.write(scope, SEGMENT, [row('x', 1, 0), row('y', 0, 1)]);
    await index.build(scope, SEGMENT);
    await storage.write(scope, SEGMENT, [row('z', 100, 1), row('x', -1, 0)]);
    expect(await nearest([1, 0])).toEqual(['z', 'y']);
    await storage.erase(scope, SEGMENT, { kind: VECTOR_ROWS, keys: ['z', 'none'] });
    expect(await nearest([1, 0])).toEqual(['y', 'x']);
  });

  it('keeps tenants, datasets and segments apart, and forgets what is cleared or erased', async () => {
    const other = { ...scope, tenant: newTenant() };
    for (const [where, key] of [
      [scope, 'ours'],
      [other, 'theirs'],
    ] as const) {
      await storage.write(where, SEGMENT, [row(key, 1, 1)]);
      await index.build(where, SEGMENT);
    }
    expect(await nearest([1, 1])).toEqual(['ours']);
    expect(await nearest([1, 1], other)).toEqual(['theirs']);
    await storage.clear(scope);
    expect(await nearest([1, 1])).toBeUndefined();
    await storage.erase(other, SEGMENT);
    expect(await nearest([1, 1], other)).toBeUndefined();
  });

  it('is built once by two that begin at once', async () => {
    await storage.write(scope, SEGMENT, [row('x', 1, 0)]);
    const built = await Promise.all([index.build(scope, SEGMENT), index.build(scope, SEGMENT)]);
    expect(built).toContain(true);
    expect(await nearest([1, 0])).toEqual(['x']);
  });

  it('lets a large dataset find what shares no word with the question', async () => {
    const embedder = { embed: async (texts: readonly string[]) => texts.map(() => [0, 1, 0]) };
    const vectors = { model: 'm', embedder, maxExact: 1 };
    const searched = openSearchIndex({ storage, ...scope, vectors });
    await searched.add(
      ['dogs bark', 'cats purr'].map((text, at) => ({ id: `p${at}`, documentId: 'd', title: '', text })),
    );
    await searched.setVectors(
      new Map([
        ['p0', [1, 0, 0]],
        ['p1', [0, 1, 0]],
      ]),
    );
    // The first search begins to build.
    for (;;) {
      const hits = await searched.search({ question: 'feline' });
      if (hits.length === 0) continue;
      expect(hits[0]?.id).toBe('p1');
      return;
    }
  });
}
