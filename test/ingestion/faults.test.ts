/** Files that are too much, machines whose clocks jump, models that are swapped: each ends in a defined way. */

import { once } from 'node:events';
import ExcelJs from 'exceljs';
import { strToU8, zipSync } from 'fflate';
import PdfDocument from 'pdfkit';
import { filter, firstValueFrom, merge, take, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryKnowledge } from '../../src/stores/memory-knowledge.js';
import { createThreadPool } from '../../src/threads/thread-pool.js';
import { createFakeIndexes } from '../knowledge/base/support/fake-indexes.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';

/** Ingests a file in threads, as a server does. */
async function ingested(name: string, content: Uint8Array, change: object = {}) {
  const threads = createThreadPool();
  onTestFinished(() => threads.close());
  const test = newBase();
  test.start({ threads });
  const id = await test.dataset('docs', change);
  return { ...test, document: await test.ingest(id, name, content) };
}

async function longPdf(pages: number): Promise<Buffer> {
  const document = new PdfDocument({ autoFirstPage: false });
  const parts: Buffer[] = [];
  document.on('data', (part: Buffer) => parts.push(part));
  const ended = once(document, 'end');
  for (let page = 1; page <= pages; page += 1) document.addPage().text(`Words of page ${page}.`);
  document.end();
  await ended;
  return Buffer.concat(parts);
}

const TYPES =
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
const RELATIONS =
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>';

/** A Word document with this XML as its text. */
function wordFile(xml: string | Uint8Array): Uint8Array {
  return zipSync({
    '[Content_Types].xml': strToU8(TYPES),
    '_rels/.rels': strToU8(RELATIONS),
    'word/document.xml': typeof xml === 'string' ? strToU8(xml) : xml,
  });
}

