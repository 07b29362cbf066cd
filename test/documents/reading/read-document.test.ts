import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow, TextRun } from 'docx';
import PdfDocument from 'pdfkit';
import { describe, expect, it } from 'vitest';
import { isCut, MAX_FILE_BYTES, MAX_IMAGE_BYTES } from '../../../src/documents/reading/limits.js';
import { readDocument } from '../../../src/documents/reading/read-document.js';
import { workbookOf } from '../spreadsheets/workbook-of.js';
import { zipOf } from './zip-of.js';

const read = (name: string, bytes: Uint8Array, options: { maxCharacters?: number; signal?: AbortSignal } = {}) =>
  readDocument({ id: 'f', name, mimeType: '', bytes }, { maxCharacters: 10_000, ...options });

async function pdfOf(pages: readonly string[], userPassword?: string): Promise<Uint8Array> {
  const document = new PdfDocument({ autoFirstPage: false, ...(userPassword !== undefined && { userPassword }) });
  for (const page of pages) document.addPage().text(page);
  document.end();
  const chunks: Uint8Array[] = [];
  for await (const chunk of document) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

function docxOf(): Promise<Uint8Array> {
  const row = (...cells: string[]) =>
    new TableRow({ children: cells.map((text) => new TableCell({ children: [new Paragraph(text)] })) });
  const children = [
    new Paragraph({ text: 'Report', heading: HeadingLevel.TITLE }),
    new Paragraph({ text: 'Part', heading: HeadingLevel.HEADING_2 }),
    new Paragraph({
      children: [new TextRun('Grüße '), new TextRun({ text: 'and', bold: true }), new TextRun(' more')],
    }),
    new Paragraph({ text: 'one', bullet: { level: 0 } }),
    new Paragraph({ text: 'two', bullet: { level: 1 } }),
    new Table({ rows: [row('a', 'b'), row('1', '2')] }),
  ];
  return Packer.toBuffer(new Document({ sections: [{ children }] }));
}

describe('readDocument', () => {
  it('gives the text of a PDF page by page', async () => {
    expect(await read('a.pdf', await pdfOf(['Hello\nthere', 'Second']))).toBe('Hello\nthere\n\nSecond');
  });

  it('says that a PDF holds no text', async () => {
    expect(await read('scan.pdf', await pdfOf(['', '']))).toBe('[The 2 pages of "scan.pdf" hold no text.]');
  });

  it('reads no further than the text may be long', async () => {
    const text = await read('a.pdf', await pdfOf(['first page', 'second page', 'third page']), { maxCharacters: 12 });
    expect(text).toBe('first page\n\n\n\n[The rest of "a.pdf" is left out after 12 characters.]');
    expect(isCut(text)).toBe(true);
  });

  it('gives headings, lists and tables of a Word document as Markdown', async () => {
    expect(await read('a.docx', await docxOf())).toBe(
      '# Report\n\n## Part\n\nGrüße and more\n\n- one\n  - two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |',
    );
  });

  it('gives the sheets of a workbook as tables', async () => {
    const bytes = workbookOf([
      {
        name: 'A|1',
        xml: '<row><c t="inlineStr"><is><t>n</t></is></c><c t="inlineStr"><is><t>x|y</t></is></c></row><row><c><v>1.5</v></c></row>',
      },
      { name: 'Empty', xml: '' },
    ]);
    expect(await read('a.xlsx', bytes)).toBe('### A|1\n\n| n | x\\|y |\n| --- | --- |\n| 1.5 |  |\n\n### Empty');
  });

  it('stops reading a workbook when its text is full', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => `<row><c><v>${index}</v></c></row>`);
    const text = await read('a.xlsx', workbookOf([{ name: 'S', xml: rows.join('') }]), { maxCharacters: 100 });
    expect(isCut(text)).toBe(true);
    expect(text).toHaveLength(100 + '\n\n[The rest of "a.xlsx" is left out after 100 characters.]'.length);
  });

  it('gives the text of a page', async () => {
    expect(await read('a.html', Buffer.from('<h1>Hi</h1><script>x</script>there'))).toBe('# Hi\n\nthere');
  });

  it('never parts a character', async () => {
    const text = await read('a.txt', Buffer.from('ab😀c'), { maxCharacters: 3 });
    expect(text).toBe('ab\n\n[The rest of "a.txt" is left out after 2 characters.]');
  });

  it.each<readonly [string, string, () => Uint8Array | Promise<Uint8Array>, string]>([
    [
      'a PDF with a password',
      'a.pdf',
      () => pdfOf(['x'], 'secret'),
      'it is protected by a password; give a copy without one.',
    ],
    ['a broken PDF', 'a.pdf', () => Buffer.from('%PDF-1.4 nothing'), 'it is no usable PDF (Invalid PDF structure.).'],
    [
      'a broken Word document',
      'a.docx',
      () => Buffer.from('PK nothing'),
      'it is no zip archive, or its end is missing.',
    ],
    [
      'an archive that is no Word document',
      'a.docx',
      () => zipOf({ path: 'a.txt', content: 'x' }),
      'it is no Word document.',
    ],
    ['a workbook called a Word document', 'a.docx', () => workbookOf([]), 'it is no usable Word document'],
    [
      'a bomb called a Word document',
      'a.docx',
      () =>
        zipOf({ path: 'a.rels', content: 'x' }, { path: 'word/document.xml', content: Buffer.alloc(17 * 1_048_576) }),
      'its content unpacks to 17.1 MiB; at most 16 MiB are read.',
    ],
    [
      'an archive that is no workbook',
      'a.xlsx',
      () => zipOf({ path: 'a.txt', content: 'x' }),
      'there is no workbook in it; give an .xlsx or .csv file.',
    ],
    [
      'an old Word document',
      'a.doc',
      () => Buffer.from('x'),
      'it has the format of Office before 2007, or a password; save it as .docx or .xlsx without one.',
    ],
    [
      'an unknown kind',
      'a.bin',
      () => Buffer.from([0, 1]),
      'its type is bin; give an image, PDF, .docx, .pptx, .xlsx, .eml, HTML, Markdown, CSV, JSON or plain text.',
    ],
    [
      'a file that is too large',
      'a.txt',
      () => Buffer.alloc(MAX_FILE_BYTES + 1),
      'it has 64.1 MiB; at most 64 MiB are read.',
    ],
    [
      'an image that is too large',
      'a.png',
      () => Buffer.alloc(MAX_IMAGE_BYTES + 1),
      'the image has 20.1 MiB; at most 20 MiB are read.',
    ],
  ])('refuses %s', async (_name, name, bytes, reason) => {
    await expect(read(name, await bytes())).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(`File "${name}" cannot be read: ${reason}`),
    });
  });

  it.each([
    ['a.pdf', () => pdfOf(['x'])],
    ['a.docx', docxOf],
    ['a.xlsx', () => workbookOf([{ name: 'S', xml: '<row><c><v>1</v></c></row>' }])],
  ])('stops reading %s when it is told to', async (name, bytes) => {
    const signal = AbortSignal.abort();
    await expect(read(name, await bytes(), { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
