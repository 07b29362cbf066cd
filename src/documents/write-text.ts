/** Sections of blocks as plain text. */
import { columnsOf } from './characters.js';
import {
  type Align,
  type Block,
  type Inline,
  type ListBlock,
  plainText,
  type Section,
  type TableBlock,
} from './content.js';

/** Widest column of a table, in columns of text; longer cells shift the rest of their row. */
const MAX_COLUMN_WIDTH = 40;
const FORM_FEED = '\f';

/**
 * Writes sections as plain text: Markdown without its marks. Tables are aligned, wide characters counting twice; a form
 * feed starts a page.
 */
export function writeText(sections: readonly Section[], generated: string): string {
  const pages = sections.map(({ blocks }) => blockLines(blocks).join('\n')).join(`\n${FORM_FEED}\n`);
  return `${[generated, pages].filter((part) => part !== '').join('\n\n')}\n`;
}

/** The lines of blocks, with an empty one between each two. */
function blockLines(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block, index) => (index === 0 ? linesOf(block) : ['', ...linesOf(block)]));
}

function linesOf(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return plainText(block.content).split('\n');
    case 'code':
      return indented(block.lines, '    ', '    ');
    case 'quote':
      return indented(blockLines(block.blocks), '> ', '> ');
    case 'rule':
      return ['-'.repeat(40)];
    case 'page-break':
      return [FORM_FEED];
    case 'list':
      return listLines(block);
    case 'table':
      return tableLines(block);
  }
}

function listLines({ start, items }: ListBlock): string[] {
  return items.flatMap(({ checked, blocks }, index) => {
    const number = start === undefined ? '- ' : `${start + index}. `;
    const mark = checked === undefined ? number : `${number}[${checked ? 'x' : ' '}] `;
    // A nested list follows without an empty line; paragraphs are separated by one.
    const lines = blocks.flatMap((block, at) =>
      at === 0 || block.kind === 'list' ? linesOf(block) : ['', ...linesOf(block)],
    );
    return indented(lines.length === 0 ? [''] : lines, mark, ' '.repeat(number.length));
  });
}

function indented(lines: readonly string[], first: string, following: string): string[] {
  return lines.map((line, index) => `${index === 0 ? first : following}${line}`.trimEnd());
}

function tableLines({ align, header, rows }: TableBlock): string[] {
  const cellText = (cell: readonly Inline[]) => plainText(cell).replaceAll('\n', ' ');
  const texts = [header, ...rows].map((row) => row.map(cellText));
  const widths = align.map((_, column) =>
    Math.min(
      MAX_COLUMN_WIDTH,
      texts.reduce((widest, row) => Math.max(widest, columnsOf(row[column] ?? '')), 3),
    ),
  );
  const lines = texts.map((row) =>
    row
      .map((text, column) => pad(text, widths[column] ?? 0, align[column] ?? 'left'))
      .join('  ')
      .trimEnd(),
  );
  const ruler = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0] ?? '', ruler, ...lines.slice(1)];
}

function pad(text: string, width: number, align: Align): string {
  const space = Math.max(0, width - columnsOf(text));
  const before = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  return `${' '.repeat(before)}${text}${' '.repeat(space - before)}`;
}
