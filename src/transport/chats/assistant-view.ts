/** Assistants as the API gives them, in RAGFlow's names. */
import { z } from 'zod';
import type { AgentRecord } from '../../records/agents.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, defineView, none, string, timeFields, whole } from '../shapes.js';
import { settingsOf } from './assistant.js';
import type { AssistantSettings } from './assistant-settings.js';

/** What an answer says of assistants beside what is stored. */
export interface AssistantFacts {
  readonly tenant: string;
  /** Names of the datasets that exist, by id. */
  readonly datasetNames: ReadonlyMap<string, string>;
  /** Model of assistants that name none. */
  readonly defaultModel: string;
}

/** An assistant with its settings, read once. */
interface Shown {
  readonly agent: AgentRecord;
  readonly settings: AssistantSettings;
}

const setting =
  <N extends keyof AssistantSettings>(name: N) =>
  ({ settings }: Shown): AssistantSettings[N] =>
    settings[name];

const modelOf = ({ settings }: Shown, { defaultModel }: AssistantFacts): string => settings.llm_id || defaultModel;

const present = ({ settings }: Shown, { datasetNames }: AssistantFacts): readonly string[] =>
  (settings.dataset_ids ?? []).filter((id) => datasetNames.has(id));

const times = timeFields('createdAt', 'updatedAt');

const assistantView = defineView<Shown & Pick<AgentRecord, 'createdAt' | 'updatedAt'>, [AssistantFacts]>()({
  id: [string, ({ agent }) => agent.id],
  tenant_id: [string, (_, { tenant }) => tenant],
  created_by: [string.describe('The same as `tenant_id`.'), (_, { tenant }) => tenant],
  name: [string, ({ agent }) => agent.title],
  description: [string.nullable(), ({ agent }) => agent.description],
  icon: [string.describe('A picture as a data URL, or empty.'), ({ agent }) => agent.avatar ?? ''],
  language: [string, setting('language')],
  dataset_ids: [z.array(string).describe('Those that exist.'), present],
  kb_names: [
    z.array(string).describe('Names of the datasets, in the same order.'),
    (shown, facts) => present(shown, facts).map((id) => facts.datasetNames.get(id)),
  ],
  llm_id: [string.describe('The chat model; that of the server where none is set.'), modelOf],
  tenant_llm_id: [string.describe('The same as `llm_id`.'), modelOf],
  llm_setting: [anyObject, setting('llm_setting')],
  prompt_type: [z.literal('simple'), () => 'simple'],
  prompt_config: [anyObject, setting('prompt_config')],
  meta_data_filter: [anyObject, setting('meta_data_filter')],
  similarity_threshold: [z.number(), setting('similarity_threshold')],
  vector_similarity_weight: [z.number(), setting('vector_similarity_weight')],
  top_n: [whole.describe('Passages for the model.'), setting('top_n')],
  top_k: [whole.describe('Candidates of the search.'), setting('top_k')],
  rerank_id: [string, setting('rerank_id')],
  tenant_rerank_id: [z.null(), none],
  do_refer: [z.literal('1'), () => '1'],
  status: [z.literal('1'), () => '1'],
  ...times,
});

export const assistantShape = assistantView.shape;

/** Assistants of one tenant as they are given; datasets are looked up once for all of them. */
export async function showAssistants(
  parts: ServerParts,
  tenant: string,
  agents: readonly AgentRecord[],
): Promise<readonly object[]> {
  const all = agents.map((agent) => {
    const { createdAt, updatedAt } = agent;
    return { agent, settings: settingsOf(agent), createdAt, updatedAt };
  });
  const ids = new Set(all.flatMap(({ settings }) => settings.dataset_ids ?? []));
  const facts = { tenant, datasetNames: await namesOf(parts, tenant, [...ids]), defaultModel: defaultModelOf(parts) };
  return all.map((shown) => assistantView.of(shown, facts));
}

/** Datasets that are looked up at once. */
const AT_ONCE = 1_000;

/** Nothing of the knowledge base is loaded for assistants without datasets. */
async function namesOf(
  { openKnowledge }: Pick<ServerParts, 'openKnowledge'>,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (ids.length === 0 || openKnowledge === undefined) return names;
  const { datasets } = await openKnowledge();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const part = ids.slice(from, from + AT_ONCE);
    const query = { ids: part, offset: 0, limit: part.length, orderBy: 'createdAt', descending: false } as const;
    for (const { dataset } of (await datasets.list(tenant, query)).items) names.set(dataset.id, dataset.name);
  }
  return names;
}

/** Name of the model that answers where none is named; empty when there is none. */
export function defaultModelOf({ services: { models } }: Pick<ServerParts, 'services'>): string {
  const named = models.describe().defaults.chat;
  if (named !== undefined) return named;
  try {
    return models.chat('').name;
  } catch {
    return '';
  }
}
