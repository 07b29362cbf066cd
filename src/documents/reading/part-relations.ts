/** Where a part of an Office document leads: its relations (ECMA-376 part 2). */
import { posix } from 'node:path';
import type { XmlAttributes, XmlHandler } from '../spreadsheets/xml-reader.js';

/** One relation. */
export interface Relation {
  /** Last word of the relation's type: `worksheet`, `notesSlide` … */
  readonly type: string;
  /** Of the part it leads to, in the archive. */
  readonly path: string;
}

/** Most sheets of a workbook, and most relations of a part; an archive has at most 20,000 files. */
const MAX_LISTED = 65_536;

/** Refuses lists that no document has. */
export function requireListed(count: number, what: string): void {
  if (count > MAX_LISTED) throw new Error(`it has more than ${MAX_LISTED.toLocaleString('en-US')} ${what}`);
}

/** Collects the relations of a part in `folder` from its `.rels` file. */
export class PartRelations implements XmlHandler {
  readonly byId = new Map<string, Relation>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(name: string, attributes: XmlAttributes): void {
    const id = attributes.get('Id');
    if (name !== 'Relationship' || id === undefined) return;
    requireListed(this.byId.size, 'relations');
    const type = attributes.get('Type')?.split('/').at(-1) ?? '';
    this.byId.set(id, { type, path: posix.resolve('/', this.#folder, attributes.get('Target') ?? '').slice(1) });
  }

  /** The path of the first part of a type; undefined without one. */
  pathOf(type: string): string | undefined {
    return [...this.byId.values()].find((relation) => relation.type === type)?.path;
  }
}
