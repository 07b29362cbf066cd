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

/** UTF-16 units of a passage that its index is asked for: some words of its language. */
const QUESTION = 200;

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
 * Asks each index for words of a passage of its own, so that the dictionaries of its language are loaded and no others. No model is asked. Stops behind the
 * index at work once `signal` is aborted.
 */
export async function warmIndexes(
  { parts }: Pick<KnowledgeBase, 'parts'>,
  datasets: readonly FilledDataset[],
  signal: AbortSignal,
): Promise<void> {
  const newest = { offset: 0, limit: 1, runs: ['DONE'], orderBy: 'createdAt', descending: true } as const;
  for (const { tenant, dataset } of datasets) {
    if (signal.aborted) return;
    const [document] = (await parts.store.listDocuments(tenant, { ...newest, datasetIds: [dataset.id] })).items;
    if (document === undefined) continue;
    const [chunk] = await parts.store.chunksAfter(tenant, document.id, undefined, 1);
    const question = chunk?.text.slice(0, QUESTION) ?? '';
    if (question !== '') await parts.indexes.open(tenant, dataset.id).search({ question, limit: 1 }, signal);
  }
}