/** Entities that stand for a billion words. */
const ENTITIES = Array.from({ length: 9 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('');

describe('a file that is too much', () => {
  it('is read to its last page when it has 5,000', { timeout: 240_000 }, async () => {
    const { base, document } = await ingested('long.pdf', await longPdf(5_000), { chunkMethod: 'presentation' });
    expect(document).toMatchObject({ run: 'DONE', chunkCount: 5_000 });
    const page = { documentId: document.id, offset: 4_999, limit: 1 };
    expect((await base.chunks.list(TENANT, page)).items).toMatchObject([{ page: 5_000, text: 'Words of page 5000.' }]);
  });

  it('is read to its last sheet when it has 300', { timeout: 120_000 }, async () => {
    const book = new ExcelJs.Workbook();
    for (let at = 1; at <= 300; at += 1)
      book.addWorksheet(`Sheet ${at}`).addRows([
        ['part', 'age'],
        [`seal ${at}`, at],
      ]);
    const bytes = new Uint8Array(await book.xlsx.writeBuffer());
    const { document, found } = await ingested('long.xlsx', bytes, { chunkMethod: 'table' });
    expect(document).toMatchObject({ run: 'DONE' });
    expect(document.chunkCount).toBeGreaterThanOrEqual(300);
    expect((await found(document.datasetId, '300')).length).toBeGreaterThan(0);
  });

  it('is refused, or read without them, when its XML has entities within entities', async () => {
    const body =
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>pump &e9;</w:t></w:r></w:p></w:body></w:document>';
    const xml = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e0 "word ">${ENTITIES}]>${body}`;
    const { document, texts } = await ingested('bomb.docx', wordFile(xml));
    expect(['DONE', 'FAIL']).toContain(document.run);
    expect((await texts(document.id)).join('').length).toBeLessThan(1_000);
  });

  it('is refused when it unpacks to more than a document may have', async () => {
    const { document } = await ingested('bomb.docx', wordFile(new Uint8Array(200 * 1_048_576)));
    expect(document).toMatchObject({ run: 'FAIL', chunkCount: 0 });
    expect(document.progressMsg).toContain('FILE_UNREADABLE');
  });

  it('is cut at its headings although all of its lines look like some', async () => {
    const text = '1. a\n'.repeat(10_000);
    const { document } = await ingested('titles.txt', Buffer.from(text), { chunkMethod: 'book' });
    expect(document).toMatchObject({ run: 'DONE', chunkCount: 10_000 });
  });
});

describe('the same file', () => {
  it('that comes twice at once is two documents, each whole, by whatever process', async () => {
    const store = createMemoryKnowledge();
    const indexes = createFakeIndexes();
    const first = newBase({ store, indexes });
    const second = newBase({ store, indexes, files: first.base.parts.files });
    const id = await first.dataset('docs', { parserConfig: { chunk_token_num: 4 } });
    const text = Array.from({ length: 20 }, (_, at) => `Line ${at} of them.`).join('\n');
    const added = await Promise.all([first, second].map((one) => one.add(id, 'a.txt', text)));
    expect(added.map(({ name }) => name).toSorted()).toEqual(['a(1).txt', 'a.txt']);
    const all$ = merge(...[first, second].map(({ base }) => base.parts.hub.progressOf(TENANT)));
    const done = firstValueFrom(
      all$.pipe(
        filter(({ run }) => run !== 'RUNNING'),
        take(2),
        toArray(),
      ),
    );
    first.start({ pollMs: 5 });
    second.start({ pollMs: 5 });
    expect((await done).map(({ run }) => run)).toEqual(['DONE', 'DONE']);
    const texts = await Promise.all(added.map((one) => first.texts(one.id)));
    expect(texts[0]?.join(' ').replaceAll('\n', ' ')).toBe(text.replaceAll('\n', ' '));
    expect(texts[1]).toEqual(texts[0]);
    expect(indexes.passages(TENANT, id).size).toBe(2 * (texts[0]?.length ?? 0));
  });
});

describe('a document whose machine or model changes', () => {
  it('is parsed while the clock jumps back and forth, and never took less than no time', async () => {
    let calls = 0;
    const now = () => {
      calls += 1;
      return calls % 2 === 0 ? 0 : 4_000_000_000_000;
    };
    const test = newBase({ now });
    test.start();
    const document = await test.ingest(await test.dataset(), 'a.txt', 'Dogs bark.');
    expect(document).toMatchObject({ run: 'DONE', progress: 1, chunkCount: 1 });
    expect(document.durationMs).toBeGreaterThanOrEqual(0);
    expect(await test.found(document.datasetId, 'bark')).toHaveLength(1);
  });

  it('is searched by the model that its dataset has now, once it was parsed again', async () => {
    const asked: string[] = [];
    const embedderOf = (model: string, length: number) => ({
      embed: async (texts: readonly string[]) => {
        asked.push(...texts.map(() => model));
        return texts.map(() => new Array<number>(length).fill(1));
      },
    });
    const embedders = (_: string, model: string) => embedderOf(model, model === 'small@A' ? 2 : 3);
    const test = newBase({ embedders });
    test.start();
    const id = await test.dataset('docs', { embeddingModel: 'small@A' });
    const document = await test.ingest(id, 'a.txt', 'Dogs bark.');
    await test.base.datasets.update(TENANT, id, { embeddingModel: 'large@A' });
    await test.base.documents.parse(TENANT, id, [document.id]);
    expect((await test.ended(document.id)).progressMsg).toContain('made 1 vectors');
    const query = { question: 'bark', datasetIds: [id], similarityThreshold: 0 };
    const { hits } = await test.base.search(TENANT, query, new AbortController().signal);
    expect(hits[0]).toMatchObject({ vectorSimilarity: 1 });
    expect(asked).toEqual(['small@A', 'large@A', 'large@A']);
    const { store } = test.base.parts;
    const [chunk] = await store.chunksAfter(TENANT, document.id, undefined, 1);
    expect((await store.findVectors(TENANT, 'large@A', [chunk?.id ?? '']))[0]?.vector).toHaveLength(3);
  });

  it('gets keywords, questions and tags by a model where its settings ask for them', async () => {
    const { modelOf, questionOf } = await import('../canvas/support/pipeline-base.js');
    const asked: string[] = [];
    const chat = () =>
      modelOf((request) => {
        asked.push(`${JSON.stringify(request.jsonSchema?.schema)} ${questionOf(request)}`);
        return '{"keywords":["bark","bark","dog","x"],"questions":["Who barks?"],"tags":["animal","invented"]}';
      });
    const test = newBase();
    test.start({ chat });
    const tags = await test.dataset('tags', { chunkMethod: 'tag' });
    await test.ingest(tags, 'tags.csv', 'a cat sleeps,"animal, pet"\n');
    const settings = { auto_keywords: 2, auto_questions: 1, tag_kb_ids: [tags], topn_tags: 2 };
    const id = await test.dataset('docs', { parserConfig: settings });
    const document = await test.ingest(id, 'a.txt', 'Dogs bark.');
    const { items } = await test.base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 9 });
    expect(items).toMatchObject([{ keywords: ['bark', 'dog'], questions: ['Who barks?'], tags: ['animal'] }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"enum":["animal","pet"]');
    // Those that are there stay; nothing is asked again.
    await test.base.documents.parse(TENANT, id, [document.id]);
    expect(await test.ended(document.id)).toMatchObject({ run: 'DONE' });
    expect(asked).toHaveLength(1);
  });

  it('is a picture that a model sees', async () => {
    const { modelOf } = await import('../canvas/support/pipeline-base.js');
    const needs: unknown[] = [];
    const test = newBase();
    test.start({
      chat: (_tenant, _id, needed) => {
        needs.push(needed);
        return modelOf(() => 'A cat on a mat.');
      },
    });
    const id = await test.dataset('docs', { chunkMethod: 'picture' });
    const document = await test.ingest(id, 'a.png', Buffer.from('89504e470d0a1a0a', 'hex'));
    expect(await test.texts(document.id)).toEqual(['A cat on a mat.']);
    expect(new Set(needs)).toEqual(new Set(['images']));
  });
});
