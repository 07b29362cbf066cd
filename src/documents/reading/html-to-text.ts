import { markdownTable } from '../markdown-tables.js';
import { unreadable } from './limits.js';

/** The part of a node of the parsed tree that is used. */
export interface HtmlNode {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly HtmlNode[];
}

/** How nodes are written. */
interface Style {
  /** Lists and quotes that are marked around the nodes. */
  readonly marks: number;
  /** Whether links, pictures, emphasis and code in a line are written as Markdown; otherwise their text stays. */
  readonly isMarked: boolean;
}

/** Deepest nesting, as in browsers; the time of the parser grows with the square of it. */
const MAX_DEPTH = 512;
/** Lists and quotes that are marked inside each other: each one puts its mark before every line. */
const MAX_MARKS = 16;

const HIDDEN = new Set(
  'script style noscript template head svg math canvas iframe object audio video select textarea'.split(' '),
);
const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main nav ol p pre search section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
/** Elements that have no content, or that the next one of their kind ends. */
const UNNESTED = new Set(
  'area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option'.split(
    ' ',
  ),
);

/**
 * The text of a page, with headings, lists, tables and preformatted text as Markdown. Scripts, styles and what is hidden
 * are left out; of links and pictures the text stays.
 *
 * @throws EngineError FILE_UNREADABLE for elements nested deeper than 512.
 */
export async function htmlToText(html: string, name: string): Promise<string> {
  requireFlat(html, name);
  // The parser for XML and lenient HTML: the one that follows browsers is far slower on nested elements.
  const { load } = await import('cheerio/slim');
  const [root] = load(html, { xml: { xmlMode: false, decodeEntities: true } }).root() as unknown as Iterable<HtmlNode>;
  return blocksOf(root?.children ?? [], { marks: 0, isMarked: false }).join('\n\n');
}

/**
 * The Markdown of a page: as {@link htmlToText} with links, pictures, emphasis and code. A table with a table inside is
 * layout. The nodes must not be nested deeper than 512.
 */
export function htmlToMarkdown(nodes: readonly HtmlNode[]): string {
  return blocksOf(nodes, { marks: 0, isMarked: true }).join('\n\n');
}

/** Writes the content of an element as Markdown. */
type LineMark = (inner: string, attribs: Readonly<Record<string, string>>) => string;

const strong: LineMark = (inner) => `**${inner}**`;
const emphasised: LineMark = (inner) => `_${inner}_`;

/** Elements of a line that Markdown marks. */
const LINE_MARKS: ReadonlyMap<string, LineMark> = new Map<string, LineMark>([
  ['a', (inner, { href }) => (href === undefined ? inner : `[${inner}](${address(href)})`)],
  ['b', strong],
  ['strong', strong],
  ['i', emphasised],
  ['em', emphasised],
]);

function address(href: string): string {
  return href.replace(/[()]/g, '\\$&');
}

