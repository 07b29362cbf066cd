import type { IndexRow, IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';

interface StoredIndex {
  generation: number;
  segments: SegmentEntry[];
  /** Rows by segment, then by kind, then by key. */
  readonly rows: Map<string, Map<string, Map<string, Uint8Array>>>;
}

/** Search indexes in the memory of this process, gone with it. Byte strings are not copied: neither side changes them. */
export function createMemoryIndexStorage(): IndexStorage {
  const indexes = new Map<string, StoredIndex>();
  const emptied = new Set<string>();
  const nameOf = ({ tenant, dataset }: IndexScope): string => JSON.stringify([tenant, dataset]);
  const find = (scope: IndexScope): StoredIndex | undefined => indexes.get(nameOf(scope));
  const open = (scope: IndexScope): StoredIndex => {
    const found = find(scope) ?? { generation: 0, segments: [], rows: new Map() };
    indexes.set(nameOf(scope), found);
    return found;
  };
  const rowsOf = (scope: IndexScope, segment: string, kind: string): ReadonlyMap<string, Uint8Array> =>
    find(scope)?.rows.get(segment)?.get(kind) ?? new Map();
  const write: IndexStorage['write'] = async (scope, segment, rows) => {
    const { rows: all } = open(scope);
    const kinds = all.get(segment) ?? new Map<string, Map<string, Uint8Array>>();
    all.set(segment, kinds);
    for (const { kind, key, bytes } of rows) {
      const keys = kinds.get(kind) ?? new Map<string, Uint8Array>();
      kinds.set(kind, keys.set(key, bytes));
    }
  };
  return {
    write,
    state: async (scope) => {
      const { generation, segments } = find(scope) ?? { generation: 0, segments: [] };
      return { generation, segments: [...segments] };
    },
    generation: async (scope) => find(scope)?.generation ?? 0,
    async read(scope, segment, kind, keys) {
      const rows = rowsOf(scope, segment, kind);
      return new Map(keys.flatMap((key) => (rows.has(key) ? [[key, rows.get(key) as Uint8Array]] : [])));
    },
    async list(scope, segment, kind, { after, limit }) {
      const keys = [...rowsOf(scope, segment, kind).entries()]
        .filter(([key]) => after === undefined || compareKeys(key, after) > 0)
        .sort(([left], [right]) => compareKeys(left, right));
      return keys.slice(0, limit).map(([key, bytes]): IndexRow => ({ kind, key, bytes }));
    },
    async copy(scope, { from, to }, kind, keys) {
      const rows = rowsOf(scope, from, kind);
      const copied = [...keys].flatMap(([key, newKey]): IndexRow[] => {
        const bytes = rows.get(key);
        return bytes === undefined ? [] : [{ kind, key: newKey, bytes }];
      });
      if (copied.length > 0) await write(scope, to, copied);
    },
    async commit(scope, generation, { add = [], drop = [], flags = [] }) {
      const index = open(scope);
      if (index.generation !== generation) return false;
      const gone = new Set(drop);
      const replaced = new Map(flags.map((entry) => [entry.id, entry]));
      index.segments = [...index.segments.map((entry) => replaced.get(entry.id) ?? entry), ...add].filter(
        ({ id }) => !gone.has(id),
      );
      for (const id of gone) index.rows.delete(id);
      index.generation += 1;
      return true;
    },
    async erase(scope, segment, rows) {
      const all = find(scope)?.rows;
      if (rows === undefined) all?.delete(segment);
      else for (const key of rows.keys) all?.get(segment)?.get(rows.kind)?.delete(key);
    },
    async sweep(scope, before) {
      const index = find(scope);
      const listed = new Set(index?.segments.map(({ id }) => id));
      for (const id of index?.rows.keys() ?? []) if (id < before && !listed.has(id)) index?.rows.delete(id);
    },
    async clear(scope) {
      const generation = find(scope)?.generation;
      indexes.delete(nameOf(scope));
      if (generation === undefined) return;
      // The number goes on: who knows the former index must not take the next one for it.
      indexes.set(nameOf(scope), { generation: generation + 1, segments: [], rows: new Map() });
      emptied.add(nameOf(scope));
      for (const name of emptied) {
        if (emptied.size <= MAX_EMPTIED) break;
        emptied.delete(name);
        if (indexes.get(name)?.segments.length === 0) indexes.delete(name);
      }
    },
  };
}

/** Indexes that were cleared and whose numbers are known. */
const MAX_EMPTIED = 10_000;

/** By the bytes of UTF-8, as databases do, which is the order of code points. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    if (one !== other) return codePointOrder(one) - codePointOrder(other);
  }
  return left.length - right.length;
}

/** Sorts keys as {@link compareKeys} does; where no key has a pair, the order of units is the same and found in a third of the time. */
export function sortKeys(keys: string[]): string[] {
  return keys.some((key) => PAIR.test(key)) ? keys.sort(compareKeys) : keys.sort();
}

const PAIR = /[\ud800-\udfff]/;

/** Halves of pairs stand for code points above all that one unit holds. */
function codePointOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10_000 : unit;
}
