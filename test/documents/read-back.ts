import { buffer } from 'node:stream/consumers';
import { load } from 'cheerio';
import { extractText, getDocumentProxy } from 'unpdf';
import { openZip } from '../../src/documents/reading/zip.js';

/** The files in an archive, by path. */
export async function unzip(bytes: Uint8Array): Promise<ReadonlyMap<string, Uint8Array>> {
  const zip = openZip(bytes, 'made.zip');
  const files = new Map<string, Uint8Array>();
  for (const [path, entry] of zip.entries) files.set(path, await buffer(zip.stream(entry)));
  return files;
}

/** XML with an element on each line and without declarations of namespaces; fails for what is no XML. */
export function prettyXml(bytes: Uint8Array | undefined): string {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const lines: string[] = [];
  const open: string[] = [];
  let at = 0;
  for (const match of text.matchAll(/<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|<\?[^?]*\?>|([^<]+)/g)) {
    if (match.index !== at) throw new Error(`no XML at ${at}: ${text.slice(at, at + 80)}`);
    at += match[0].length;
    const [whole, closing, name, attributes = '', alone, content] = match;
    if (content !== undefined) {
      if (/&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(content)) throw new Error(`bare ampersand: ${content}`);
      if (content.trim() !== '' || open.at(-1) === 'w:t') lines.push(`${'  '.repeat(open.length)}${content}`);
    } else if (name !== undefined) {
      if (closing && open.pop() !== name) throw new Error(`</${name}> closes nothing`);
      const shown = attributes.replace(/\s+(?:xmlns(?::\w+)?|mc:Ignorable)="[^"]*"/g, '');
      lines.push(`${'  '.repeat(open.length)}<${closing}${name}${shown}${alone}>`);
      if (!closing && !alone) open.push(name);
    } else if (!whole.startsWith('<?')) {
      throw new Error(`unexpected ${whole}`);
    }
  }
  if (at !== text.length || open.length > 0) throw new Error(`cut short in ${open.at(-1)}`);
  return `${lines.join('\n')}\n`;
}

/** The text of a PDF, page by page. */
export async function pdfPages(bytes: Uint8Array): Promise<readonly string[]> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: false });
  return text;
}

/** The text of an HTML page, and its elements by selector. */
export function htmlPage(bytes: Uint8Array) {
  return load(new TextDecoder().decode(bytes));
}