function requireFlat(html: string, name: string): void {
  const open: string[] = [];
  for (const [, slash, written = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    const tag = written.toLowerCase();
    if (UNNESTED.has(tag)) continue;
    if (slash !== '/') open.push(tag);
    // As in the parser, an end tag without a start tag closes nothing.
    else if (open.includes(tag)) open.length = open.lastIndexOf(tag);
    if (open.length > MAX_DEPTH) throw unreadable(name, `its elements are nested deeper than ${MAX_DEPTH}.`);
  }
}

/** The blocks among nodes; the inline text between two blocks is a block of its own. */
function blocksOf(nodes: readonly HtmlNode[], style: Style): string[] {
  const blocks: string[] = [];
  let line: string[] = [];
  let closed = 0;
  const close = (): void => {
    const text = tidy(line.join(''));
    if (text !== '') blocks.push(text);
    line = [];
    closed += 1;
  };
  const visit = (node: HtmlNode): void => {
    const { name = '', attribs = {}, children } = node;
    if (node.type === 'text') line.push(inlineText(node.data ?? ''));
    if (isHidden(node) || children === undefined) return;
    if (name === 'br') line.push('\n');
    else if (BLOCKS.has(name)) {
      close();
      for (const block of blockOf(node, style)) if (block !== '') blocks.push(block);
    } else if (name === 'img') line.push(pictureOf(attribs, style));
    else if (name === 'code' && style.isMarked) line.push(codeOf(inlineText(plainText(node))));
    else {
      const start = line.length;
      const before = closed;
      for (const child of children) visit(child);
      const mark = style.isMarked ? LINE_MARKS.get(name) : undefined;
      // Marks do not reach over the end of a line of text, so an element with blocks in it has none.
      if (mark !== undefined && closed === before) {
        const text = line.splice(start).join('');
        const inner = text.trim();
        line.push(inner === '' ? text : text.replace(inner, () => mark(inner, attribs)));
      }
    }
  };
  for (const node of nodes) visit(node);
  close();
  return blocks;
}

function pictureOf({ alt = '', src }: Readonly<Record<string, string>>, { isMarked }: Style): string {
  const text = inlineText(alt);
  return isMarked && src !== undefined ? `![${text}](${address(src)})` : text;
}

function blockOf(node: HtmlNode, style: Style): string[] {
  const { name = '', children = [] } = node;
  if (/^h[1-6]$/.test(name)) {
    const text = lineOf(children, style);
    return text === '' ? [] : [`${'#'.repeat(Number(name[1]))} ${text}`];
  }
  switch (name) {
    case 'ul':
    case 'ol':
      return style.marks < MAX_MARKS ? [listOf(node, deeper(style))] : blocksOf(children, style);
    case 'table':
      return style.isMarked && hasTable(children) ? blocksOf(children, style) : [tableOf(node, style)];
    case 'pre':
      return [fenced(plainText(node))];
    case 'blockquote': {
      const blocks = blocksOf(children, deeper(style));
      return style.marks < MAX_MARKS ? [blocks.join('\n\n').replace(/^(?=.)/gm, '> ')] : blocks;
    }
    case 'hr':
      return ['---'];
    default:
      return blocksOf(children, style);
  }
}

function deeper(style: Style): Style {
  return { ...style, marks: style.marks + 1 };
}

function hasTable(nodes: readonly HtmlNode[]): boolean {
  return nodes.some(({ name, children = [] }) => name === 'table' || hasTable(children));
}

function listOf({ name, attribs, children = [] }: HtmlNode, style: Style): string {
  let number = Number.parseInt(attribs?.start ?? '1', 10) || 1;
  const items: string[] = [];
  for (const child of children) {
    if (child.name !== 'li') {
      // A list directly in a list is invalid, but common.
      for (const block of blocksOf([child], style)) items.push(block.replace(/^(?=.)/gm, '  '));
      continue;
    }
    const mark = name === 'ol' ? `${number}. ` : '- ';
    number += 1;
    const [first = '', ...rest] = blocksOf(child.children ?? [], style);
    items.push(
      [first, ...rest]
        .map((block, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + indent(block, mark.length))
        .join('\n'),
    );
  }
  return items.join('\n');
}

function indent(block: string, width: number): string {
  return block.replace(/\n(?=.)/g, `\n${' '.repeat(width)}`);
}

function tableOf(table: HtmlNode, style: Style): string {
  const rows: string[][] = [];
  const captions: string[] = [];
  const visit = (node: HtmlNode): void => {
    for (const child of node.children ?? []) {
      if (child.name === 'tr') rows.push(cellsOf(child, style));
      else if (child.name === 'caption') captions.push(lineOf(child.children ?? [], style));
      else visit(child);
    }
  };
  visit(table);
  const filled = rows.filter((row) => row.some((cell) => cell !== ''));
  // A table with one column is layout, not data.
  const isLayout = filled.every((row) => row.length < 2);
  const text = isLayout
    ? filled.map((row) => row.join('')).join('\n\n')
    : markdownTable(filled[0] ?? [], filled.slice(1));
  return [...captions, text].filter((part) => part !== '').join('\n\n');
}

function cellsOf(row: HtmlNode, style: Style): string[] {
  const cells: string[] = [];
  for (const { name, attribs, children = [] } of row.children ?? []) {
    if (name !== 'td' && name !== 'th') continue;
    cells.push(blocksOf(children, { ...style, marks: MAX_MARKS }).join(style.isMarked ? ' ' : '\n'));
    // A cell over several columns keeps the ones behind it in their place.
    const span = Math.min(Number.parseInt(attribs?.colspan ?? '1', 10) || 1, 100);
    for (let more = 1; more < span; more += 1) cells.push('');
  }
  return cells;
}

function fenced(text: string): string {
  const code = text.replace(/^\n+/, '').trimEnd();
  if (code === '') return '';
  const fence = fenceOf(code, 3);
  return `${fence}\n${code}\n${fence}`;
}

function codeOf(text: string): string {
  const code = text.trim();
  if (code === '') return text;
  const fence = fenceOf(code, 1);
  // A backtick at its edge would be read as a part of the fence.
  const space = code.startsWith('`') || code.endsWith('`') ? ' ' : '';
  return text.replace(code, () => `${fence}${space}${code}${space}${fence}`);
}

/** Backticks, at least so many, that do not occur in the text in a row. */
function fenceOf(text: string, least: number): string {
  let length = least;
  for (const [ticks] of text.matchAll(/`+/g)) length = Math.max(length, ticks.length + 1);
  return '`'.repeat(length);
}

function plainText(node: HtmlNode): string {
  if (node.type === 'text') return node.data ?? '';
  if (node.name === 'br') return '\n';
  return isHidden(node) ? '' : (node.children ?? []).map(plainText).join('');
}

function lineOf(nodes: readonly HtmlNode[], style: Style): string {
  return blocksOf(nodes, { ...style, marks: MAX_MARKS })
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function isHidden({ type, name = '', attribs = {} }: HtmlNode): boolean {
  return type === 'comment' || HIDDEN.has(name) || Object.hasOwn(attribs, 'hidden');
}

/** White space of the source is one space; line ends come from `br` alone. */
function inlineText(text: string): string {
  return text.replace(/[\s\u00a0]+/g, ' ');
}

function tidy(text: string): string {
  return text
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}
