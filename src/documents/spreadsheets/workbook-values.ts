import { unreadable } from '../reading/unreadable.js';
import type { ZipEntry } from '../reading/zip.js';
import { type DateKind, dateKind } from './date-formats.js';
import type { ReadPart } from './workbook-parts.js';

/** Longest texts of a workbook together, in UTF-16 units; all of them are in memory at once. */
const MAX_SHARED_CHARACTERS = 64 * 1_048_576;
/** Characters that XML cannot hold, as spreadsheets write them: `_x000D_`. */
const ESCAPED = /_x([0-9a-f]{4})_/gi;

/** The text of a cell as it was typed. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text
    .replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\r\n', '\n');
}

/**
 * Collects the text of an element that may have differently formatted runs; the reading aid of East Asian texts (`rPh`) is
 * no part of it.
 */
export class RunText {
  #text = '';
  #isCollecting = false;
  #isAid = false;

  get text(): string {
    return this.#text;
  }

  clear(): void {
    this.#text = '';
    this.#isCollecting = false;
    this.#isAid = false;
  }

  open(name: string): void {
    if (name === 'rPh') this.#isAid = true;
    else if (name === 't') this.#isCollecting = !this.#isAid;
  }

  close(name: string): void {
    if (name === 'rPh') this.#isAid = false;
    else if (name === 't') this.#isCollecting = false;
  }

  add(text: string): void {
    if (this.#isCollecting) this.#text += text;
  }
}

/** Reads the texts that cells refer to by number. Errors: FILE_UNREADABLE beyond 64 Mi characters. */
export async function readSharedStrings(
  entry: ZipEntry | undefined,
  read: ReadPart,
  name: string,
): Promise<readonly string[]> {
  const strings: string[] = [];
  if (entry === undefined) return strings;
  const run = new RunText();
  let total = 0;
  await read(entry, {
    open(element) {
      if (element === 'si') run.clear();
      else run.open(element);
    },
    close(element) {
      run.close(element);
      if (element !== 'si') return;
      total += run.text.length;
      if (total > MAX_SHARED_CHARACTERS) throw unreadable(name, 'its texts are longer than 64 million characters.');
      strings.push(unescapeText(run.text));
    },
    text: (text) => run.add(text),
  });
  return strings;
}

/** Reads what each cell style, by its number, shows numbers as. */
export async function readDateStyles(
  entry: ZipEntry | undefined,
  read: ReadPart,
): Promise<readonly (DateKind | undefined)[]> {
  const codes = new Map<number, string>();
  const styles: (DateKind | undefined)[] = [];
  if (entry === undefined) return styles;
  let isInCells = false;
  await read(entry, {
    open(element, attributes) {
      if (element === 'cellXfs') isInCells = true;
      else if (element === 'numFmt') codes.set(Number(attributes.get('numFmtId')), attributes.get('formatCode') ?? '');
      else if (element === 'xf' && isInCells) {
        const id = Number(attributes.get('numFmtId') ?? 0);
        styles.push(dateKind(id, codes.get(id)));
      }
    },
    close(element) {
      if (element === 'cellXfs') isInCells = false;
    },
    text() {},
  });
  return styles;
}
