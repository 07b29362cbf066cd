import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { isDeeperThan, linesOf, type PageDocument, type PageElement, type PageNode, removeComments } from './dom.js';
import { cutText, MAX_PAGE_TEXT, type Page, type PageRequest } from './page.js';
import { toMarkdown } from './to-markdown.js';

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

/**
 * Reads a page. Slow for large pages and unbounded in time for hostile ones: run it in a thread of its own.
 *
 * Errors: a RangeError for elements nested deeper than 512.
 */
export function parsePage({ html, url, form }: PageRequest): Page {
  const read = firstTags(html);
  const document = documentOf(read);
  const body = bodyOf(document);
  if (isDeeperThan(document.documentElement ?? body, MAX_DEPTH)) throw new RangeError('nested too deeply');
  resolveAddresses(document, url);
  for (const element of [...document.querySelectorAll(UNREAD)]) element.remove();
  const title = takeTitle(document);
  const lines = linesOf(body);
  const links = linksOf(body);
  // Last, as each form changes the page.
  const content = CONTENTS[form](document, body) || lines;
  return {
    title: cutText(title, MAX_TITLE),
    text: cutText(oneLine(lines)),
    links,
    content: cutText(content),
    isCut: read.length < html.length || content.length > MAX_PAGE_TEXT,
  };
}

const CONTENTS: Readonly<Record<PageRequest['form'], (document: PageDocument, body: PageElement) => string>> = {
  html: (_, body) => cleanHtml(body),
  markdown: (_, body) => toMarkdown(body),
  content: (document) => articleOf(document),
};

/** The page up to the first tag too many. */
function firstTags(html: string): string {
  let tags = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    tags += 1;
    if (tags > MAX_TAGS) return html.slice(0, at);
  }
  return html;
}

/** The parser takes a page as it is written: a fragment is wrapped in a whole page here. */
function documentOf(html: string): PageDocument {
  const { document } = parseHTML(html) as unknown as { readonly document: PageDocument };
  if (document.documentElement?.nodeName === 'HTML') return document;
  const framed = `<!doctype html><html><head></head><body>${html}</body></html>`;
  return (parseHTML(framed) as unknown as { readonly document: PageDocument }).document;
}

function bodyOf(document: PageDocument): PageElement {
  const root = document.documentElement as PageElement;
  const given = root.querySelector('body body') ?? root.querySelector('body');
  if (given !== null) return given;
  const parts = [...root.childNodes].filter(({ nodeName }) => nodeName !== 'HEAD');
  const body = document.createElement('body');
  for (const part of parts) body.append(part);
  root.append(body as PageNode);
  return body;
}

/** Removed wherever it stands, as it is no visible text. */
function takeTitle(document: PageDocument): string {
  const titles = [...document.querySelectorAll('title')];
  for (const title of titles) title.remove();
  return oneLine((titles[0] ?? document.querySelector('h1'))?.textContent ?? '');
}

/** Makes addresses absolute, and removes those that are no web addresses. */
function resolveAddresses(document: PageDocument, url: string): void {
  const written = document.querySelector('base[href]')?.getAttribute('href') ?? '';
  const base = URL.canParse(written, url) ? new URL(written, url).href : url;
  for (const name of ['href', 'src']) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const address = element.getAttribute(name)?.trim() ?? '';
      const resolved = URL.canParse(address, base) ? new URL(address, base).href : '';
      if (/^https?:/.test(resolved) && resolved.length <= MAX_URL) element.setAttribute(name, resolved);
      else element.removeAttribute(name);
    }
  }
}

/** The text of the main article; empty when there is none. */
function articleOf(document: PageDocument): string {
  const serializer = (node: unknown): PageNode => node as PageNode;
  const article = new Readability(document as never, { serializer, disableJSONLD: true }).parse();
  return article?.content ? linesOf(article.content) : '';
}

function cleanHtml(body: PageElement): string {
  for (const element of body.querySelectorAll('*')) {
    for (const { name } of [...element.attributes]) if (!KEPT_ATTRIBUTES.has(name)) element.removeAttribute(name);
  }
  removeComments(body);
  return body.innerHTML.trim();
}

function linksOf(body: PageElement): string[] {
  const links = new Set<string>();
  for (const anchor of body.querySelectorAll('a[href]')) {
    links.add(anchor.getAttribute('href') ?? '');
    if (links.size === MAX_LINKS) break;
  }
  return [...links];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
