/** What the first question to the datasets of a server needs: dictionaries, lists of words and indexes, loaded before it comes. */
import type { DatasetRecord } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { KnowledgeBase } from './knowledge-base.js';

/** A dataset with documents, and whose it is. */
export interface FilledDataset {
  readonly tenant: string;
  readonly dataset: DatasetRecord;
}

/** Datasets that are looked at and that are warmed, and tenants that are asked. */
const MAX_LOOKED_AT = 20;
const MAX_WARMED = 8;
const MAX_TENANTS = 100;

/** Documents by whose beginnings the languages of a dataset are told, and UTF-16 units of each that the index is asked for. */
const SAMPLE = 8;
const BEGINNING = 60;

/** The newest datasets that hold passages, of as many tenants as are asked; reads counts alone. */
export async function filledDatasets(
  store: Pick<KnowledgeStore, 'listDatasets'>,
  tenants: Iterable<string>,
): Promise<readonly FilledDataset[]> {
  const page = { offset: 0, limit: MAX_LOOKED_AT, orderBy: 'updatedAt', descending: true } as const;
  const filled: FilledDataset[] = [];
  let asked = 0;
  for (const tenant of tenants) {
    const { items } = await store.listDatasets(tenant, page);
    for (const { dataset, counts } of items) if (counts.chunks > 0) filled.push({ tenant, dataset });
    asked += 1;
    if (filled.length >= MAX_WARMED || asked === MAX_TENANTS) break;
  }
  return filled.slice(0, MAX_WARMED);
}

/**
 * Asks each index for words of its own newest documents, so that the dictionaries of their languages are loaded and no others. No model is asked. Stops behind the
 * index at work once `signal` is aborted.
 */
export async function warmIndexes(
  { parts }: Pick<KnowledgeBase, 'parts'>,
  datasets: readonly FilledDataset[],
  signal: AbortSignal,
): Promise<void> {
  const newest = { offset: 0, limit: SAMPLE, runs: ['DONE'], orderBy: 'createdAt', descending: true } as const;
  for (const { tenant, dataset } of datasets) {
    if (signal.aborted) return;
    const { items } = await parts.store.listDocuments(tenant, { ...newest, datasetIds: [dataset.id] });
    const beginnings: string[] = [];
    for (const { id } of items) {
      const [chunk] = await parts.store.chunksAfter(tenant, id, undefined, 1);
      if (chunk !== undefined) beginnings.push(chunk.text.slice(0, BEGINNING));
    }
    const question = beginnings.join('\n').trim();
    if (question !== '') await parts.indexes.open(tenant, dataset.id).search({ question, limit: 1 }, signal);
  }
}
