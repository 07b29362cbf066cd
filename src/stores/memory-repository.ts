import { EngineError } from '../errors.js';
import { DEFAULT_QUOTAS, type Quotas, requireRoom } from '../records/quotas.js';
import {
  type Column,
  type Condition,
  conditionsOf,
  foldCase,
  joinTexts,
  MAX_TALLIES,
  type MemoryBounds,
  type Owned,
  orderOf,
  type Page,
  type Query,
  type Repository,
  type Resource,
  requireExpected,
} from '../records/repository.js';
import { BoundedMap, jsonBytes } from './bounded-map.js';

/** What can be set for a repository in memory. */
export interface MemoryRepositoryOptions extends Partial<Omit<MemoryBounds, 'canDrop'>> {
  /** @default {@link DEFAULT_QUOTAS} */
  readonly quotas?: Quotas | undefined;
  /** Called with every record that was dropped to make room. */
  readonly onDrop?: ((tenant: string, id: string) => void) | undefined;
}

/** How many records tenants have. */
export interface RecordCounts {
  of(tenant: string): number;
  /** Of the tenant that has the most. */
  most(): number;
}

/** A repository that knows how many records tenants have. */
export type MemoryRepository<T, Q extends Query> = Repository<T, Q> & { readonly counts: RecordCounts };

/** Records of a resource in memory, bounded as it declares; gone with the process. */
export function createMemoryRepository<T, Q extends Query>(
  resource: Resource<T, Q>,
  options: MemoryRepositoryOptions = {},
): MemoryRepository<T, Q> {
  const { name, singular, columns, unique = [], owner, shared, prune: rule, memory, quota } = resource;
  const { maxCount = memory.maxCount, maxBytes = memory.maxBytes, onDrop, quotas = DEFAULT_QUOTAS } = options;
  /** Records by the values of unique columns. */
  const taken = new Map<string, Owned<T>>();
  const records = new BoundedMap<T>({
    what: name,
    maxCount,
    maxBytes,
    canDrop: memory.canDrop,
    onDrop(tenant, id, record) {
      release(tenant, record);
      onDrop?.(tenant, id);
    },
  });

  const columnValue = (record: T, column: string): ReturnType<Column<T>['of']> =>
    column === 'id' ? resource.id(record) : (columns[column] as Column<T>).of(record);
  /** What a condition looks at: the value of its column, or what that is more than the other one. */
  const comparedValue = (record: T, { column, less }: Condition): ReturnType<Column<T>['of']> => {
    const value = columnValue(record, column);
    if (less === undefined) return value;
    const other = columnValue(record, less);
    return typeof value === 'number' && typeof other === 'number' ? value - other : null;
  };
  const keysOf = (tenant: string, record: T): string[] =>
    unique.map((one) =>
      keyOf(
        one.columns,
        one.columns.map((column) => columnValue(record, column)),
        one.acrossTenants ? undefined : tenant,
      ),
    );
  const release = (tenant: string, record: T): void => {
    for (const key of keysOf(tenant, record)) taken.delete(key);
  };
  const isOf = (record: T, owned: string | undefined): boolean =>
    owned === undefined || (owner !== undefined && columnValue(record, owner.column) === owned);
  const bytesOf = (record: T): number =>
    maxBytes === undefined ? 0 : jsonBytes(shared === undefined ? record : { ...record, [shared]: undefined });

  const find = (tenant: string, id: string, owned?: string): T | undefined => {
    const record = records.get(tenant, id);
    return record !== undefined && isOf(record, owned) ? record : undefined;
  };
  const put = (tenant: string, record: T): void => {
    const id = resource.id(record);
    const keys = keysOf(tenant, record);
    for (const [at, key] of keys.entries()) {
      const other = taken.get(key);
      if (other === undefined || (other.tenant === tenant && resource.id(other.record) === id)) continue;
      throw new EngineError('CONFLICT', unique[at]?.conflict(record) ?? '');
    }
    const before = records.get(tenant, id);
    records.put(tenant, id, record, bytesOf(record));
    if (before !== undefined) release(tenant, before);
    for (const key of keys) taken.set(key, { tenant, record });
  };
  const remove = (tenant: string, id: string, owned?: string): boolean => {
    const record = find(tenant, id, owned);
    if (record === undefined) return false;
    release(tenant, record);
    return records.delete(tenant, id);
  };
  /** Records that count against the same quota. */
  const usedBy = (tenant: string, record: T): number => {
    if (quota?.per !== 'owner' || owner === undefined) return records.countOf(tenant);
    const owned = columnValue(record, owner.column) as string;
    let used = 0;
    for (const other of records.values(tenant)) if (isOf(other, owned)) used += 1;
    return used;
  };
  /** Before any bound of bytes. */
  const page = (tenant: string, query: Q): Page<T> => {
    const { offset, limit } = query;
    const { column, descending } = orderOf(resource, query);
    const conditions = conditionsOf(resource, query);
    const found = [...records.values(tenant)].filter((record) =>
      conditions.every((one) => isMatch(one, comparedValue(record, one))),
    );
    if (descending) found.reverse();
    if (column !== 'position') sortBy(found, (record) => columnValue(record, column) as string | number, descending);
    return { items: found.slice(offset, offset + limit), total: found.length };
  };
  return {
    counts: { of: (tenant) => records.countOf(tenant), most: () => records.mostCounted() },
    async insert(tenant, record) {
      const id = resource.id(record);
      if (records.get(tenant, id) !== undefined)
        throw new EngineError('CONFLICT', `${singular} "${id}" already exists.`);
      if (quota !== undefined) requireRoom(quotas, quota.name, usedBy(tenant, record), 1);
      put(tenant, record);
    },
    save: async (tenant, record) => put(tenant, record),
    async replace(tenant, before, after) {
      const stored = records.get(tenant, resource.id(after));
      const writerOf = (record: T) => columnValue(record, writerColumn(resource));
      if (stored === undefined || ![writerOf(before), writerOf(after)].includes(writerOf(stored))) return false;
      put(tenant, after);
      return true;
    },
    find: async (tenant, id, owned) => find(tenant, id, owned),
    ownersOf: async (id, among) => among.filter((tenant) => find(tenant, id) !== undefined).slice(0, 2),
    async update(tenant, id, change, expected) {
      const before = records.get(tenant, id);
      if (before === undefined) return undefined;
      requireExpected(resource, before, expected);
      const after = { ...before, ...change };
      put(tenant, after);
      return after;
    },
    delete: async (tenant, id, owned) => remove(tenant, id, owned),
    async deleteOf(tenant, owned) {
      const ids = [...records.values(tenant)].filter((record) => isOf(record, owned)).map(resource.id);
      return ids.filter((id) => remove(tenant, id));
    },
    async list(tenant, query) {
      const { items, total } = page(tenant, query);
      // Records that are in memory anyway: an empty document only saves bytes of the page.
      const read = shared !== undefined && query.omitsShared ? items.map((one) => ({ ...one, [shared]: {} })) : items;
      return { items: withinBytes(read, query.maxBytes), total };
    },
    async select(tenant, query, names) {
      const { items, total } = page(tenant, query);
      const selected = items.map((record) => ({
        ...Object.fromEntries(names.map((name) => [name, columnValue(record, name)])),
        id: resource.id(record),
      }));
      return { items: withinBytes(selected, query.maxBytes), total };
    },
    async tally(tenant, query, column) {
      const counts = new Map<string, number>();
      for (const record of page(tenant, { ...query, offset: 0, limit: Number.MAX_SAFE_INTEGER }).items) {
        const value = columnValue(record, column);
        for (const one of Array.isArray(value) ? new Set<string>(value) : [String(value)]) {
          counts.set(one, (counts.get(one) ?? 0) + 1);
        }
      }
      const tallies = [...counts].map(([value, count]) => ({ value, count }));
      return tallies.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, MAX_TALLIES);
    },
    findByKey: async (column, value) => taken.get(keyOf([column], [value])),
    async prune(time, limit) {
      const isOver = (record: T): boolean => {
        if (rule === undefined) return false;
        const at = columnValue(record, rule.time) as number | null;
        return (
          at !== null &&
          at < time &&
          (rule.unless === undefined || columnValue(record, rule.unless[0]) !== rule.unless[1])
        );
      };
      const old = [...records.entries()].filter(({ value }) => isOver(value)).slice(0, limit);
      return old.filter(({ tenant, id }) => remove(tenant, id)).length;
    },
  };
}

