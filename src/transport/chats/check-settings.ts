/** Whether what the settings of an assistant name is there: models, and datasets that hold something. */
import type { ServerParts } from '../server-parts.js';
import type { AssistantSettings } from './assistant-settings.js';
import { dataError } from './refusals.js';

/** What a change sets anew. */
type Named = Partial<Pick<AssistantSettings, 'dataset_ids' | 'llm_id' | 'rerank_id'>>;

/** @throws EngineError NOT_FOUND (envelope 102) for a model or a dataset that does not exist, and a dataset without passages. */
export async function checkNamed(parts: ServerParts, tenant: string, named: Named): Promise<void> {
  const { dataset_ids = [], llm_id = '', rerank_id = '' } = named;
  const { models } = parts.services;
  await checkDatasets(parts, tenant, dataset_ids);
  checkModel('llm_id', llm_id, () => models.chat(llm_id));
  checkModel('rerank_id', rerank_id, () => models.reranker(rerank_id));
}

/** Most characters of a name that a refusal repeats. */
const SHOWN = 255;

function checkModel(field: string, id: string, find: () => unknown): void {
  if (id === '') return;
  try {
    find();
  } catch {
    throw dataError(`\`${field}\` ${id.slice(0, SHOWN)} doesn't exist`);
  }
}

async function checkDatasets(
  { openKnowledge }: Pick<ServerParts, 'openKnowledge'>,
  tenant: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const query = { ids, offset: 0, limit: ids.length, orderBy: 'createdAt', descending: false } as const;
  const found = openKnowledge === undefined ? [] : (await (await openKnowledge()).datasets.list(tenant, query)).items;
  const byId = new Map(found.map((one) => [one.dataset.id, one]));
  for (const id of ids) {
    const one = byId.get(id);
    if (one === undefined) throw dataError(`You don't own the dataset ${id.slice(0, SHOWN)}`);
    if (one.counts.chunks === 0) throw dataError(`The dataset ${id} doesn't own parsed file`);
  }
}
