/** Reports as files: every citation leads to its entry in the list, and every entry to the passage that was read. */
import { load } from 'cheerio';
import { getDocumentProxy } from 'unpdf';
import { expect, it } from 'vitest';
import { createKnowledgeSearch } from '../../../src/knowledge/base/search-datasets.js';
import type { ResearchFinal } from '../../../src/research/research-events.js';
import { reportFile } from '../../../src/research/service/report-file.js';
import { prettyXml, unzip } from '../../documents/read-back.js';
import { ACME, type DatasetServer, startDatasets } from '../datasets/support/dataset-server.js';

const bytes = Buffer.from('<!doctype html>');
const STUDIO = {
  page: { type: 'text/html', bytes, compressed: {}, hash: 'x', isHashed: false },
  files: new Map(),
};

/** A research over two documents that is over. */
async function researched() {
  let server: DatasetServer | undefined;
  const knowledge = createKnowledgeSearch(async () => (server as DatasetServer).base, '');
  server = await startDatasets({
    services: { knowledge },
    studio: STUDIO,
    env: { RUNNEL_TRUSTED_PROXIES: '127.0.0.1, ::1' },
  });
  const dataset = await server.dataset('world');
  await server.ingest(dataset, 'atlas.txt', 'Corwin Hale wrote The Salt Atlas in 1911.');
  await server.ingest(dataset, 'hale.txt', 'Corwin Hale was born in Marrow Bay, where salt is traded.');
  const question = 'Who wrote The Salt Atlas? Where was Corwin Hale born?';
  const { data } = await server.ask('POST', '/research', { question, stream: false });
  const final: ResearchFinal = data.final;
  expect(final.sources.map(({ source }) => source).sort()).toEqual(['atlas.txt', 'hale.txt']);
  const file = async (format: string, said: Record<string, string> = {}): Promise<Uint8Array> => {
    const url = `${server.url}/api/v1/research/${data.run_id}/report?format=${format}`;
    return new Uint8Array(await (await fetch(url, { headers: { ...ACME, ...said } })).arrayBuffer());
  };
  /** The text of the passage that an address of the studio opens. */
  const passageAt = async (address: string): Promise<string> => {
    const { origin, hash } = new URL(address);
    expect(origin).toBe(server.url);
    const [path = '', query = ''] = hash.slice(1).split('?');
    const id = new URLSearchParams(query).get('chunk') ?? '';
    const { data: found } = await server.ask('GET', `${path}/chunks?chunk_ids=${id}`);
    expect(found.chunks.map((chunk: { id: string }) => chunk.id)).toEqual([id]);
    return found.chunks[0].content;
  };
  return { final, file, passageAt };
}

interface PdfLink {
  readonly url?: string;
  readonly dest?: string;
  readonly action?: { readonly dest?: string };
}

it('citations and sources of a PDF, a page of HTML and a Word file open what they name', {
  timeout: 60_000,
}, async () => {
  const { final, file, passageAt } = await researched();
  const marks = [...final.report.matchAll(/\[(\d+)\]/g)].map(([, n]) => `source_${n}`).sort();
  expect(marks.length).toBeGreaterThan(1);
  const texts = final.sources.map(({ text }) => text).sort();

  const pdf = await getDocumentProxy(await file('pdf'));
  const jumps: string[] = [];
  const opened: string[] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const links = (await (await pdf.getPage(number)).getAnnotations()) as PdfLink[];
    for (const { url, dest } of links) {
      if (url !== undefined) opened.push(await passageAt(url));
      else {
        jumps.push(String(dest));
        expect(await pdf.getDestination(String(dest))).toEqual(expect.arrayContaining([{ name: 'XYZ' }]));
      }
    }
  }
  expect(jumps.sort()).toEqual(marks);
  expect([...new Set(opened)].sort()).toEqual(texts);

  const page = load(new TextDecoder().decode(await file('html')));
  const hrefs = page('a')
    .map((_, link) => page(link).attr('href') ?? '')
    .get();
  const inPage = hrefs.filter((href) => href.startsWith('#')).map((href) => href.slice(1));
  expect(inPage.sort()).toEqual(marks);
  for (const name of inPage) expect(page(`li #${name}`)).toHaveLength(1);
  const passages = await Promise.all(hrefs.filter((href) => !href.startsWith('#')).map(passageAt));
  expect(passages.sort()).toEqual(texts);

  const parts = await unzip(await file('docx'));
  const body = prettyXml(parts.get('word/document.xml'));
  const targets = new Map(
    [
      ...new TextDecoder()
        .decode(parts.get('word/_rels/document.xml.rels'))
        .matchAll(/Id="([^"]+)"[^>]*Target="([^"]+)"/g),
    ].map(([, id = '', target = '']) => [id, target]),
  );
  const links = [...body.matchAll(/<w:hyperlink ([^>]*)>/g)].map(([, attributes = '']) => ({
    anchor: /w:anchor="([^"]*)"/.exec(attributes)?.[1] ?? '',
    target: targets.get(/r:id="([^"]*)"/.exec(attributes)?.[1] ?? ''),
  }));
  const within = links.filter(({ target }) => target === undefined).map(({ anchor }) => anchor);
  expect(within.sort()).toEqual(marks);
  for (const name of within) expect(body).toContain(`w:name="${name}"`);
  // Word keeps what stands behind # apart.
  const addresses = links.flatMap(({ target, anchor }) => (target === undefined ? [] : [`${target}#${anchor}`]));
  expect((await Promise.all(addresses.map(passageAt))).sort()).toEqual(texts);

  // Behind a proxy that ends TLS.
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'runnel.example' };
  const outside = load(new TextDecoder().decode(await file('html', proxied)));
  const led = outside('a')
    .map((_, link) => outside(link).attr('href') ?? '')
    .get()
    .filter((href) => !href.startsWith('#'));
  expect(led.length).toBeGreaterThan(0);
  for (const href of led) expect(href).toMatch(/^https:\/\/runnel\.example\/#\/datasets\//);

  expect(new TextDecoder().decode(await file('md'))).not.toContain('source_1');
});

it('sources of the web open their address, those of tools nothing, and marks of no source stay text', async () => {
  const about = { question: 'q1', at: 0, score: 1, text: 'It has 9 lamps.' };
  const final = {
    type: 'final',
    title: 'How many lamps?',
    report: 'Nine [1][2]. See `a[1]`, [1](https://b.example/) and [7].',
    sources: [
      { ...about, n: 1, id: 'w', where: 'web', source: 'A [page]', url: 'https://a.example/x?y=(1)' },
      { ...about, n: 2, id: 't', where: 'tool', source: 'count (of: lamps)' },
    ],
    unanswered: [],
    contradictions: [],
    outcome: 'answer',
    unsupported: 0,
  } as unknown as ResearchFinal;
  const page = load(new TextDecoder().decode((await reportFile(final, 'html')).bytes));
  const links = page('a')
    .map((_, link) => `${page(link).text()} ${page(link).attr('href')}`)
    .get();
  expect(links).toEqual([
    '[1] #source_1',
    '[2] #source_2',
    '1 https://b.example/',
    'A [page] https://a.example/x?y=(1)',
    'https://a.example/x?y=(1) https://a.example/x?y=(1)',
  ]);
  expect(page('code').text()).toBe('a[1]');
  expect(page('body').text()).toContain('[7]');
  expect(page('li').last().text()).toBe('[2] count (of: lamps)');
});
