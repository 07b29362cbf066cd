/** Sections of blocks as PDF: the file, and the edges of its pages. */
import { buffer } from 'node:stream/consumers';
import { EDGE, MARGIN, PAPER, type Page, type Section } from '../content.js';
import { BlockDrawing } from './blocks.js';
import { createYielder, Outline, PageFlow, Pictures } from './flow.js';
import type { TextPiece, TextStyle } from './lines.js';
import { PDFDocument } from './pdf-library.js';
import { type Pdf, readFonts, Typeface } from './typeface.js';

/**
 * Writes sections as PDF. Text is set in Noto Sans SC, of which the file holds the characters that it uses; what the font
 * does not have shows as □. Headings stand in the outline. Yields to the event loop while it draws.
 */
export async function writePdf(sections: readonly Section[], page: Page, signal?: AbortSignal): Promise<Uint8Array> {
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
  // It has no end of its own while pages are buffered.
  const bytes = buffer(pdf);
  const typeface = new Typeface(pdf, await readFonts());
  const flow = new PageFlow(pdf, typeface, new Pictures(pdf), page);
  const yielder = createYielder(signal);
  const blocks = new BlockDrawing(flow, new Outline(pdf), yielder, page.fontSize);
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
    if (yielder.isDue()) await yielder.yield();
  }
  pdf.end();
  return new Uint8Array(await bytes);
}

const STYLE: TextStyle = { font: 'regular', size: EDGE.fontSize, colour: '#595959' };
const WATERMARK = { size: 48, colour: '#999999', opacity: 0.15, angle: -45 } as const;
/** Space between texts of a footer, in points. */
const GAP = 12;

/** What stands around the text of one page. */
interface PageEdges {
  readonly header: string;
  readonly footer: string;
  readonly number: number;
}

/**
 * Draws what stands around the text: the header, a footer with its text left, the time of making in the middle and the page
 * number right, and the watermark across. Texts that meet are cut.
 */
function drawEdges(pdf: Pdf, typeface: Typeface, page: Page, { header, footer, number }: PageEdges): void {
  const { width, height } = PAPER[page.size];
  const { margin } = EDGE;
  const top = margin - 8 + EDGE.fontSize;
  const bottom = height - margin + 8;
  const room = width - 2 * margin;
  const draw = (piece: TextPiece | undefined, x: number, y: number) => piece && typeface.draw(piece, x, y);

  if (page.watermark !== '') drawWatermark(pdf, typeface, page);
  draw(typeface.fit(header, STYLE, room), margin, top);
  const middle = typeface.fit(page.generated, STYLE, room / 2);
  const right = page.hasNumbers ? typeface.fit(`Page ${number}`, STYLE, room / 4) : undefined;
  const leftRoom = middle === undefined ? room - (right?.width ?? 0) : (room - middle.width) / 2;
  draw(typeface.fit(footer, STYLE, leftRoom - GAP), margin, bottom);
  draw(middle, (width - (middle?.width ?? 0)) / 2, bottom);
  draw(right, width - margin - (right?.width ?? 0), bottom);
}

function drawWatermark(pdf: Pdf, typeface: Typeface, { watermark, size }: Page): void {
  const { width, height } = PAPER[size];
  const style: TextStyle = { font: 'regular', size: WATERMARK.size, colour: WATERMARK.colour };
  const piece = typeface.fit(watermark, style, Math.hypot(width, height) * 0.8);
  if (piece === undefined) return;
  pdf.save();
  pdf.rotate(WATERMARK.angle, { origin: [width / 2, height / 2] }).fillOpacity(WATERMARK.opacity);
  typeface.draw(piece, (width - piece.width) / 2, height / 2 + WATERMARK.size / 3);
  pdf.restore();
}
