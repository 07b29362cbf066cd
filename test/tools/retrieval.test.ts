import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { EngineError } from '../../src/errors.js';
import type { JsonObject } from '../../src/json.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from '../../src/knowledge/retriever.js';
import { createRagflowRetriever } from '../../src/tools/ragflow-retriever.js';
import { displayIdOf } from '../../src/tools/results.js';
import { retrieval } from '../../src/tools/retrieval.js';
import { type Calling, errorOf, resultOf, startUpstream } from './support/upstream.js';

const FOUND: RetrievedPassage = {
  id: '4b89',
  content: 'Paris is the capital of France.',
  documentId: 'd1',
  documentName: 'INSTALL.md',
  datasetId: 'k1',
  similarity: 0.57,
  record: { vector_similarity: 0.7, term_similarity: 0.5 },
  metadata: { year: 2020 },
};

function retrieverOf(found: readonly RetrievedPassage[] | Error, memories: readonly string[] = []) {
  const asked: unknown[] = [];
  const retriever: Retriever = {
    async search(request) {
      asked.push(request);
      if (found instanceof Error) throw found;
      return found;
    },
    async recall(request) {
      asked.push(request);
      return memories;
    },
  };
  return { retriever, asked: asked as (RetrievalRequest & { memories?: readonly string[] })[] };
}

const calling = (params: Calling['params'], retriever?: Retriever, query = 'capital?'): Calling => ({
  args: { query },
  params: params ?? {},
  services: retriever === undefined ? {} : { retriever },
});

describe('search_my_dateset', () => {
  it('gives passages with their own ids, to be cited', async () => {
    const { retriever, asked } = retrieverOf([FOUND]);
    const result = await resultOf(
      retrieval,
      '',
      calling({ dataset_ids: ['k1', 'k1'], top_n: 3 }, retriever, 'user: capital?'),
    );
    expect(asked).toMatchObject([
      { question: 'capital?', datasets: ['k1'], topN: 3, topK: 1024, similarityThreshold: 0.2, keywordWeight: 0.5 },
    ]);
    const shown = displayIdOf('4b89');
    expect(result.text).toBe(
      `\nID: ${shown}\n├── Title: INSTALL.md\n├── year: 2020\n└── Content:\nParis is the capital of France.`,
    );
    expect(result.outputs).toMatchObject({ json: [{ chunk_id: '4b89', doc_id: 'd1', kb_id: 'k1', similarity: 0.57 }] });
    expect(result.references).toMatchObject({
      chunks: { [shown]: { id: '4b89', document_id: 'd1', vector_similarity: 0.7, document_metadata: { year: 2020 } } },
      doc_aggs: { 'INSTALL.md': { doc_id: 'd1', count: 1 } },
    });
  });

  it.each<[string, Calling['params'], string]>([
    ['nothing is found', { kb_ids: 'k1', empty_response: 'Sorry.' }, 'capital?'],
    ['nothing is asked', { kb_ids: 'k1', empty_response: 'Sorry.' }, '  '],
    ['nobody said where to search', { empty_response: 'Sorry.' }, 'capital?'],
  ])('says so when %s', async (_, params, query) => {
    const { retriever } = retrieverOf([]);
    const result = await resultOf(retrieval, '', calling(params, retriever, query));
    expect(result).toMatchObject({ text: 'Sorry.', outputs: { formalized_content: 'Sorry.', json: [] } });
    expect(result.references).toBeUndefined();
  });

  it.each<[string, Calling['params'], Retriever | undefined, string]>([
    [
      'no dataset',
      { retrieval_from: 'dataset' },
      retrieverOf([]).retriever,
      'Retrieval error: No dataset is selected.',
    ],
    ['no memory', { retrieval_from: 'memory' }, retrieverOf([]).retriever, 'Retrieval error: No memory is selected.'],
    ['no retriever', { dataset_ids: ['k'] }, undefined, 'without it'],
    [
      'a dataset that nobody has',
      { dataset_ids: ['k'] },
      retrieverOf(new EngineError('NOT_FOUND', 'Dataset(k) does not exist.')).retriever,
      'Retrieval error: Dataset(k) does not exist.',
    ],
  ])('fails with %s', async (_, params, retriever, message) => {
    expect((await errorOf(retrieval, '', calling(params, retriever))).message).toContain(message);
  });

  it('recalls memories', async () => {
    const { retriever, asked } = retrieverOf([], ['likes tea', 'lives in Oslo']);
    const result = await resultOf(retrieval, '', calling({ memory_ids: ['m1'], user_id: 'u' }, retriever));
    expect(asked).toEqual([{ question: 'capital?', memories: ['m1'], userId: 'u', topN: 8 }]);
    expect(result.text).toBe('likes tea\nlives in Oslo');
  });
});

