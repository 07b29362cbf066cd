/** A JSON value as lines of a tree: what is open, what a search finds, and what is left out until the user asks for it. */
import type { Json } from '../../src/json.js';

/** One line: a member of an object, an item of a list, or "more". */
export interface JsonRow {
  /** JSON pointer of the value; for "more" that of the list or object, with `…` behind it. */
  readonly path: string;
  /** Name or index; empty for the value as a whole. */
  readonly name: string;
  /** 1 for the outermost. */
  readonly level: number;
  readonly value: Json | undefined;
  /** Members or items; undefined for what has none. */
  readonly size?: number;
  readonly isOpen: boolean;
  /** With "more": how many are left out. */
  readonly more?: number;
}

/** What the user did to a tree. */
export interface JsonTreeState {
  /** Whether it is open, by path, where the user said so. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** Lists and objects that are shown whole. */
  readonly whole: ReadonlySet<string>;
  /** In small letters; empty for no search. */
  readonly search: string;
  /** Levels that are open at first, where they are small. @default 2 */
  readonly levels?: number;
}

/** Members and items of one value that are shown at first. */
const FIRST = 100;

/** Lines that open by themselves are those of the first levels, as long as they are few. */
const OPEN_LEVELS = 2;
const OPEN_SIZE = 20;

/** Values that a search looks at, at most. */
const MAX_SEARCHED = 50_000;

/** Lines of a tree, at most. */
export const MAX_ROWS = 20_000;

/** The lines of `value` in order. Never recursive: values may be as deep as they like. */
export function jsonRows(
  value: Json,
  { opened, whole, search, levels = OPEN_LEVELS }: JsonTreeState,
): readonly JsonRow[] {
  const found = search === '' ? undefined : pathsOf(value, search);
  const rows: JsonRow[] = [];
  const stack: JsonRow[] = [{ path: '', name: '', level: 1, value, isOpen: false }];
  for (let row = stack.pop(); row !== undefined && rows.length < MAX_ROWS; row = stack.pop()) {
    if (row.more !== undefined) {
      rows.push(row);
      continue;
    }
    const { path, level, value: own } = row;
    const members = membersOf(own, found === undefined && !whole.has(path) ? FIRST : Number.POSITIVE_INFINITY);
    if (members === undefined) {
      rows.push(row);
      continue;
    }
    const { size, names } = members;
    const isOpen = found !== undefined || (opened.get(path) ?? (level <= levels && size <= OPEN_SIZE));
    rows.push({ ...row, size, isOpen });
    if (!isOpen) continue;
    const shown = names.map((name) => child(row, name));
    const kept = found === undefined ? shown : shown.filter((one) => found.has(one.path));
    if (names.length < size)
      stack.push({
        path: `${path}/…`,
        name: '',
        level: level + 1,
        value: undefined,
        isOpen: false,
        more: size - names.length,
      });
    for (let at = kept.length - 1; at >= 0; at -= 1) stack.push(kept[at] as JsonRow);
  }
  return rows;
}

function child({ path, level, value }: JsonRow, name: string): JsonRow {
  const inner = (value as Readonly<Record<string, Json>>)[name];
  return {
    path: `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    name,
    level: level + 1,
    value: inner,
    isOpen: false,
  };
}

/** Names of the members of a value, or indexes of its items; undefined when it has no such thing. */
function membersOf(value: Json | undefined, most: number) {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    return { size: value.length, names: Array.from({ length: Math.min(most, value.length) }, (_, at) => String(at)) };
  }
  const names = Object.keys(value);
  return { size: names.length, names: names.length > most ? names.slice(0, most) : names };
}

/** Paths of what holds `search` in its name or its text, and of all around it. */
function pathsOf(value: Json, search: string): ReadonlySet<string> {
  const found = new Set<string>(['']);
  const stack: { readonly row: JsonRow; readonly around: readonly string[] }[] = [];
  const first: JsonRow = { path: '', name: '', level: 1, value, isOpen: false };
  stack.push({ row: first, around: [] });
  let seen = 0;
  for (let one = stack.pop(); one !== undefined && seen < MAX_SEARCHED; one = stack.pop()) {
    seen += 1;
    const { row, around } = one;
    if (holds(row, search)) for (const path of [...around, row.path]) found.add(path);
    const members = membersOf(row.value, Number.POSITIVE_INFINITY);
    // Deep values: the way back is shared by all members, and given up where it would cost more than it tells.
    const way = around.length < 200 ? [...around, row.path] : around;
    for (const name of members?.names ?? []) stack.push({ row: child(row, name), around: way });
  }
  return found;
}

function holds({ name, value }: JsonRow, search: string): boolean {
  if (name.toLowerCase().includes(search)) return true;
  return (typeof value !== 'object' || value === null) && String(value).toLowerCase().includes(search);
}
