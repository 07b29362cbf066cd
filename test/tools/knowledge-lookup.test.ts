import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { createMemoryRetriever } from '../../src/knowledge/memory-retriever.js';
import type { Retriever } from '../../src/knowledge/retriever.js';
import { knowledgeLookup } from '../../src/tools/everyday/knowledge-lookup.js';
import { createRagflowRetriever } from '../../src/tools/ragflow-retriever.js';
import { errorOf, resultOf, startUpstream } from './support/upstream.js';

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

  it('looks in all datasets of a RAGFlow server by their ids', async () => {
    const upstream = await startUpstream({
      'GET /api/v1/datasets': {
        json: {
          code: 0,
          data: [
            { id: 'a'.repeat(32), name: 'one' },
            { id: 'b'.repeat(32), name: 'two' },
          ],
        },
      },
      'POST /api/v1/retrieval': {
        json: { code: 0, data: { chunks: [{ id: '1', content: 'found', document_id: 'd' }] } },
      },
    });
    const http = createEgressClient({ allowPrivateNetwork: true });
    const ragflow = createRagflowRetriever({ baseUrl: upstream.origin, apiKey: 'key', http });
    expect((await lookUp('x', {}, ragflow)).outputs.json).toMatchObject([{ content: 'found' }]);
    expect(JSON.parse(upstream.asked[1]?.body ?? '')).toMatchObject({ dataset_ids: ['a'.repeat(32), 'b'.repeat(32)] });
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
