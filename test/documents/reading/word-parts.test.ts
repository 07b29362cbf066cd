import {
  AlignmentType,
  Document,
  FootnoteReferenceRun,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx';
import { strFromU8, unzipSync, zipSync } from 'fflate';
import mammoth from 'mammoth';
import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../../src/documents/reading/html-to-text.js';
import { readDocument } from '../../../src/documents/reading/read-document.js';
import { readWordPart } from '../../../src/documents/reading/word-parts.js';
import { openZip } from '../../../src/documents/reading/zip.js';

/** A document with a bit of everything, again and again. */
async function sample(rounds: number, withNotes = false): Promise<Uint8Array> {
  const item = (text: string, level = 0) =>
    new Paragraph({ text, numbering: { reference: 'steps', level, instance: 1 } });
  const children = Array.from({ length: rounds }, (_, round) => [
    new Paragraph({ heading: HeadingLevel.HEADING_2, text: `Part ${round} & <more> "quoted"` }),
    new Paragraph({
      spacing: { after: 200 },
      children: [
        new TextRun({ text: 'One ', bold: true, color: 'FF0000' }),
        new TextRun({ text: 'two', italics: true, superScript: true }),
        new TextRun({ text: ' three', break: 1 }),
        ...(withNotes ? [new FootnoteReferenceRun(1)] : []),
      ],
    }),
    item(`first of ${round}`),
    item('inner', 1),
    item('second'),
    new Paragraph({ text: 'A bullet', bullet: { level: 0 } }),
    new Table({
      rows: [
        new TableRow({ tableHeader: true, children: [cell('a', 2)] }),
        new TableRow({ children: [cell('b'), cell('c')] }),
      ],
    }),
    new Paragraph({ text: '' }),
    new Paragraph({ text: 'plain' }),
  ]).flat();
  const levels = [0, 1].map((level) => ({
    level,
    format: LevelFormat.DECIMAL,
    text: `%${level + 1}.`,
    alignment: AlignmentType.START,
  }));
  const document = new Document({
    numbering: { config: [{ reference: 'steps', levels }] },
    ...(withNotes && { footnotes: { 1: { children: [new Paragraph('The note')] } } }),
    sections: [{ children }],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}

function cell(text: string, columnSpan = 1): TableCell {
  return new TableCell({ columnSpan, children: [new Paragraph(text)] });
}

/** The text as the library alone gives it. */
async function whole(bytes: Uint8Array): Promise<string> {
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) });
  return htmlToText(value, 'a.docx');
}

function partOf(bytes: Uint8Array, maxElements: number) {
  const zip = openZip(bytes, 'a.docx');
  const entry = zip.entries.get('word/document.xml');
  if (entry === undefined) throw new Error('no document');
  return readWordPart(zip, entry, maxElements);
}

const read = (bytes: Uint8Array, maxCharacters = 1_000_000) =>
  readDocument({ id: 'f', name: 'a.docx', mimeType: '', bytes }, { maxCharacters });

describe('Word documents in pieces', () => {
  it.each([1, 250])(
    'have the text of the whole, with %i rounds',
    async (rounds) => {
      const bytes = await sample(rounds);
      expect(await read(bytes)).toBe(await whole(bytes));
    },
    60_000,
  );

  it('have the notes of the whole', async () => {
    const bytes = await sample(2, true);
    const text = await read(bytes);
    expect(text).toBe(await whole(bytes));
    expect(text).toContain('The note');
    expect((await partOf(bytes, 10)).hasNotes).toBe(true);
  });

  it('are well-formed, end with a paragraph, and never within a list', async () => {
    const bytes = await sample(20);
    const { head, pieces, tail } = await partOf(bytes, 10);
    expect(pieces.length).toBeGreaterThan(5);
    const { value: first } = await mammoth.convertToHtml({
      buffer: Buffer.from(zipSync({ ...unzipSync(bytes), 'word/document.xml': Buffer.from(head + pieces[0] + tail) })),
    });
    expect(first).toContain('Part 0');
    for (const piece of pieces.slice(1)) {
      expect(piece).toMatch(/^<w:(?:tbl|p)>/);
      expect(piece).not.toMatch(/^<w:p><w:pPr>(?:<w:pStyle[^>]*><\/w:pStyle>)?<w:numPr>/);
    }
  });

  it('are without what the text does not need', async () => {
    const bytes = await sample(1);
    const { pieces } = await partOf(bytes, 1_000);
    const before = strFromU8(unzipSync(bytes)['word/document.xml'] ?? new Uint8Array());
    expect(before).toContain('w:rPr');
    expect(pieces.join('')).not.toMatch(/w:rPr|w:spacing|w:color|xml:space/);
  });

  it('may have elements with names that every object has', async () => {
    const files = unzipSync(await sample(1));
    const before = strFromU8(files['word/document.xml'] ?? new Uint8Array());
    const strange = '<w:constructor><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:constructor>';
    const after = before.replace('<w:body>', `<w:body>${strange}`);
    expect(after).not.toBe(before);
    const { pieces } = await partOf(zipSync({ ...files, 'word/document.xml': Buffer.from(after) }), 1_000);
    expect(pieces.join('')).toContain('inside');
  });

  it('are read until there is enough text', async () => {
    const text = await read(await sample(250), 100);
    expect(text).toMatch(/^## Part 0/);
    expect(text).toMatch(/is left out after 100 characters\.\]$/);
  }, 60_000);
});
