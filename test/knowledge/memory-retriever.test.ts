import { describe, expect, it } from 'vitest';
import { createKeywordIndex } from '../../src/knowledge/keyword-index.js';
import { createMemoryRetriever, type IndexedDataset, passagesOf } from '../../src/knowledge/memory-retriever.js';
import type { RetrievalRequest } from '../../src/knowledge/retriever.js';
import { estimateTokens } from '../../src/models/estimate-tokens.js';

const never = new AbortController().signal;

function dataset(
  name: string,
  texts: Readonly<Record<string, string>>,
  reads: string[] = [],
  version = '1',
): IndexedDataset {
  return {
    id: `id-${name}`,
    name,
    version,
    async documents() {
      reads.push(name);
      return Object.entries(texts).map(([id, text]) => ({ id, name: id, text }));
    },
  };
}

const ask = (question: string, more: Partial<RetrievalRequest> = {}): RetrievalRequest => ({
  question,
  datasets: ['manuals'],
  topN: 8,
  topK: 100,
  similarityThreshold: 0.2,
  keywordWeight: 0.5,
  rerankId: '',
  crossLanguages: [],
  useGraph: false,
  useContents: false,
  filter: {},
  ...more,
});

const MANUALS = dataset('manuals', {
  'pump.md': 'The pump needs oil twice a year.\n\nNever run the pump without water.',
  'valve.md': 'A valve closes when the pressure falls.',
  '阀门.md': '阀门在压力下降时关闭。',
});

describe('an index in the process', () => {
  const retriever = createMemoryRetriever(async () => [MANUALS, dataset('other', { 'x.md': 'pump pump pump' })]);

  it.each([
    ['how often does the pump need oil?', 'pump.md'],
    ['what happens when PRESSURE falls', 'valve.md'],
    ['压力下降', '阀门.md'],
  ])('finds by words: %s', async (question, name) => {
    const [best] = await retriever.search(ask(question), never);
    expect(best).toMatchObject({ documentName: name, datasetId: 'id-manuals' });
    expect(best?.similarity).toBeGreaterThan(0.2);
  });

  it('searches only the datasets that are named, by id or by name', async () => {
    const names = async (datasets: string[]) =>
      (await retriever.search(ask('pump', { datasets }), never)).map(({ documentName }) => documentName);
    expect(await names(['manuals'])).toEqual(['pump.md']);
    expect((await names(['id-manuals', 'other'])).sort()).toEqual(['pump.md', 'x.md']);
  });

  it('leaves out what is not similar enough, and keeps to its number', async () => {
    expect(await retriever.search(ask('pump zebra giraffe', { similarityThreshold: 0.99 }), never)).toEqual([]);
    expect(await retriever.search(ask('a pump valve', { topN: 1, similarityThreshold: 0 }), never)).toHaveLength(1);
    expect(await retriever.search(ask('?!'), never)).toEqual([]);
  });

  it.each<[string, Partial<RetrievalRequest>, string]>([
    ['graph of knowledge ("use_kg"); switch it off, or set RAGFLOW_BASE_URL', { useGraph: true }, 'CONFIG_INVALID'],
    ['metadata to filter by ("meta_data_filter")', { filter: { method: 'manual', manual: [] } }, 'CONFIG_INVALID'],
    ['metadata to filter by ("meta_data_filter")', { filter: { method: 'auto' } }, 'CONFIG_INVALID'],
  ])('says that there is no %s', async (what, more, code) => {
    const message = expect.stringContaining(what);
    await expect(retriever.search(ask('pump', more), never)).rejects.toMatchObject({ code, message });
  });

  it('says that there is no such dataset, and which there are', async () => {
    await expect(retriever.search(ask('pump', { datasets: ['nope'] }), never)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Dataset(nope) does not exist. There are: manuals, other.',
    });
  });

  it.each([{}, { method: 'disabled' }, { method: '' }])('takes %j for no filter', async (filter) => {
    expect(await retriever.search(ask('pump', { filter }), never)).not.toEqual([]);
  });

  it('reads a dataset once, and again when it changed', async () => {
    const reads: string[] = [];
    let version = '1';
    const changing = createMemoryRetriever(async () => [dataset('manuals', { a: `pump ${version}` }, reads, version)]);
    await changing.search(ask('pump'), never);
    await changing.search(ask('pump'), never);
    expect(reads).toHaveLength(1);
    version = '2';
    expect(await changing.search(ask('pump'), never)).toMatchObject([{ content: 'pump 2' }]);
    expect(reads).toHaveLength(2);
  });
});

describe('words', () => {
  it.each([
    ['A café, naïve!', 'CAFES', 1],
    ['价格 42元', '42元', 1],
    ['全文检索', '全文', 1],
    ['全文檢索', '检索', 1],
    ['The pumps were moving', 'what does the pump move?', 1],
    ['The pump', 'the', 0],
    ['', 'x', 0],
  ])('of %j hold %j by %d', async (text, question, similarity) => {
    const index = createKeywordIndex();
    await index.add([{ id: 'a', name: '', content: text }]);
    const [hit] = index.search({ terms: await index.termsOf(question), topK: 1 });
    expect(hit?.similarity ?? 0).toBeCloseTo(similarity);
  });

  it('of an entry that is replaced or taken out are not found any more', async () => {
    const index = createKeywordIndex();
    const found = async (question: string) =>
      index.search({ terms: await index.termsOf(question), topK: 9 }).map(({ id }) => id);
    const entry = (id: string, content: string) => ({ id, name: 'pump', content });
    await index.add(Array.from({ length: 120 }, (_, at) => entry(`e${at}`, 'oil')));
    await index.add([entry('e7', 'water')]);
    expect(await found('water')).toEqual(['e7']);
    index.remove('e7');
    index.remove('e7');
    expect(await found('water')).toEqual([]);
    expect(await found('pump')).toHaveLength(9);
  });
});

describe('passages', () => {
  it('keep paragraphs together up to their size, and lose nothing', () => {
    const text = Array.from({ length: 200 }, (_, index) => `Paragraph ${index} says little.`).join('\n\n');
    const passages = passagesOf(text);
    expect(passages.length).toBeGreaterThan(1);
    expect(Math.max(...passages.map(estimateTokens))).toBeLessThanOrEqual(512);
    expect(passages.join('\n\n').match(/Paragraph \d+/g)).toHaveLength(200);
  });

  it('cut a paragraph without end between words', () => {
    const passages = passagesOf('word '.repeat(5_000));
    expect(passages.every((passage) => passage.startsWith('word') && passage.endsWith('word'))).toBe(true);
    expect(passages.join(' ').split(/\s+/)).toHaveLength(5_000);
  });
});
