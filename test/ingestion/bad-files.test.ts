import { once } from 'node:events';
import PdfDocument from 'pdfkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createThreadPool } from '../../src/threads/thread-pool.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';

/** A PDF with a page for each text. */
async function pdfOf(pages: readonly string[], userPassword?: string): Promise<Buffer> {
  const document = new PdfDocument({ autoFirstPage: false, ...(userPassword !== undefined && { userPassword }) });
  const parts: Buffer[] = [];
  document.on('data', (part: Buffer) => parts.push(part));
  const ended = once(document, 'end');
  for (const text of pages) document.addPage().text(text);
  document.end();
  await ended;
  return Buffer.concat(parts);
}

async function ingested(name: string, content: Uint8Array) {
  const threads = createThreadPool();
  onTestFinished(() => threads.close());
  const test = newBase();
  test.start({ threads });
  const id = await test.dataset();
  const document = await test.ingest(id, name, content);
  return { ...test, id, document };
}

describe('a file that is parsed', () => {
  it('tells the page of each chunk', async () => {
    const { base, document } = await ingested('a.pdf', await pdfOf(['Cats sleep.', '', 'Dogs bark.']));
    expect(document).toMatchObject({ run: 'DONE', type: 'pdf' });
    const settings = { chunkMethod: 'presentation' } as const;
    await base.documents.update(TENANT, document.datasetId, document.id, settings);
    await base.documents.parse(TENANT, document.datasetId, [document.id]);
    for (;;) {
      const now = await base.documents.find(TENANT, document.datasetId, document.id);
      if (now?.run !== 'RUNNING') break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { items } = await base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 9 });
    expect(items.map(({ text, page }) => [text, page])).toEqual([
      ['Cats sleep.', 1],
      ['Dogs bark.', 3],
    ]);
  });

  it.each([
    ['a PDF without text', 'a.pdf', () => pdfOf(['', '']), 'DONE', 'it holds no text'],
    ['an empty file', 'a.txt', async () => Buffer.alloc(0), 'DONE', 'it holds no text'],
    ['an empty PDF', 'a.pdf', async () => Buffer.alloc(0), 'FAIL', 'FILE_UNREADABLE'],
    ['a PDF with a password', 'a.pdf', () => pdfOf(['x'], 'secret'), 'FAIL', 'it is protected by a password'],
    ['a PDF that is no PDF', 'a.pdf', async () => Buffer.from('%PDF-1.4 nothing'), 'FAIL', 'it is no usable PDF'],
    ['a picture', 'a.png', async () => Buffer.from('89504e470d0a1a0a', 'hex'), 'FAIL', 'it is a picture'],
    ['an unknown format', 'a.bin', async () => Buffer.from([0, 1, 2]), 'FAIL', 'no format that can be read'],
    ['a program called a text', 'a.txt', async () => Buffer.from([0, 1, 2]), 'FAIL', 'its bytes are not'],
    ['an archive that is no Word document', 'a.docx', async () => Buffer.from('PK'), 'FAIL', 'it is no zip archive'],
  ])('ends for %s', async (_what, name, make, run, message) => {
    const { document } = await ingested(name, await make());
    expect(document.run).toBe(run);
    expect(document.progressMsg).toContain(message);
    expect(document.chunkCount).toBe(0);
  });

  it('ends for a PDF that was cut off, at any place', async () => {
    const whole = await pdfOf(['Cats sleep.']);
    const { document } = await ingested('a.pdf', whole.subarray(0, Math.floor(whole.length / 3)));
    expect(['DONE', 'FAIL']).toContain(document.run);
  });

  it('is read in the character set of its bytes', async () => {
    const chinese = Uint8Array.from(Buffer.from('b1b1beb0cad0b5c4ccecc6f8', 'hex'));
    const { texts, document } = await ingested('a.txt', chinese);
    expect(await texts(document.id)).toEqual(['北景市的天气']);
  });

  it('is read although some of its bytes are no UTF-8, without half characters', async () => {
    const { texts, document } = await ingested('a.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0xff, 0x21]));
    const [text] = await texts(document.id);
    expect(text).toMatch(/^caf/);
    expect(text).not.toMatch(/\p{Surrogate}|\0/u);
  });

  it('may be one line of ten million characters', async () => {
    const { document, texts } = await ingested('a.txt', Buffer.from('lorem ipsum '.repeat(850_000)));
    expect(document).toMatchObject({ run: 'DONE', characters: 10_200_000 });
    expect(document.chunkCount).toBeGreaterThan(1_000);
    expect((await texts(document.id)).every((text) => text.length > 0 && text.length < 10_000)).toBe(true);
    // It took 160 s at a load of 20 on two cores.
  }, 900_000);
});
