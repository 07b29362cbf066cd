/** The text of presentations. */
import { posix } from 'node:path';
import type { StoredFile } from '../../records/files.js';
import { createXmlReader, type XmlAttributes, type XmlHandler, type XmlTag } from '../spreadsheets/xml-reader.js';
import { type ReadLimits, toUnreadable, unreadable } from './limits.js';
import { joinPages, type PagedText } from './paged-text.js';
import { PartRelations } from './part-relations.js';
import { openZip, requireUnpackedSize, type Zip } from './zip.js';

/** Most bytes of XML, unpacked: thousands of slides. */
const MAX_XML_BYTES = 16 * 1_048_576;

const MAIN_PART = 'ppt/presentation.xml';
const PARTS =
  /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|(?:slides|notesSlides)\/[^/]+\.xml|slides\/_rels\/[^/]+\.rels)$/;

/**
 * The text of a presentation (`.pptx`) with its slides as pages, in their order: titles as headings, paragraphs as lines, tables as Markdown, the
 * speaker's notes behind. Reading stops at the slide that fills `maxCharacters`.
 *
 * Errors: FILE_UNREADABLE.
 */
export async function readSlides(
  { name, bytes }: StoredFile,
  { maxCharacters, signal }: ReadLimits,
): Promise<PagedText> {
  const zip = openZip(bytes, name);
  if (!zip.entries.has(MAIN_PART)) throw unreadable(name, 'it is no presentation.');
  requireUnpackedSize(
    [...zip.entries.values()].filter(({ path }) => PARTS.test(path)),
    MAX_XML_BYTES,
    name,
  );
  const read = <T extends XmlHandler>(path: string, handler: T) => readPart(zip, path, handler, signal);
  try {
    const { ids } = await read(MAIN_PART, new SlideList());
    const { byId } = await read('ppt/_rels/presentation.xml.rels', new PartRelations('ppt'));
    const texts: string[] = [];
    let length = 0;
    for (const id of ids) {
      const path = byId.get(id)?.path ?? '';
      const slide = await read(path, new SlideText());
      const links = await read(`ppt/slides/_rels/${posix.basename(path)}.rels`, new PartRelations('ppt/slides'));
      const notes = await read(links.pathOf('notesSlide') ?? '', new SlideText());
      const spoken = notes.lines;
      const text = [slide.lines, spoken && `Notes: ${spoken}`].filter((part) => part !== '').join('\n\n');
      texts.push(text);
      length += text.length;
      if (length > maxCharacters) break;
    }
    const joined = joinPages(texts);
    return joined.text === '' ? { text: `[The ${ids.length} slides of "${name}" hold no text.]` } : joined;
  } catch (error) {
    throw toUnreadable(name, error, 'presentation');
  }
}

/** Reads a part as far as there is one. */
async function readPart<T extends XmlHandler>(zip: Zip, path: string, handler: T, signal?: AbortSignal): Promise<T> {
  const entry = PARTS.test(path) ? zip.entries.get(path) : undefined;
  if (entry === undefined) return handler;
  const reader = createXmlReader(handler);
  const decoder = new TextDecoder();
  for await (const chunk of zip.stream(entry, signal)) reader.write(decoder.decode(chunk, { stream: true }));
  reader.end();
  return handler;
}

/** The ids of the relations to a presentation's slides, in their order. */
class SlideList implements XmlHandler {
  readonly ids: string[] = [];

  open(name: string, _: unknown, { attributes }: XmlTag): void {
    if (name !== 'sldId') return;
    const key = Object.keys(attributes).find((one) => one.endsWith(':id'));
    if (key !== undefined) this.ids.push(attributes[key] ?? '');
  }
}

/** What every slide shows in the same way. */
const FURNITURE = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** Collects the text of a slide: shapes in the order of the file, which is that of their layers. */
class SlideText implements XmlHandler {
  readonly #lines: string[] = [];
  #line = '';
  #isText = false;
  /** The kind of the shape that is being read. */
  #placeholder = '';
  /** Cells of the row that is being read; undefined outside of tables. */
  #row: string[] | undefined;
  #cell: string[] | undefined;
  #rows = 0;

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'sp' || name === 'graphicFrame') this.#placeholder = '';
    else if (name === 'ph') this.#placeholder = attributes.get('type') ?? 'body';
    else if (name === 't') this.#isText = true;
    else if (name === 'br') this.#line += '\n';
    else if (name === 'tbl') this.#rows = 0;
    else if (name === 'tr') this.#row = [];
    else if (name === 'tc') this.#cell = [];
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') {
      this.#row?.push((this.#cell ?? []).join(' ').replaceAll('|', '\\|'));
      this.#cell = undefined;
    } else if (name === 'tr') this.#endRow();
  }

  text(text: string): void {
    if (this.#isText) this.#line += text;
  }

  /** What has been collected, a line each. */
  get lines(): string {
    return this.#lines.join('\n');
  }

  #endParagraph(): void {
    const line = this.#line.trim();
    this.#line = '';
    if (line === '' || FURNITURE.has(this.#placeholder)) return;
    if (this.#cell !== undefined) this.#cell.push(line.replaceAll('\n', ' '));
    else if (/^(?:title|ctrTitle)$/.test(this.#placeholder)) this.#lines.push(`# ${line.replaceAll('\n', ' ')}`);
    else this.#lines.push(line);
  }

  #endRow(): void {
    const cells = this.#row ?? [];
    this.#row = undefined;
    this.#lines.push(`| ${cells.join(' | ')} |`);
    this.#rows += 1;
    if (this.#rows === 1) this.#lines.push(`| ${cells.map(() => '---').join(' | ')} |`);
  }
}
