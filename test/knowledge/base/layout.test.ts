import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import PdfDocument from 'pdfkit';
import { firstValueFrom, of } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askForLayout, REGIONS } from '../../../src/adapters/layout/layout-client.js';
import { renderPages } from '../../../src/adapters/layout/render-pages.js';
import { EngineError } from '../../../src/errors.js';
import { orderPage } from '../../../src/knowledge/base/layout/order-page.js';
import { createLayoutRecogniser, type LayoutParts } from '../../../src/knowledge/base/layout/recognise-layout.js';
import { hasChromium, named } from '../../adapters/browser/support/chromium.js';
import { newBase } from './support/new-base.js';

const JPEG = Buffer.from('ffd8ffe0', 'hex');

/** A server for layouts that answers each request by a function, and notes what it was sent. */
async function layoutServer(
  answer: (count: number) => { status?: number; body?: string; cut?: boolean; silent?: boolean },
) {
  const requests: { type: string; body: Buffer; port: number }[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      requests.push({
        type: request.headers['content-type'] ?? '',
        body: Buffer.concat(parts),
        port: request.socket.remotePort ?? 0,
      });
      const { status = 200, body = '{"bboxes":[]}', cut = false, silent = false } = answer(requests.length);
      if (silent) return;
      if (cut) response.destroy();
      else response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}

const BOXES = JSON.stringify({
  bboxes: [
    [0, 1, 10, 11, 0.9, 0],
    [0, 20, 10, 30, 0.8, 7],
    [0, 0, 1, 1, 0.9, 99],
    [5, 5, 5, 5, 1, 1],
  ],
});

describe('askForLayout', () => {
  it('sends the page as the field "request", and reads the ten kinds in their order', async () => {
    const { url, requests } = await layoutServer(() => ({ body: BOXES }));
    const { regions, failed } = await firstValueFrom(askForLayout({ url: `${url}/` }, JPEG));
    expect(failed).toBeUndefined();
    expect(regions.map(({ kind, top }) => [kind, top])).toEqual([
      ['title', 1],
      ['table caption', 20],
    ]);
    expect(REGIONS).toHaveLength(10);
    const form = await new Response(new Uint8Array(requests[0]?.body ?? []), {
      headers: { 'content-type': requests[0]?.type ?? '' },
    }).formData();
    const sent = form.get('request') as File;
    expect([sent.type, Buffer.from(await sent.arrayBuffer())]).toEqual(['image/jpeg', JPEG]);
  });

  it('tries three times, each with a new connection', async () => {
    const { url, requests } = await layoutServer((count) => (count < 3 ? { status: 503 } : { body: BOXES }));
    expect((await firstValueFrom(askForLayout({ url, pauseMs: 1 }, JPEG))).regions).toHaveLength(2);
    expect(new Set(requests.map(({ port }) => port)).size).toBe(3);
  });

  it.each([
    ['a status', () => ({ status: 500 }), 'status 500'],
    ['a connection that is cut', () => ({ cut: true }), ''],
    ['no JSON', () => ({ body: '<html>' }), 'no list of regions'],
    ['another object', () => ({ body: '{"bboxes":[["a"]]}' }), 'no list of regions'],
    ['an endless answer', () => ({ body: `{"bboxes":[${'[1,2,3,4,1,1],'.repeat(100_000)}[]]}` }), ''],
  ])('sees nothing for %s, and says why', async (_, answer, why) => {
    const { url, requests } = await layoutServer(answer);
    const { regions, failed } = await firstValueFrom(askForLayout({ url, pauseMs: 1 }, JPEG));
    expect(regions).toEqual([]);
    expect(failed).toContain(why);
    expect(requests).toHaveLength(3);
  });

  it('sees nothing of a server that is silent', async () => {
    const { url } = await layoutServer(() => ({ silent: true }));
    // Each try ends with its time, whether or not its request has arrived by then.
    const { regions, failed } = await firstValueFrom(askForLayout({ url, pauseMs: 1, timeoutMs: 200 }, JPEG));
    expect(regions).toEqual([]);
    expect(failed).toContain('timeout');
  });

  it('sees nothing where there is no server', async () => {
    const { regions, failed = '' } = await firstValueFrom(
      askForLayout({ url: 'http://127.0.0.1:1', pauseMs: 1 }, JPEG),
    );
    expect([regions, failed === '']).toEqual([[], false]);
  });
});

const item = (text: string, left: number, top: number, width = text.length * 5) => ({
  text,
  left,
  top,
  width,
  height: 10,
});
const region = (
  kind: (typeof REGIONS)[number],
  left: number,
  top: number,
  right: number,
  bottom: number,
  score = 0.9,
) => ({
  ...{ kind, left: left * 2, top: top * 2, right: right * 2, bottom: bottom * 2, score },
});

describe('orderPage', () => {
  const page = {
    page: 1,
    width: 600,
    height: 800,
    // As a file may have them: line by line over both columns.
    items: [
      item('Acme Inc.', 20, 10),
      item('Pumps', 20, 90),
      item('left one', 20, 120),
      item('right one', 320, 120),
      item('left two', 20, 135),
      item('right two', 320, 135),
      item('part', 20, 300),
      item('age', 200, 300),
      item('seal', 20, 320),
      item('3', 200, 320),
      item('loose', 20, 500),
      item('page 7', 300, 790),
    ],
  };
  const regions = [
    region('table', 10, 290, 590, 340),
    region('text', 310, 110, 590, 150),
    region('title', 10, 85, 590, 105),
    region('text', 10, 110, 290, 150),
    region('figure', 0, 0, 600, 800, 0.1),
  ];

  it('reads columns one after the other, keeps tables whole, and drops headers and footers', () => {
    expect(orderPage(page, regions, 2)).toBe(
      '## Pumps\n\nleft one\nleft two\n\nright one\nright two\n\n| part | age |\n| --- | --- |\n| seal | 3 |\n\nloose',
    );
  });

  it('has nothing to say where nothing is seen', () => {
    expect(orderPage(page, [], 2)).toBeUndefined();
    expect(orderPage({ ...page, items: [] }, regions, 2)).toBeUndefined();
  });

  it('takes any regions', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => region('text', at % 30, at % 70, 600, 800));
    expect(orderPage(page, many, 2)).toContain('left one');
  });
});

