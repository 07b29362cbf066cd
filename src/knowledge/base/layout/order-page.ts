/** The text of a page by the regions that a model sees on it. */
import type { Region } from '../../../adapters/layout/layout-client.js';
import type { PageItem, PageItems } from '../../../documents/reading/read-pdf-items.js';

/** How sure a model has to be of a region. Source: RAGFlow's layout recogniser. */
const MIN_SCORE = 0.4;
/** Share of the height at the edges of a page in which text outside of all regions is its header or footer. */
const EDGE = 0.08;
/** A space as wide as so much of the height of a line parts words, and one of so much parts the cells of a table. */
const WORD_GAP = 0.2;
const CELL_GAP = 1;

/** A rectangle with the text in it. */
interface Block {
  left: number;
  top: number;
  right: number;
  bottom: number;
  readonly kind: Region['kind'];
  readonly items: PageItem[];
}

/**
 * The text of a page in reading order: regions of columns from left to right, titles as headings, tables as Markdown in one piece, headers and
 * footers left out. Undefined when nothing was seen that helps.
 *
 * @param scale pixels of the picture for each point of the page
 */
export function orderPage({ items, height }: PageItems, regions: readonly Region[], scale: number): string | undefined {
  const blocks = regions.flatMap((region): Block[] => {
    if (region.score < MIN_SCORE) return [];
    const [left, top] = [region.left / scale, region.top / scale];
    return [{ left, top, right: region.right / scale, bottom: region.bottom / scale, kind: region.kind, items: [] }];
  });
  if (blocks.length === 0 || items.length === 0) return undefined;
  // The smallest that holds the middle of a piece has it.
  const bySize = blocks.toSorted((a, b) => areaOf(a) - areaOf(b));
  const loose: Block[] = [];
  for (const item of items) {
    const [x, y] = [item.left + item.width / 2, item.top + item.height / 2];
    const home = bySize.find((one) => x >= one.left && x <= one.right && y >= one.top && y <= one.bottom);
    if (home !== undefined) home.items.push(item);
    else if (y >= height * EDGE && y <= height * (1 - EDGE)) addLoose(loose, item);
  }
  const filled = [...blocks.filter((one) => one.items.length > 0), ...loose];
  const texts = inOrder(filled, 0).map(textOf);
  return texts.filter((text) => text !== '').join('\n\n');
}

function areaOf({ left, right, top, bottom }: Block): number {
  return (right - left) * (bottom - top);
}

/** Text that no region has: neighbouring lines make a block. */
function addLoose(loose: Block[], item: PageItem): void {
  const { left, top, width, height } = item;
  const last = loose.at(-1);
  const isNear =
    last !== undefined && top >= last.top - height && top - last.bottom <= height * 1.5 && left <= last.right + height;
  if (!isNear || last === undefined) {
    loose.push({ left, top, right: left + width, bottom: top + height, kind: 'text', items: [item] });
    return;
  }
  last.items.push(item);
  last.left = Math.min(last.left, left);
  last.right = Math.max(last.right, left + width);
  last.bottom = Math.max(last.bottom, top + height);
}

/** Cuts that are made within each other; a page has a few. */
const MAX_DEPTH = 32;

/** Blocks as they are read: parted where a line across the page meets none of them, else where one down the page does. */
function inOrder(blocks: readonly Block[], depth: number): readonly Block[] {
  if (blocks.length < 2) return blocks;
  if (depth < MAX_DEPTH) {
    for (const [from, to] of [
      ['top', 'bottom'],
      ['left', 'right'],
    ] as const) {
      const groups = partedBy(blocks, from, to);
      if (groups.length > 1) return groups.flatMap((group) => inOrder(group, depth + 1));
    }
  }
  return blocks.toSorted((a, b) => a.top - b.top || a.left - b.left);
}

/** Share of a block that may lie over the next one without keeping them together. */
const OVERLAP = 0.1;

function partedBy(
  blocks: readonly Block[],
  from: 'top' | 'left',
  to: 'bottom' | 'right',
): readonly (readonly Block[])[] {
  const sorted = blocks.toSorted((a, b) => a[from] - b[from]);
  const groups: Block[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const block of sorted) {
    const last = groups.at(-1);
    if (last === undefined || block[from] >= end - OVERLAP * (block[to] - block[from])) groups.push([block]);
    else last.push(block);
    end = Math.max(end, block[to]);
  }
  return groups;
}

function textOf({ kind, items }: Block): string {
  const lines = linesOf(items);
  switch (kind) {
    case 'title':
      return `## ${lines.map((line) => joined(line, WORD_GAP, ' ')).join(' ')}`;
    case 'table':
      return tableOf(lines);
    default:
      return lines.map((line) => joined(line, WORD_GAP, ' ')).join('\n');
  }
}

/** Pieces that stand beside each other, from left to right, the upper ones first. */
function linesOf(items: readonly PageItem[]): readonly (readonly PageItem[])[] {
  const lines: PageItem[][] = [];
  for (const item of items.toSorted((a, b) => a.top + a.height / 2 - (b.top + b.height / 2))) {
    const [first] = lines.at(-1) ?? [];
    const distance = first === undefined ? 0 : Math.abs(item.top + item.height / 2 - (first.top + first.height / 2));
    const last = lines.at(-1);
    if (last === undefined || first === undefined || distance > Math.max(item.height, first.height) / 2)
      lines.push([item]);
    else last.push(item);
  }
  return lines.map((line) => line.sort((a, b) => a.left - b.left));
}

/** The pieces of a line, with a mark where the gap between two is wide. */
function joined(line: readonly PageItem[], gap: number, mark: string): string {
  let text = '';
  let end: number | undefined;
  for (const { text: own, left, width, height } of line) {
    if (end !== undefined && left - end > gap * height) text += mark;
    text += own.trim();
    end = left + width;
  }
  return text;
}

/** A table as Markdown, its first line being the header; lines of one cell alone are a text. */
function tableOf(lines: readonly (readonly PageItem[])[]): string {
  const rows = lines.map((line) =>
    joined(line, CELL_GAP, '\0')
      .split('\0')
      .map((cell) => cell.replaceAll('|', '\\|')),
  );
  const columns = Math.max(...rows.map((row) => row.length));
  if (columns < 2) return rows.map(([cell = '']) => cell).join('\n');
  const written = rows.map((row) => `| ${[...row, ...Array<string>(columns - row.length).fill('')].join(' | ')} |`);
  return [written[0], `|${' --- |'.repeat(columns)}`, ...written.slice(1)].join('\n');
}
