import type { ISectionOptions, ParagraphChild } from 'docx';
import type { Section } from '../content.js';
import { EDGE, MARGIN, PAPER, type Page } from '../page.js';
import { BlockWriter } from './blocks.js';
import { Numberings } from './numbering.js';
import type { Docx } from './runs.js';
import { COLOUR, documentStyles, STYLE } from './styles.js';

/** The part of `docx` that makes watermarks. */
type Watermarks = typeof import('docx/watermarks');

/**
 * Writes sections as a document of Word: styles Normal and Heading 1 to 6, real lists and tables, a header, and a footer with
 * its text left, the time of making in the middle and the page number right.
 */
export async function writeDocx(sections: readonly Section[], page: Page): Promise<Uint8Array> {
  const [docx, watermarks] = await Promise.all([import('docx'), import('docx/watermarks')]);
  const numberings = new Numberings();
  const paper = PAPER[page.size];
  const writer = new BlockWriter(docx, numberings, paper.width - MARGIN.left - MARGIN.right);
  const written = sections.map(
    (section): ISectionOptions => ({
      properties: {
        page: { size: twips(paper), margin: twips({ ...MARGIN, header: EDGE.margin, footer: EDGE.margin }) },
      },
      headers: { default: headerOf(docx, watermarks, section, page) },
      footers: { default: footerOf(docx, section, page) },
      children: writer.write(section.blocks),
    }),
  );
  const file = new docx.Document({
    title: page.title,
    creator: 'Runnel',
    lastModifiedBy: 'Runnel',
    styles: documentStyles(page.fontSize),
    numbering: numberings.options,
    sections: written,
  });
  return new Uint8Array(await docx.Packer.toBuffer(file));
}

function headerOf(docx: Docx, { TextWatermark }: Watermarks, { header }: Section, { watermark }: Page) {
  const mark = { text: watermark, font: 'Calibri', color: COLOUR.watermark, opacity: 0.5, rotation: 315 };
  const children: ParagraphChild[] = [];
  if (header !== '') children.push(new docx.TextRun(header));
  if (watermark !== '') children.push(new TextWatermark(mark));
  return new docx.Header({ children: [new docx.Paragraph({ style: STYLE.edge, children })] });
}

function footerOf(docx: Docx, { footer }: Section, { generated, hasNumbers, size }: Page) {
  const width = PAPER[size].width - MARGIN.left - MARGIN.right;
  const { Paragraph, TextRun, Tab, PageNumber, TabStopType } = docx;
  const tab = new Tab();
  const children = [
    new TextRun({ text: footer }),
    new TextRun({ children: [tab, generated] }),
    new TextRun({ children: hasNumbers ? [tab, 'Page ', PageNumber.CURRENT] : [tab] }),
  ];
  const tabStops = [
    { type: TabStopType.CENTER, position: Math.round(width * 10) },
    { type: TabStopType.RIGHT, position: Math.round(width * 20) },
  ];
  return new docx.Footer({ children: [new Paragraph({ style: STYLE.edge, tabStops, children })] });
}

/** Points as twentieths of a point, the unit of Word. */
function twips<K extends string>(points: Readonly<Record<K, number>>): Record<K, number> {
  const entries = Object.entries<number>(points).map(([key, value]) => [key, Math.round(value * 20)]);
  return Object.fromEntries(entries) as Record<K, number>;
}
