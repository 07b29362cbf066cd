import { Readability } from '@mozilla/readability';
import type { Cheerio, CheerioAPI } from 'cheerio';
import { load } from 'cheerio/slim';
import { parseHTML } from 'linkedom';
import { cutText } from '../characters.js';
import { type HtmlNode, htmlToMarkdown } from '../reading/html-to-text.js';
import { firstTags, lineOf } from './load-markup.js';
import { MAX_PAGE_TEXT, type Page, type PageRequest } from './page.js';

/** Tags that are read; a long article has 10,000. */
const MAX_TAGS = 60_000;

/** Deepest nesting, as in browsers; processing may take cubic time in it. */
const MAX_DEPTH = 512;

const MAX_LINKS = 1_000;
const MAX_URL = 2_048;
const MAX_TITLE = 1_000;

/** Elements without visible text. */
const UNREAD = 'script, style, noscript, template, svg, math, iframe, object, embed, canvas, link, meta, base';

/** What stays of the attributes of cleaned HTML. */
const KEPT_ATTRIBUTES = new Set(['href', 'src', 'alt', 'title', 'lang', 'colspan', 'rowspan', 'start', 'datetime']);

/** Elements that are part of a line; any other begins and ends one. */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q ruby s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/** Lenient HTML; written without escapes for characters that UTF-8 has. */
const MARKUP = { xml: { xmlMode: false, decodeEntities: true, encodeEntities: 'utf8' } } as const;

/** A node with its neighbours, as the parser gives it. */
interface TreeNode extends HtmlNode {
  children?: readonly TreeNode[];
  readonly parent: TreeNode | null;
  readonly next: TreeNode | null;
}

/** The body of a page, or what stands for it. */
type Body = Cheerio<never>;

/**
 * Reads a page. Slow for large pages and unbounded in time for hostile ones: run it in a thread of its own.
 *
 * Errors: a RangeError for elements nested deeper than 512.
 */
export function parsePage({ html, url, form }: PageRequest): Page {
  const read = firstTags(html, MAX_TAGS);
  // In an element of its own: searching among many elements at the top takes quadratic time.
  const $ = load(`<page>${read}</page>`, MARKUP);
  if (isDeeperThan(nodeOf($.root()), MAX_DEPTH)) throw new RangeError('nested too deeply');
  resolveAddresses($, url);
  $(UNREAD).remove();
  const title = takeTitle($);
  $('head').remove();
  const body = ['body', 'html', 'page']
    .map((name) => $(name))
    .find(({ length }) => length > 0)
    ?.first() as unknown as Body;
  const lines = linesOf(nodeOf(body));
  const links = linksOf(nodeOf(body));
  // Last, as a form may change the page.
  const content = CONTENTS[form](body) || lines;
  return {
    title: cutText(title, MAX_TITLE),
    text: cutText(lineOf(lines), MAX_PAGE_TEXT),
    links,
    content: cutText(content, MAX_PAGE_TEXT),
    isCut: read.length < html.length || content.length > MAX_PAGE_TEXT,
  };
}

const CONTENTS: Readonly<Record<PageRequest['form'], (body: Body) => string>> = {
  html: cleanHtml,
  markdown: (body) => htmlToMarkdown(nodeOf(body).children ?? []),
  content: articleOf,
};

function nodeOf(found: Iterable<unknown>): TreeNode {
  const [node] = found as Iterable<TreeNode>;
  return node as TreeNode;
}

/** Removed wherever it stands, as it is no visible text. */
function takeTitle($: CheerioAPI): string {
  const titles = $('title').remove();
  return lineOf((titles.length > 0 ? titles : $('h1')).first().text());
}

/** Makes addresses absolute, and removes those that are no web addresses. */
function resolveAddresses($: CheerioAPI, url: string): void {
  const written = $('base[href]').attr('href') ?? '';
  const base = URL.canParse(written, url) ? new URL(written, url).href : url;
  for (const name of ['href', 'src']) {
    for (const { attribs } of $(`[${name}]`) as unknown as Iterable<{ attribs: Record<string, string> }>) {
      const address = attribs[name]?.trim() ?? '';
      const resolved = URL.canParse(address, base) ? new URL(address, base).href : '';
      if (/^https?:/.test(resolved) && resolved.length <= MAX_URL) attribs[name] = resolved;
      else delete attribs[name];
    }
  }
}

/** The text of the main article; empty when there is none. */
function articleOf(body: Body): string {
  const { document } = parseHTML(`<!doctype html><html><head></head><body>${body.html()}</body></html>`);
  const article = new Readability(document, { disableJSONLD: true }).parse();
  return article?.content ? linesOf(nodeOf(load(article.content, MARKUP).root())) : '';
}

function cleanHtml(body: Body): string {
  walk(nodeOf(body), (node) => {
    const attribs: Record<string, string> = node.attribs ?? {};
    for (const name in attribs) if (!KEPT_ATTRIBUTES.has(name)) delete attribs[name];
    if (node.children !== undefined)
      node.children = node.children.filter(({ type }) => type !== 'comment' && type !== 'directive');
  });
  return body.html()?.trim() ?? '';
}

function linksOf(body: TreeNode): string[] {
  const links = new Set<string>();
  walk(body, ({ name, attribs }) => {
    if (name === 'a' && attribs?.href !== undefined && links.size < MAX_LINKS) links.add(attribs.href);
  });
  return [...links];
}

/** The text below a node, a line for each block, without empty lines. Linear in its size, without recursion. */
function linesOf(root: TreeNode): string {
  let text = '';
  const edge = ({ type, name = '' }: TreeNode): void => {
    if (type === 'tag' && !INLINE.has(name)) text += '\n';
  };
  const begin = (node: TreeNode): void => {
    if (node.type === 'text') text += (node.data ?? '').replace(/\s+/g, ' ');
    else edge(node);
  };
  walk(root, begin, edge);
  const lines = text.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
  return lines.filter((line) => line !== '').join('\n');
}

/** Whether elements are nested deeper than `most`. */
function isDeeperThan(root: TreeNode, most: number): boolean {
  let depth = 0;
  let deepest = 0;
  const begin = ({ children = [] }: TreeNode): void => {
    if (children.length > 0) depth += 1;
    deepest = Math.max(deepest, depth);
  };
  walk(root, begin, () => {
    depth -= 1;
  });
  return deepest > most;
}

/** Visits a node and all below it in order, each when it begins and, where it has children, when it ends. */
function walk(root: TreeNode, begin: (node: TreeNode) => void, end: (node: TreeNode) => void = () => {}): void {
  for (let node: TreeNode | null = root; node !== null; ) {
    begin(node);
    const first: TreeNode | undefined = node.children?.[0];
    if (first !== undefined) {
      node = first;
      continue;
    }
    while (node !== null && node !== root && node.next === null) {
      node = node.parent;
      if (node !== null) end(node);
    }
    node = node === null || node === root ? null : node.next;
  }
}
