import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { KnowledgeHit } from '../../src/knowledge/base/retrieval.js';
import type { KnowledgeSearch } from '../../src/knowledge/knowledge-search.js';
import { datasetPlace } from '../../src/research/service/places.js';
import { chunkRecord, datasetRecord, documentRecord } from '../stores/support/knowledge-records.js';

it('evidence of a passage on several pages names the page that fits the question', async () => {
  const document = documentRecord(datasetRecord().id, { name: 'lamps.pdf' });
  const chunk = chunkRecord(document, 0, {
    ...{ text: 'The lamp turns once. It was lit in 1911.', start: 100, end: 140, page: 1 },
    positions: [1, 2].map((page) => [page, 0, 0, 0, 0]),
    pageStarts: [
      [1, 100],
      [2, 121],
    ],
  });
  const hit: KnowledgeHit = { chunk, document, similarity: 1, termSimilarity: 1, vectorSimilarity: 0, scores: {} };
  const knowledge = { search: async () => ({ hits: [hit], total: 1, documents: [] }) } as unknown as KnowledgeSearch;
  const found = (question: string) => lastValueFrom(datasetPlace(knowledge, undefined).find(question, 5));
  expect(await found('Was anything lit in 1911?')).toMatchObject([{ page: 2, where: 'kb' }]);
  expect(await found('How often turns the lamp?')).toMatchObject([{ page: 1 }]);
});
