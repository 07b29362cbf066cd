/** Metadata of the documents of a dataset, seen and changed together. */
import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';
import type { DocumentRecord } from '../../records/knowledge.js';
import { metadataTest } from '../search/metadata-filter.js';
import type { Documents } from './documents.js';
import { readMetadataFilter } from './metadata-filter.js';
import type { BaseParts } from './parts.js';

/** The values of one name and how many documents have each, the most frequent first. */
export interface MetadataSummary {
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

/** How the metadata of documents is changed. */
export interface MetadataChange {
  /** Documents that are changed. @default all of the dataset */
  readonly documentIds?: readonly string[] | undefined;
  /** Only those that fit, as RAGFlow writes conditions. @default all */
  readonly filter?: JsonObject | undefined;
  /** Sets names; with `match` only where the name, or one of its list of values, has that value. */
  readonly updates: readonly { readonly name: string; readonly value: Json; readonly match?: Json | undefined }[];
  /** Takes names out; with `value` only that value. */
  readonly deletes: readonly { readonly name: string; readonly value?: Json | undefined }[];
}

/** Which documents are asked for by their metadata; all that is given must hold. */
export interface MetadataQuery {
  /** Conditions, as RAGFlow writes them. */
  readonly filter?: JsonObject | undefined;
  /** Texts of values by name; one of them is enough. */
  readonly values?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whether they have no metadata at all. @default false */
  readonly isEmpty?: boolean | undefined;
}

/** Metadata. Errors: NOT_FOUND for a dataset that does not exist, BAD_REQUEST for a filter that is none. */
export interface Metadata {
  /** @param documentIds only these. @default all of the dataset */
  summary(tenant: string, datasetId: string, documentIds?: readonly string[]): Promise<readonly MetadataSummary[]>;
  /**
   * Ids of documents of several datasets by name and value.
   *
   * @throws EngineError LIMIT_REACHED for more than 100,000 of them, and for values of more than 8 million characters
   */
  documentsByValue(
    tenant: string,
    datasetIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>>;
  /** Ids of the documents that fit. */
  documents(tenant: string, datasetId: string, query: MetadataQuery): Promise<readonly string[]>;
  /** Gives how many documents fit, and how many of them were changed. */
  change(
    tenant: string,
    datasetId: string,
    change: MetadataChange,
  ): Promise<{ readonly matched: number; readonly updated: number }>;
}

const BATCH = 200;
/** Values of one name that are counted. */
const MAX_VALUES = 10_000;
/** Values of all names and documents that are listed with their documents. */
const MAX_PLACES = 100_000;
/** UTF-16 units of those values together. */
const MAX_VALUE_UNITS = 8_000_000;

/** Ids of documents by name and value, as many as one answer may hold. */
class DocumentsByValue {
  readonly names = new Map<string, Map<string, string[]>>();
  #places = MAX_PLACES;
  #units = MAX_VALUE_UNITS;

