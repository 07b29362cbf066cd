import { describe, expect, it } from 'vitest';
import { createMemoryRetriever } from '../../src/knowledge/memory-retriever.js';
import type { Retriever } from '../../src/knowledge/retriever.js';
import { knowledgeLookup } from '../../src/tools/everyday/knowledge-lookup.js';
import { errorOf, resultOf } from './support/upstream.js';

const dataset = (name: string, text: string) => ({
  id: name,
  name,
  version: '1',
  documents: async () => [{ id: 'd', name: `${name}.md`, text }],
});
const retriever = createMemoryRetriever(async () => [
  dataset('runs', 'A checkpoint is a snapshot that a run can start from.'),
  dataset('models', 'The breaker opens after five failures; a snapshot of it is shown.'),
]);
const lookUp = (query: string, params = {}, service: Retriever = retriever) =>
  resultOf(knowledgeLookup, '', { args: { query }, params, services: { retriever: service } });

describe('knowledge_lookup', () => {
  it('looks in all datasets', async () => {
    const { outputs, references } = await lookUp('snapshot');
    const found = outputs.json as { document: string; dataset_id: string }[];
    expect(found.map(({ document }) => document).sort()).toEqual(['models.md', 'runs.md']);
    expect(Object.keys(references?.chunks ?? {})).toHaveLength(2);
  });

  it('looks in those that are named, and gives as many as it should', async () => {
    expect((await lookUp('snapshot', { datasets: ' models, ' })).outputs.json).toMatchObject([
      { dataset_id: 'models' },
    ]);
    expect((await lookUp('snapshot', { top_n: 1 })).outputs.json).toHaveLength(1);
  });

  it('finds nothing where there is nothing', async () => {
    expect(await lookUp('zebra')).toMatchObject({ text: '', outputs: { json: [] } });
    expect(
      await lookUp(
        'snapshot',
        {},
        createMemoryRetriever(async () => []),
      ),
    ).toMatchObject({ text: '' });
  });

  it('asks for names where the datasets are not known', async () => {
    const { datasets: _, ...unknown } = retriever;
    const error = await errorOf(knowledgeLookup, '', { args: { query: 'a' }, services: { retriever: unknown } });
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('name some in "datasets"') });
  });
});