async function pdf(): Promise<Buffer> {
  const document = new PdfDocument({ size: [600, 800], margin: 0 });
  const parts: Buffer[] = [];
  document.on('data', (part: Buffer) => parts.push(part));
  const ended = once(document, 'end');
  document
    .fontSize(10)
    .text('left one', 20, 120)
    .text('right one', 320, 120)
    .text('left two', 20, 135)
    .text('right two', 320, 135);
  document.addPage().text('second page', 20, 120);
  document.end();
  await ended;
  return Buffer.concat(parts);
}

const COLUMNS = [region('text', 10, 110, 290, 150), region('text', 310, 110, 590, 150)];

/** Ingests a PDF with two columns by a layout; gives its text and its progress. */
async function ingested(parts: LayoutParts, settings = {}) {
  const test = newBase();
  test.start({ layout: createLayoutRecogniser(parts) });
  const id = await test.dataset('d', { chunkMethod: 'one', parserConfig: settings });
  const document = await test.ingest(id, 'a.pdf', await pdf());
  return { document, text: (await test.texts(document.id)).join() };
}

async function* drawn() {
  for (const page of [1, 2]) yield { page, jpeg: JPEG, width: 1_200, height: 1_600 };
}

describe('a PDF whose layout is seen', () => {
  it('is read in its order', async () => {
    const { document, text } = await ingested({ render: drawn, see: () => of({ regions: COLUMNS }) });
    expect(document.progressMsg).toContain('layout of 2 pages');
    expect(text).toContain('left one\nleft two\n\nright one\nright two');
    expect(text).toContain('second page');
  });

  it('is read as the file has it where its settings want no layout', async () => {
    const never: LayoutParts = {
      render: () => {
        throw new Error('not asked');
      },
      see: () => of({ regions: [] }),
    };
    const { document } = await ingested(never, { layout_recognize: 'Plain Text' });
    expect(document).toMatchObject({ run: 'DONE' });
    expect(document.progressMsg).not.toContain('layout');
  });

  it('is read all the same when the server is away, nothing can be drawn, or drawing breaks off', async () => {
    let asked = 0;
    const away = () => {
      asked += 1;
      return of({ regions: [], failed: 'connect ECONNREFUSED' });
    };
    const gone = await ingested({ render: drawn, see: away });
    expect(gone.document).toMatchObject({ run: 'DONE' });
    expect(gone.document.progressMsg).toContain('without: connect ECONNREFUSED');
    expect([gone.text.includes('second page'), asked]).toEqual([true, 2]);
    const missing = new EngineError('BROWSER_MISSING', 'There is no browser.');
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async function* broken(): AsyncGenerator<never> {
      throw missing;
    }
    const undrawn = await ingested({ render: broken, see: away });
    expect(undrawn.document).toMatchObject({ run: 'DONE' });
    expect(undrawn.document.progressMsg).toContain('There is no browser.');
  });
});

describe.skipIf(!hasChromium)(named('renderPages'), () => {
  const draw = async (bytes: Uint8Array, maxPages = 9, timeoutMs = 60_000) => {
    const pages = [];
    for await (const page of renderPages(bytes, { maxPages, timeoutMs, signal: new AbortController().signal }))
      pages.push(page);
    return pages;
  };

  it('draws the first pages as JPEG', async () => {
    const pages = await draw(await pdf(), 1);
    expect(pages.map(({ page, width, height }) => [page, width, height])).toEqual([[1, 1_200, 1_600]]);
    expect(
      Buffer.from(pages[0]?.jpeg ?? [])
        .subarray(0, 3)
        .toString('hex'),
    ).toBe('ffd8ff');
    // A white page of this size has less; the text is on it.
    expect(pages[0]?.jpeg.length).toBeGreaterThan(10_000);
  });

  it('fails for what is no PDF, and ends with its signal', async () => {
    await expect(draw(Buffer.from('%PDF-1.4 nothing'))).rejects.toMatchObject({ code: 'BROWSER_FAILED' });
    const stop = new AbortController();
    const pages = renderPages(await pdf(), { maxPages: 9, timeoutMs: 60_000, signal: stop.signal });
    await pages.next();
    stop.abort();
    await expect(pages.next()).rejects.toThrow();
  });

  it('is asked through the server for layouts, from the file to the text', async () => {
    const answer = JSON.stringify({
      bboxes: COLUMNS.map(({ left, top, right, bottom, score }) => [left, top, right, bottom, score, 1]),
    });
    const { url, requests } = await layoutServer(() => ({ body: answer }));
    const { document, text } = await ingested({
      render: (bytes, options) => renderPages(bytes, { ...options, timeoutMs: 60_000 }),
      see: (jpeg) => askForLayout({ url }, jpeg),
    });
    expect(document).toMatchObject({ run: 'DONE' });
    expect(text).toContain('left one\nleft two\n\nright one\nright two');
    expect(requests).toHaveLength(2);
  });
});