  /** @throws EngineError LIMIT_REACHED */
  add(name: string, value: string, id: string): void {
    const values = this.names.get(name) ?? new Map<string, string[]>();
    this.names.set(name, values);
    const ids = values.get(value);
    this.#places -= 1;
    if (ids === undefined) this.#units -= value.length;
    if (this.#places < 0 || this.#units < 0) {
      const message = `The datasets have more than ${MAX_PLACES} values, or values of more than ${MAX_VALUE_UNITS} characters. Ask for fewer datasets at once.`;
      throw new EngineError('LIMIT_REACHED', message);
    }
    if (ids === undefined) values.set(value, [id]);
    else ids.push(id);
  }
}

/** The metadata of a knowledge base. */
export function createMetadata({ store }: BaseParts, documents: Pick<Documents, 'update'>): Metadata {
  async function* all(tenant: string, datasetId: string, ids?: readonly string[]): AsyncGenerator<DocumentRecord> {
    if ((await store.findDataset(tenant, datasetId)) === undefined) {
      throw new EngineError('NOT_FOUND', `There is no dataset "${datasetId}".`);
    }
    const query = { datasetIds: [datasetId], ids, limit: BATCH, orderBy: 'createdAt', descending: false } as const;
    for (let offset = 0; ; offset += BATCH) {
      const { items } = await store.listDocuments(tenant, { ...query, offset });
      yield* items;
      if (items.length < BATCH) return;
    }
  }
  return {
    async summary(tenant, datasetId, documentIds) {
      const names = new Map<string, Map<string, number>>();
      for await (const { metadata } of all(tenant, datasetId, documentIds)) {
        for (const [name, found] of Object.entries(metadata)) {
          const counts = names.get(name) ?? new Map<string, number>();
          names.set(name, counts);
          for (const value of new Set(listOf(found).map(textOf))) {
            if (counts.has(value) || counts.size < MAX_VALUES) counts.set(value, (counts.get(value) ?? 0) + 1);
          }
        }
      }
      return [...names].map(([name, counts]) => {
        const values = [...counts].map(([value, count]) => ({ value, count }));
        return { name, values: values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)) };
      });
    },
    async documentsByValue(tenant, datasetIds) {
      const places = new DocumentsByValue();
      for (const datasetId of datasetIds) {
        for await (const { id, metadata } of all(tenant, datasetId)) {
          for (const [name, found] of Object.entries(metadata)) {
            for (const value of new Set(listOf(found).map(textOf))) places.add(name, value, id);
          }
        }
      }
      return places.names;
    },
    async documents(tenant, datasetId, { filter: given, values = {}, isEmpty = false }) {
      const filter = given === undefined ? undefined : readMetadataFilter(given);
      const fits = filter === undefined ? undefined : metadataTest(filter);
      const wanted = Object.entries(values).map(([name, texts]) => [name, new Set(texts)] as const);
      const ids: string[] = [];
      for await (const { id, metadata } of all(tenant, datasetId)) {
        if (isEmpty && Object.keys(metadata).length > 0) continue;
        if (fits?.(metadata) === false) continue;
        if (wanted.every(([name, texts]) => hasOneOf(metadata, name, texts))) ids.push(id);
      }
      return ids;
    },
    async change(tenant, datasetId, { documentIds, filter: given, updates, deletes }) {
      const filter = given === undefined ? undefined : readMetadataFilter(given);
      const fits = filter === undefined ? undefined : metadataTest(filter);
      let [matched, updated] = [0, 0];
      for await (const { id, metadata } of all(tenant, datasetId, documentIds)) {
        if (fits?.(metadata) === false) continue;
        matched += 1;
        const after = changed(metadata, updates, deletes);
        if (JSON.stringify(after) === JSON.stringify(metadata)) continue;
        await documents.update(tenant, datasetId, id, { metadata: after });
        updated += 1;
      }
      return { matched, updated };
    },
  };
}

function hasOneOf(metadata: JsonObject, name: string, texts: ReadonlySet<string>): boolean {
  const found = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  return found !== undefined && listOf(found).some((value) => texts.has(textOf(value)));
}

function changed(
  metadata: JsonObject,
  updates: MetadataChange['updates'],
  deletes: MetadataChange['deletes'],
): JsonObject {
  const after = new Map<string, Json>(Object.entries(metadata));
  for (const { name, value, match } of updates) {
    const before = after.get(name);
    if (match === undefined) after.set(name, value);
    else if (Array.isArray(before)) {
      after.set(
        name,
        (before as readonly Json[]).map((one) => (textOf(one) === textOf(match) ? value : one)),
      );
    } else if (before !== undefined && textOf(before) === textOf(match)) after.set(name, value);
  }
  for (const { name, value } of deletes) {
    const before = after.get(name);
    if (before === undefined) continue;
    const rest = value === undefined ? [] : listOf(before).filter((one) => textOf(one) !== textOf(value));
    if (rest.length === 0) after.delete(name);
    else after.set(name, Array.isArray(before) ? rest : (rest[0] as Json));
  }
  return Object.fromEntries(after);
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
