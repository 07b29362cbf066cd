import { EDGE, PAPER, type Page } from '../page.js';
import type { TextPiece, TextStyle } from './atoms.js';
import type { Pdf } from './pdf.js';
import type { Typeface } from './typeface.js';

const STYLE: TextStyle = { font: 'regular', size: EDGE.fontSize, colour: '#595959' };
const WATERMARK = { size: 48, colour: '#999999', opacity: 0.15, angle: -45 } as const;
/** Space between texts of a footer, in points. */
const GAP = 12;

/** What stands around the text of one page. */
export interface PageEdges {
  readonly header: string;
  readonly footer: string;
  readonly number: number;
}

/**
 * Draws what stands around the text: the header, a footer with its text left, the time of making in the middle and the page
 * number right, and the watermark across. Texts that meet are cut.
 */
export function drawEdges(pdf: Pdf, typeface: Typeface, page: Page, { header, footer, number }: PageEdges): void {
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
