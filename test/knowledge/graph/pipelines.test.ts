import { describe, expect, it } from 'vitest';
import { evaluateCollection, indexCollection } from '../../../src/knowledge/evaluation/evaluate-collection.js';
import type { PipelineName } from '../../../src/knowledge/evaluation/pipelines.js';
import { DEFAULT_SETTINGS } from '../../../src/knowledge/search/search-settings.js';
import { inventedWorld } from './support/invented-world.js';

describe('questions over several documents', async () => {
  const indexed = await indexCollection(inventedWorld(1, 320));
  const perfect = async (pipeline: PipelineName, settings = DEFAULT_SETTINGS) => {
    const { means } = await evaluateCollection(indexed, settings, { pipeline });
    return [means['perfect@5'], means['perfect@8']] as const;
  };

  it('are answered by links and the graph where words alone find half at most (seed 1)', async () => {
    const [, words] = await perfect('default', { ...DEFAULT_SETTINGS, linkGraph: false });
    expect(words).toBeLessThan(0.55);
    for (const pipeline of ['link', 'local', 'rank'] as const) {
      const [five, eight] = await perfect(pipeline);
      expect(eight, pipeline).toBeGreaterThan(0.9);
      expect(five, pipeline).toBeGreaterThan(0.6);
    }
  });
});
