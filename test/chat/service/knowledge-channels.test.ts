import { lastValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatSettings } from '../../../src/chat/service/chat-settings.js';
import { knowledgeChannels } from '../../../src/chat/service/knowledge-channels.js';
import type { KnowledgeHit } from '../../../src/knowledge/base/retrieval.js';
import type { ChunkRecord } from '../../../src/records/knowledge.js';
import { chunkRecord, datasetRecord, documentRecord } from '../../stores/support/knowledge-records.js';

const DOCUMENT = documentRecord(datasetRecord().id, { name: 'cats.pdf' });

/** What is found of texts; of a part the passage is given. */
function hit(index: number, change: Partial<ChunkRecord>, more: Partial<KnowledgeHit> = {}): KnowledgeHit {
  const chunk = chunkRecord(DOCUMENT, index, change);
  const scores = { bm25: 1 };
  return {
    chunk,
    document: DOCUMENT,
    similarity: 0.9 - index / 10,
    termSimilarity: 1,
    vectorSimilarity: 0,
    scores,
    ...more,
  };
}

const onPages = (...pages: readonly number[]) => ({
  page: pages[0] ?? null,
  positions: pages.map((page) => [page, 0, 0, 0, 0]),
});

/** The evidence of hits of two questions, with all chunks of the document as neighbours. */
async function evidenceOf(hits: readonly KnowledgeHit[], again: readonly KnowledgeHit[] = [], asked = 'c') {
  const chunks = hits.map(({ chunk }) => chunk);
  const [knowledge] = knowledgeChannels({
    knowledge: {
      search: async ({ question }) => ({ hits: question === 'a' ? hits : again, total: 0, documents: [] }),
      neighbours: async (_, first, last) => chunks.filter(({ index }) => index >= first && index <= last),
    },
    settings: { topN: 6 } as ChatSettings,
    questions: [
      { text: 'a', weight: 1 },
      { text: 'b', weight: 0.8 },
    ],
    asked,
    early$: of(undefined),
    report: () => {},
  });
  return knowledge === undefined ? [] : lastValueFrom(knowledge.find$);
}

describe('what datasets hold, as evidence', () => {
  it('has longer for the first search of a process', () => {
    const limits = [true, false, undefined].map((isCold) =>
      knowledgeChannels({
        knowledge: { isCold, search: async () => ({ hits: [], total: 0, documents: [] }) },
        settings: {} as ChatSettings,
        questions: [],
        asked: '',
        early$: of(undefined),
        report: () => {},
      }).map(({ limitMs }) => limitMs),
    );
    expect(limits).toEqual([
      [15_000, 15_000],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('tells all pages of a passage, those of its neighbours too', async () => {
    const found = await evidenceOf([
      hit(0, { text: 'Cats sleep.', start: 0, end: 11, ...onPages(1, 2) }),
      hit(1, { text: 'They hunt at night.', start: 12, end: 31, ...onPages(3) }),
    ]);
    expect(found).toMatchObject([{ text: 'Cats sleep.\nThey hunt at night.', page: 1, pages: [1, 2, 3] }]);
  });

  it('names the page that fits the question best, and tells where each page begins in the text', async () => {
    const text = 'Cats sleep by day. They hunt mice at night.';
    const pageStarts = [
      [3, 100],
      [4, 119],
    ] as const;
    const hits = [hit(0, { text, start: 100, end: 143, pageStarts, ...onPages(3, 4) })];
    const starts = {
      pages: [3, 4],
      page_starts: [
        [3, 0],
        [4, 19],
      ],
    };
    expect(await evidenceOf(hits, [], 'When do mice fear cats at night?')).toMatchObject([{ page: 4, ...starts }]);
    expect(await evidenceOf(hits, [], 'Dogs?')).toMatchObject([{ page: 3, ...starts }]);
  });

  it('keeps where pages begin when neighbours are joined, unless it is not known of one', async () => {
    const first = hit(0, {
      text: 'Cats sleep.',
      start: 0,
      end: 11,
      pageStarts: [
        [1, 0],
        [2, 5],
      ],
      ...onPages(1, 2),
    });
    const second = { text: 'They hunt at night.', start: 12, end: 31 };
    const [known] = await evidenceOf([first, hit(1, { ...second, ...onPages(3) })]);
    const [unknown] = await evidenceOf([first, hit(1, { ...second, ...onPages(3, 4) })]);
    expect(known).toMatchObject({
      page_starts: [
        [1, 0],
        [2, 5],
        [3, 12],
      ],
    });
    expect(unknown).not.toHaveProperty('page_starts');
  });

  it('gives a passage once that two questions found different parts of, without the text around it', async () => {
    const parent = { first: 'f', start: 0, end: 31, tokens: 8, positions: [[4, 0, 0, 0, 0]] };
    const whole = { text: 'Cats sleep.\nThey hunt at night.', start: 0, end: 31, parent, ...onPages(4) };
    const part = (id: string, start: number, end: number) => [{ id, start, end, page: 4 }];
    const found = await evidenceOf(
      [hit(0, whole, { matches: part('one', 0, 11) }), hit(1, { text: 'Dogs bark.', start: 40, end: 50 })],
      [hit(0, whole, { matches: part('two', 12, 31) })],
    );
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject({
      text: whole.text,
      chunk_ids: ['one'],
      start: 0,
      end: 31,
      page: 4,
      matches: [{ start: 0, end: 11 }],
    });
    expect(found[1]).not.toHaveProperty('matches');
  });
});