/** The column that says who may replace a record. @throws EngineError INTERNAL when the resource declares none. */
export function writerColumn({ name, writer }: Pick<Resource<never>, 'name' | 'writer'>): string {
  if (writer !== undefined) return writer;
  throw new EngineError('INTERNAL', `The resource "${name}" declares no writer, so its records cannot be replaced.`);
}

/** The items that fit. */
function withinBytes<T>(items: readonly T[], maxBytes: number | undefined): readonly T[] {
  if (maxBytes === undefined) return items;
  let bytes = 0;
  const over = items.findIndex((item) => {
    bytes += jsonBytes(item);
    return bytes > maxBytes;
  });
  return over === -1 ? items : items.slice(0, over);
}

/** JSON separates the values, whatever characters they have. */
function keyOf(columns: readonly string[], values: readonly unknown[], tenant?: string): string {
  return JSON.stringify([columns, values, tenant]);
}

function isMatch({ kind, wanted }: Condition, value: ReturnType<Column<unknown>['of']>): boolean {
  switch (kind) {
    case 'is':
      return value === wanted;
    case 'not':
      return value !== wanted;
    case 'in':
      return (wanted as readonly unknown[]).includes(value);
    case 'has':
      return (wanted as readonly string[]).some((one) => (value as readonly string[]).includes(one));
    case 'contains':
      return joinTexts(value as readonly string[]).includes(foldCase(wanted as string));
    case 'from':
      return value !== null && (value as number) >= (wanted as number);
    case 'to':
      return value !== null && (value as number) <= (wanted as number);
  }
}

/** Equal values stay in their order. */
function sortBy<T>(items: T[], key: (item: T) => string | number, descending: boolean): void {
  const sign = descending ? -1 : 1;
  items.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === right) return 0;
    return left < right ? -sign : sign;
  });
}
