/** The parts of an `.xlsx` archive that hold a workbook. */
import { posix } from 'node:path';
import { unreadable } from '../reading/limits.js';
import { PartRelations, requireListed } from '../reading/part-relations.js';
import type { Zip, ZipEntry } from '../reading/zip.js';
import { createXmlReader, type XmlHandler } from './xml-reader.js';

/** A sheet of a workbook, and where its cells are. */
export interface SheetPart {
  readonly name: string;
  readonly entry: ZipEntry;
}

/** The parts of a workbook that matter for its values. */
export interface WorkbookParts {
  readonly sheets: readonly SheetPart[];
  readonly sharedStrings: ZipEntry | undefined;
  readonly styles: ZipEntry | undefined;
  /** Whether dates count from 1904. */
  readonly is1904: boolean;
}

/** Reads one part of an archive through a handler; `isDone` ends it early. */
export type ReadPart = (entry: ZipEntry, handler: XmlHandler, isDone?: () => boolean) => Promise<void>;

/** Makes the function that reads parts. Errors: FILE_UNREADABLE, naming the part. */
export function partReader(zip: Zip, name: string, signal: AbortSignal | undefined): ReadPart {
  return async (entry, handler, isDone = () => false) => {
    const decoder = new TextDecoder();
    const reader = createXmlReader(handler);
    try {
      for await (const chunk of zip.stream(entry, signal)) {
        reader.write(decoder.decode(chunk, { stream: true }));
        if (isDone()) return;
      }
      reader.end();
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'Error') throw error;
      throw unreadable(name, `"${entry.path}" in it is damaged: ${error.message}.`, error);
    }
  };
}

/**
 * Finds the parts of a workbook by its relations (ECMA-376 part 2), as programs differ in where they put them.
 *
 * @throws EngineError FILE_UNREADABLE when there is no workbook in the archive.
 */
export async function findParts(zip: Zip, read: ReadPart, name: string): Promise<WorkbookParts> {
  const byPath = new Map([...zip.entries].map(([path, entry]) => [path.toLowerCase(), entry]));
  const find = (path: string | undefined) => (path === undefined ? undefined : byPath.get(path.toLowerCase()));
  const roots = await readRelations(find('_rels/.rels'), '', read);
  const path = roots.pathOf('officeDocument') ?? 'xl/workbook.xml';
  const workbook = find(path);
  if (workbook === undefined || !/workbook[^/]*\.xml$/i.test(path)) {
    throw unreadable(name, 'there is no workbook in it; give an .xlsx or .csv file.');
  }
  const folder = posix.dirname(path);
  const relations = await readRelations(
    find(posix.join(folder, '_rels', `${posix.basename(path)}.rels`)),
    folder,
    read,
  );
  const { sheets, is1904 } = await readSheetList(workbook, read);
  const related = (type: string) => find(relations.pathOf(type));
  return {
    is1904,
    sharedStrings: related('sharedStrings'),
    styles: related('styles'),
    sheets: sheets.flatMap((sheet) => {
      const relation = relations.byId.get(sheet.id);
      const entry = relation?.type === 'worksheet' ? find(relation.path) : undefined;
      return entry === undefined ? [] : [{ name: sheet.name, entry }];
    }),
  };
}

async function readRelations(entry: ZipEntry | undefined, folder: string, read: ReadPart): Promise<PartRelations> {
  const relations = new PartRelations(folder);
  if (entry !== undefined) await read(entry, relations);
  return relations;
}

async function readSheetList(
  entry: ZipEntry,
  read: ReadPart,
): Promise<{ sheets: { readonly name: string; readonly id: string }[]; is1904: boolean }> {
  const list = { sheets: [] as { readonly name: string; readonly id: string }[], is1904: false };
  await read(entry, {
    open(name, attributes) {
      requireListed(list.sheets.length, 'sheets');
      if (name === 'sheet') list.sheets.push({ name: attributes.get('name') ?? '', id: attributes.get('id') ?? '' });
      else if (name === 'workbookPr') list.is1904 = /^(?:1|true)$/.test(attributes.get('date1904') ?? '');
    },
  });
  return list;
}
