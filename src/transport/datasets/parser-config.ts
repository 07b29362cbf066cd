/** How the documents of a dataset are cut: RAGFlow's `parser_config`, read, filled in and merged. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChunkMethod } from '../../records/knowledge.js';
import {
  dictionaryField,
  flagField,
  listField,
  numberField,
  objectField,
  oneOf,
  textField,
  wholeField,
} from '../ragflow/fields.js';

/** Longest configuration as JSON, in UTF-16 units. */
const MAX_LENGTH = 65_535;

const raptor = objectField({
  use_raptor: flagField(),
  prompt: textField({ least: 1, isTrimmed: true }),
  max_token: wholeField(1, 2_048),
  clustering_threshold: numberField(0, 1),
  clustering_ratio: numberField(0, 1),
  max_cluster: wholeField(1, 1_024),
  random_seed: wholeField(0),
  scope: oneOf(['file', 'dataset']),
  auto_disable_for_structured_data: flagField(),
}).partial();

const graphrag = objectField({
  use_graphrag: flagField(),
  entity_types: listField(textField()),
  method: oneOf(['light', 'general', 'ner']),
  community: flagField(),
  resolution: flagField(),
  batch_chunk_token_size: wholeField(512, 8_196),
  retry_attempts: wholeField(1, 10),
  retry_backoff_seconds: numberField(0, 600),
  retry_backoff_max_seconds: numberField(0, 3_600),
  build_subgraph_timeout_per_chunk_seconds: wholeField(1, 86_400),
  build_subgraph_min_timeout_seconds: wholeField(1, 86_400),
  merge_timeout_seconds: wholeField(0, 86_400),
  resolution_timeout_seconds: wholeField(0, 86_400),
  community_timeout_seconds: wholeField(0, 86_400),
  lock_acquire_timeout_seconds: wholeField(0, 86_400),
}).partial();

/** The configuration as clients send it; names that are absent stay as they are. */
export const parserConfigField = objectField({
  auto_keywords: wholeField(0, 32),
  auto_questions: wholeField(0, 10),
  chunk_token_num: wholeField(1, 2_048),
  delimiter: textField({ least: 1, most: Number.MAX_SAFE_INTEGER }),
  overlapped_percent: numberField(0, 100),
  graphrag,
  html4excel: flagField(),
  layout_recognize: textField(),
  parent_child: objectField({ use_parent_child: flagField(), children_delimiter: textField({ least: 1 }) }).partial(),
  enable_children: flagField(),
  children_delimiter: textField(),
  raptor,
  tag_kb_ids: listField(textField()),
  topn_tags: wholeField(1, 10),
  filename_embd_weight: numberField(0, 1).nullable(),
  task_page_size: wholeField(1).nullable(),
  pages: listField(listField(wholeField(Number.MIN_SAFE_INTEGER))).nullable(),
  image_context_size: wholeField(0),
  table_context_size: wholeField(0),
  llm_id: textField(),
  ext: dictionaryField(),
  table_column_mode: oneOf(['auto', 'manual']).nullable(),
  table_column_roles: z.record(z.string(), oneOf(['indexing', 'metadata', 'both'])).nullable(),
  table_column_names: listField(textField()).nullable(),
})
  .partial()
  .superRefine((config, issues) => {
    const { length } = JSON.stringify(config);
    if (length <= MAX_LENGTH) return;
    const message = `Parser config exceeds size limit (max 65,535 characters). Current size: ${length}`;
    issues.addIssue({ code: 'custom', message });
  });

/** Neither is there: they are named because clients read the two names. */
const NO_GRAPH = { raptor: { use_raptor: false }, graphrag: { use_graphrag: false } } as const;

const SIZES = { table_context_size: 0, image_context_size: 0 } as const;

/** What RAGFlow fills in for each method. */
const DEFAULTS: Readonly<Record<ChunkMethod, JsonObject>> = {
  naive: {
    ...NO_GRAPH,
    layout_recognize: 'DeepDOC',
    chunk_token_num: 512,
    delimiter: '\n',
    auto_keywords: 0,
    auto_questions: 0,
    html4excel: false,
    topn_tags: 3,
    parent_child: { use_parent_child: false, children_delimiter: '\n' },
    children_delimiter: '',
  },
  book: NO_GRAPH,
  email: {},
  laws: NO_GRAPH,
  manual: NO_GRAPH,
  one: {},
  paper: NO_GRAPH,
  picture: {},
  presentation: NO_GRAPH,
  qa: NO_GRAPH,
  table: {},
  tag: {},
};

/** The configuration of a new dataset, or of one with another method. */
export function filledConfig(method: ChunkMethod, given: JsonObject | undefined): JsonObject {
  const defaults = { ...SIZES, ...DEFAULTS[method] };
  return given === undefined ? defaults : mergedConfig({ ...NO_GRAPH, ...defaults }, given);
}

/** A configuration with what a client changes of it, object by object. */
export function mergedConfig(config: JsonObject, { ext, ...given }: JsonObject): JsonObject {
  const merged = merge(config, { ...given, ...(isJsonObject(ext) ? ext : {}) });
  const { parent_child: children } = given;
  if (!isJsonObject(children)) return merged;
  const isUsed = children.use_parent_child === true;
  return {
    ...merged,
    enable_children: isUsed,
    children_delimiter: isUsed ? (children.children_delimiter ?? '\n') : '',
  };
}

function merge(base: JsonObject, given: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(base));
  for (const [name, value] of Object.entries(given)) {
    const before = merged.get(name);
    merged.set(name, isJsonObject(before) && isJsonObject(value) ? merge(before, value) : value);
  }
  return Object.fromEntries(merged);
}
