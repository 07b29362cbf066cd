import { lastValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKnowledgeSearch } from '../../src/knowledge/base/search-datasets.js';
import type { GraphSearchKind } from '../../src/knowledge/graph/graph-search.js';
import { graphPlace } from '../../src/research/service/places.js';
import { openWorldBase, WORLD_TENANT, type WorldBase } from '../knowledge/graph/support/world-base.js';

let world: WorldBase;
beforeAll(async () => {
  world = await openWorldBase();
}, 120_000);
afterAll(() => world.close());

const find = (
  kind: GraphSearchKind,
  question: string,
  datasetIds: readonly string[] | undefined = [world.datasetId],
) => {
  const { graphSearch } = createKnowledgeSearch(async () => world.base, WORLD_TENANT);
  if (graphSearch === undefined) throw new Error('There is no search of graphs.');
  return lastValueFrom(graphPlace(graphSearch, datasetIds, kind).find(question, 5));
};

describe('evidence of graphs', () => {
  it.each(['local', 'rank', 'drift', 'global', 'path'] as const)(
    '%s: stands where it says, and says why',
    async (kind) => {
      const texts = new Map(world.collection.documents.map(({ id, text }) => [id, text]));
      const found = await find(kind, 'How are Nine Bridges and Petra Solis connected?');
      expect(found.length).toBeGreaterThan(0);
      expect(found.length).toBeLessThanOrEqual(5);
      for (const { where, text, start, end, document_id, dataset_id, source, why, score } of found) {
        expect([where, dataset_id]).toEqual(['graph', world.datasetId]);
        expect(texts.get(world.idOf.get(document_id ?? '') ?? '')?.slice(start, end)).toBe(text);
        expect(source).toMatch(/\.md$/);
        expect(score).toBeGreaterThan(0);
        expect((why?.entities.length ?? 0) + (why?.steps.length ?? 0) > 0 || why?.community !== undefined).toBe(true);
      }
      if (kind === 'path' || kind === 'local') expect(found[0]?.source).toBe('Nine Bridges.md');
    },
  );

  it('is none where a path has no two ends, and where a dataset has no graph', async () => {
    expect(await find('path', 'How is it?')).toEqual([]);
    const { id } = (await world.base.datasets.create(WORLD_TENANT, { name: 'bare' })).dataset;
    expect(await find('local', 'Who is Petra Solis?', [id])).toEqual([]);
    expect((await find('local', 'Who is Petra Solis?', undefined)).length).toBeGreaterThan(0);
  });

  it('is refused for a dataset that does not exist', async () => {
    await expect(find('local', 'Who is Petra Solis?', ['nowhere'])).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
