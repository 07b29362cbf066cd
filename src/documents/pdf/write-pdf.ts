import type { Section } from '../content.js';
import { MARGIN, PAPER, type Page } from '../page.js';
import { BlockDrawing } from './blocks.js';
import { drawEdges } from './edges.js';
import { PageFlow } from './flow.js';
import { Outline } from './outline.js';
import { createPacer } from './pacer.js';
import type { Pdf } from './pdf.js';
import { Pictures } from './pictures.js';
import { readFonts, Typeface } from './typeface.js';

/**
 * Writes sections as PDF. Text is set in Noto Sans SC, of which the file holds the characters that it uses; what the font
 * does not have shows as □. Headings stand in the outline. Gives way to other work while it draws.
 */
export async function writePdf(sections: readonly Section[], page: Page, signal?: AbortSignal): Promise<Uint8Array> {
  const [{ default: PDFDocument }, fonts] = await Promise.all([import('pdfkit'), readFonts()]);
  const { width, height } = PAPER[page.size];
  const pdf: Pdf = new PDFDocument({
    size: [width, height],
    margin: 0,
    bufferPages: true,
    // No font of its own: pdfkit would read one again, of the same name, at every change of font.
    font: '',
    fontLayoutCache: false,
    info: { Title: page.title, Creator: 'Runnel', Producer: 'Runnel', CreationDate: page.created },
    displayTitle: page.title !== '',
  });
  const bytes = collect(pdf);
  const typeface = new Typeface(pdf, fonts);
  const flow = new PageFlow(pdf, typeface, new Pictures(pdf), page);
  const pacer = createPacer(signal);
  const blocks = new BlockDrawing(flow, new Outline(pdf), pacer, page.fontSize);
  const place = { left: MARGIN.left, width: width - MARGIN.left - MARGIN.right, bars: [] };
  const ends: number[] = [];
  for (const [index, section] of sections.entries()) {
    if (index > 0) flow.newPage();
    await blocks.draw(section.blocks, place);
    ends.push(flow.pages);
  }
  let at = 0;
  for (let number = 1; number <= flow.pages; number += 1) {
    if (number > (ends[at] ?? 0)) at += 1;
    pdf.switchToPage(number - 1);
    drawEdges(pdf, typeface, page, { header: '', footer: '', ...sections[at], number });
    if (pacer.isDue()) await pacer.rest();
  }
  pdf.end();
  return bytes;
}

/** The bytes of a document once it has ended; it has no end of its own while pages are buffered. */
async function collect(pdf: Pdf): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of pdf) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}