describe('a RAGFlow server', () => {
  const http = createEgressClient({ allowPrivateNetwork: true });
  const chunk = {
    id: 'c',
    content: 'text',
    document_id: 'd',
    document_keyword: 'D.md',
    dataset_id: 'k',
    similarity: 0.5,
  };
  const id = '0123456789abcdef0123456789abcdef';

  it('is asked by ids, which names are turned into', async () => {
    const upstream = await startUpstream({
      'GET /api/v1/datasets': { json: { code: 0, data: [{ id, name: 'Manuals' }] } },
      'POST /api/v1/retrieval': { json: { code: 0, data: { chunks: [chunk], total: 1 } } },
    });
    const retriever = createRagflowRetriever({ baseUrl: `${upstream.origin}/`, apiKey: 'key', http });
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, baggage: 'shop=7' };
    const result = await resultOf(retrieval, '', { ...calling({ dataset_ids: ['Manuals', id] }, retriever), trace });
    for (const { headers } of upstream.asked) expect(headers).toMatchObject(trace);
    expect(upstream.asked.map(({ path }) => path)).toEqual(['/api/v1/datasets', '/api/v1/retrieval']);
    expect(upstream.asked[0]?.query).toMatchObject({ name: 'Manuals' });
    expect(upstream.asked[1]?.headers.authorization).toBe('Bearer key');
    expect(JSON.parse(upstream.asked[1]?.body ?? '')).toMatchObject({
      question: 'capital?',
      dataset_ids: [id],
      vector_similarity_weight: 0.5,
      page_size: 8,
    });
    expect(result.outputs.json).toMatchObject([{ chunk_id: 'c', docnm_kwd: 'D.md' }]);
  });

  const manual = [{ key: 'author', op: '=', value: '{sys.query}' }];

  it.each<[object, object | undefined]>([
    [{}, undefined],
    [{ method: 'disabled', manual }, undefined],
    [{ method: 'manual', manual: [] }, undefined],
    [
      { method: 'manual', logic: 'or', manual },
      { logic: 'or', conditions: [{ name: 'author', comparison_operator: '=', value: '' }] },
    ],
  ])('is told of the filter %j in its own words', async (filter, condition) => {
    const upstream = await startUpstream({
      'POST /api/v1/retrieval': { json: { code: 0, data: { chunks: [chunk] } } },
    });
    const retriever = createRagflowRetriever({ baseUrl: upstream.origin, apiKey: 'key', http });
    await resultOf(retrieval, '', calling({ dataset_ids: [id], meta_data_filter: filter as JsonObject }, retriever));
    expect(JSON.parse(upstream.asked[0]?.body ?? '').metadata_condition).toEqual(condition);
  });

  it('cannot be asked for filters that a model chooses', async () => {
    const upstream = await startUpstream({});
    const retriever = createRagflowRetriever({ baseUrl: upstream.origin, apiKey: 'key', http });
    const params = { dataset_ids: [id], meta_data_filter: { method: 'auto' } };
    const error = await errorOf(retrieval, '', calling(params, retriever));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('use "manual"') });
    expect(upstream.asked).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['refuses', { json: { code: 102, message: 'no rights' } }, 'no rights'],
    ['fails', { status: 403, json: { message: 'the key is wrong' } }, 'status 403'],
    ['does not know the name', { json: { code: 0, data: [] } }, 'Dataset(Manuals) does not exist.'],
  ])('%s', async (_, reply, message) => {
    const upstream = await startUpstream({ 'GET /api/v1/datasets': reply });
    const retriever = createRagflowRetriever({ baseUrl: upstream.origin, apiKey: 'key', http });
    const error = await errorOf(retrieval, '', calling({ dataset_ids: ['Manuals'] }, retriever));
    expect(error.message).toContain(message);
  });
});
