import PdfDocument from 'pdfkit';
import { describe, expect, it } from 'vitest';
import { readInThread, readPages, readPagesInThread } from '../../../src/documents/reading/read-document.js';
import { zipOf } from './zip-of.js';

const file = (name: string, bytes: Uint8Array) => ({ id: 'f', name, mimeType: '', bytes });
const limits = { maxCharacters: 10_000 };

async function pdfOf(...pages: readonly string[]): Promise<Uint8Array> {
  const document = new PdfDocument({ autoFirstPage: false });
  for (const page of pages) document.addPage().text(page);
  document.end();
  const chunks: Uint8Array[] = [];
  for await (const chunk of document) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

/** A presentation of slides, given as the XML of their shapes, in the reverse order of their files. */
function slidesOf(slides: readonly string[], notes: Readonly<Record<number, string>> = {}): Uint8Array {
  const names = slides.map((_, at) => `slide${slides.length - at}.xml`);
  const ids = slides.map((_, at) => `<p:sldId id="${at + 256}" r:id="r${at}"/>`).join('');
  const relations = (list: readonly (readonly [string, string, string])[]) =>
    `<Relationships>${list.map(([id, type, target]) => `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`).join('')}</Relationships>`;
  return zipOf(
    { path: 'ppt/presentation.xml', content: `<p:presentation><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>` },
    {
      path: 'ppt/_rels/presentation.xml.rels',
      content: relations(names.map((name, at) => [`r${at}`, 'slide', `slides/${name}`] as const)),
    },
    ...slides.map((shapes, at) => ({ path: `ppt/slides/${names[at]}`, content: `<p:sld>${shapes}</p:sld>` })),
    ...Object.entries(notes).flatMap(([at, text]) => [
      {
        path: `ppt/slides/_rels/${names[Number(at)]}.rels`,
        content: relations([['n', 'notesSlide', '../notesSlides/notes.xml']]),
      },
      {
        path: 'ppt/notesSlides/notes.xml',
        content: `<p:notes>${shape('sldNum', '7')}${shape('body', text)}</p:notes>`,
      },
    ]),
  );
}

const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (kind: string, ...texts: readonly string[]) =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody>${texts.map(paragraph).join('')}</p:txBody></p:sp>`;
const table = (...rows: readonly (readonly string[])[]) =>
  `<p:graphicFrame><a:tbl>${rows.map((cells) => `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${paragraph(cell)}</a:txBody></a:tc>`).join('')}</a:tr>`).join('')}</a:tbl></p:graphicFrame>`;

describe('the pages of a PDF', () => {
  it('are ranges of its text, with their numbers, those without text left out', async () => {
    const { text, pages = [] } = await readPages(file('a.pdf', await pdfOf('First', '', 'Third page')), limits);
    expect(text).toBe('First\n\nThird page');
    expect(pages.map(({ start, end, page }) => [text.slice(start, end), page])).toEqual([
      ['First', 1],
      ['Third page', 3],
    ]);
  });

  it('end with the last that is read whole', async () => {
    const bytes = await pdfOf('first page', 'second page');
    const { text, pages } = await readPages(file('a.pdf', bytes), { maxCharacters: 12 });
    expect(text).toContain('is left out after 12 characters.');
    expect(pages).toEqual([{ start: 0, end: 10, page: 1 }]);
  });

  it('are the same in a thread', async () => {
    const given = file('a.pdf', await pdfOf('First', 'Second'));
    expect(await readPagesInThread(given, limits)).toEqual(await readPages(given, limits));
    expect(await readInThread(given, limits)).toBe('First\n\nSecond');
  });

  it('are not there for files without pages', async () => {
    expect(await readPages(file('a.md', Buffer.from('# A')), limits)).toEqual({ text: '# A' });
  });
});

describe('the slides of a presentation', () => {
  it('are pages in the order of the presentation: titles, lines, tables and notes, without numbers and dates', async () => {
    const bytes = slidesOf(
      [
        shape('title', 'Results') + shape('body', 'Up &amp; away', 'Twice') + shape('sldNum', '1'),
        table(['name', 'a|b'], ['pear', '2']),
        shape('dt', '2026'),
      ],
      { 0: 'Speak slowly' },
    );
    const { text, pages = [] } = await readPages(file('a.pptx', bytes), limits);
    expect(pages.map(({ start, end, page }) => [text.slice(start, end), page])).toEqual([
      ['# Results\nUp & away\nTwice\n\nNotes: Speak slowly', 1],
      ['| name | a\\|b |\n| --- | --- |\n| pear | 2 |', 2],
    ]);
  });

  it('may hold no text, which is said', async () => {
    expect(await readPages(file('a.pptx', slidesOf([''])), limits)).toEqual({
      text: '[The 1 slides of "a.pptx" hold no text.]',
    });
  });

  it.each([
    ['an archive that is none', zipOf({ path: 'a.txt', content: 'x' }), 'it is no presentation.'],
    ['XML that ends early', slidesOf(['<p:sp>']), 'it is no usable presentation'],
    [
      'a bomb',
      zipOf(
        { path: 'ppt/presentation.xml', content: 'x' },
        { path: 'ppt/slides/slide1.xml', content: Buffer.alloc(17 * 1_048_576) },
      ),
      'its content unpacks to 17.1 MiB; at most 16 MiB are read.',
    ],
    [
      'a document type',
      zipOf({ path: 'ppt/presentation.xml', content: '<!DOCTYPE x [<!ENTITY a "b">]><x/>' }),
      'it declares a document type',
    ],
  ])('refuses %s', async (_, bytes, reason) => {
    await expect(readPages(file('a.pptx', bytes), limits)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(reason),
    });
  });
});

describe('a mail', () => {
  const mail = (...lines: readonly string[]) => file('a.eml', Buffer.from(lines.join('\r\n')));

  it('gives its head, its text and the names of what is attached', async () => {
    const { text } = await readPages(
      mail(
        'From: =?utf-8?Q?J=C3=B6rg?= <j@example.org>',
        'To: a@example.org, Bee <b@example.org>',
        'Subject: =?utf-8?B?5qOA5p+l54K5?=',
        'Date: Mon, 23 Nov 2026 08:00:00 +0000',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=x',
        '',
        '--x',
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Gr=FC=DFe',
        '--x',
        'Content-Type: application/pdf; name=plan.pdf',
        'Content-Disposition: attachment; filename=plan.pdf',
        '',
        'bytes',
        '--x--',
      ),
      limits,
    );
    expect(text).toBe(
      'From: Jörg <j@example.org>\nTo: a@example.org, Bee <b@example.org>\nDate: 2026-11-23T08:00:00.000Z\nSubject: 检查点\n\nGrüße\n\nAttachments: plan.pdf',
    );
  });

  it('gives HTML as Markdown when there is no text', async () => {
    const { text } = await readPages(
      mail('Subject: s', 'Content-Type: text/html', '', '<h1>Hi</h1><script>x</script><p>there</p>'),
      limits,
    );
    expect(text).toBe('Subject: s\n\n# Hi\n\nthere');
  });

  it('is refused when its parts are nested too deeply', async () => {
    const nested = Array.from({ length: 40 }, (_, at) => [
      `Content-Type: multipart/mixed; boundary=b${at}`,
      '',
      `--b${at}`,
    ]).flat();
    await expect(readPages(mail(...nested, '', 'x'), limits)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
