/** Terms and patterns of users, as a knowledge base keeps them. */
import { EngineError } from '../../../errors.js';
import type { DatasetRecord } from '../../../records/knowledge.js';
import type { BaseParts } from '../../base/parts.js';
import type { DatasetRules, KnowledgeGraphs } from '../knowledge-graphs.js';

/** The rules of datasets; what reads them is loaded when it is needed. */
export function createDatasetRules({
  store,
  now,
}: Pick<BaseParts, 'store' | 'now'>): Pick<KnowledgeGraphs, 'rules' | 'setRules'> {
  const load = () => import('../rules/own-rules.js');
  const told = async (tenant: string, dataset: DatasetRecord | undefined, id: string): Promise<DatasetRules> => {
    if (dataset === undefined) throw new EngineError('NOT_FOUND', `There is no dataset "${id}".`);
    const { terms = [], patterns = [] } = dataset.graphRules ?? {};
    return { terms, patterns, isToBuild: await (await load()).isToBuild(store, tenant, dataset) };
  };
  return {
    rules: async (tenant, datasetId) => told(tenant, await store.findDataset(tenant, datasetId), datasetId),
    async setRules(tenant, datasetId, given) {
      const { terms, patterns } = await (await load()).readOwnRules(given);
      const graphRules = { terms: terms.map(({ aliases = [], ...term }) => ({ ...term, aliases })), patterns };
      const changed = await store.updateDataset(tenant, datasetId, { graphRules, updatedAt: now() });
      return told(tenant, changed, datasetId);
    },
  };
}
