/** What an assistant is set to: RAGFlow's names and defaults, as clients send, merge and read them. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { dataError } from './refusals.js';

/** The settings of an assistant, under the names that clients use. */
export interface AssistantSettings {
  /** Datasets that are searched; absent: all of the tenant. */
  readonly dataset_ids?: readonly string[];
  /** Empty: the default chat model. */
  readonly llm_id: string;
  /** `temperature`, `top_p`, `max_tokens` …, kept as they were sent. */
  readonly llm_setting: JsonObject;
  /** `system`, `prologue`, `empty_response`, `quote` …, kept as they were sent. */
  readonly prompt_config: JsonObject;
  readonly similarity_threshold: number;
  readonly vector_similarity_weight: number;
  /** Passages for the model. */
  readonly top_n: number;
  /** Candidates of the search. */
  readonly top_k: number;
  /** Empty: results are not ranked again by a model. */
  readonly rerank_id: string;
  readonly meta_data_filter: JsonObject;
  readonly language: string;
}

const SYSTEM = `Answer from the passages below and from what was said before. Say so when they do not hold the answer.

{knowledge}`;

/** The names and flags are RAGFlow's, the texts are ours. */
const PROMPT: JsonObject = {
  system: SYSTEM,
  prologue: 'Hello! What would you like to know?',
  parameters: [{ key: 'knowledge', optional: false }],
  empty_response: 'Nothing about this was found in the documents.',
  quote: true,
  tts: false,
  refine_multiturn: true,
};

/** Of an assistant for which nothing is set. */
export const DEFAULT_SETTINGS: AssistantSettings = {
  dataset_ids: [],
  llm_id: '',
  llm_setting: {},
  prompt_config: PROMPT,
  similarity_threshold: 0.1,
  vector_similarity_weight: 0.3,
  top_n: 6,
  top_k: 1024,
  rerank_id: '',
  meta_data_filter: {},
  language: 'English',
};

/** How the objects of a change meet those that are stored. */
export type ChangeKind = 'create' | 'replace' | 'merge';

/**
 * The settings after a change; fields that are absent stay. A prompt that is created gets the defaults of what it leaves out, one that is
 * merged keeps the other names, one that is replaced has these names alone.
 *
 * @throws EngineError NOT_FOUND (envelope 102) for a field of another type.
 */
export function changedSettings(before: AssistantSettings, body: JsonObject, kind: ChangeKind): AssistantSettings {
  const own = (name: keyof AssistantSettings): Json | undefined =>
    Object.hasOwn(body, name) && body[name] !== null ? (body[name] as Json) : undefined;
  const object = (name: 'llm_setting' | 'prompt_config' | 'meta_data_filter'): JsonObject => {
    const given = own(name);
    if (given === undefined) return before[name];
    if (!isJsonObject(given)) throw dataError(`\`${name}\` should be an object.`);
    return kind === 'merge' && name !== 'meta_data_filter' ? { ...before[name], ...given } : given;
  };
  const text = (name: 'llm_id' | 'rerank_id' | 'language'): string => {
    const given = Object.hasOwn(body, name) ? (body[name] ?? '') : before[name];
    if (typeof given === 'string') return given.trim();
    throw dataError(`\`${name}\` must be a string`);
  };
  const number = (name: 'similarity_threshold' | 'vector_similarity_weight'): number =>
    own(name) === undefined ? before[name] : numberOf(own(name));
  const whole = (name: 'top_n' | 'top_k'): number =>
    own(name) === undefined ? before[name] : Math.trunc(numberOf(own(name)));
  const prompt = object('prompt_config');
  refuseTwice(prompt.parameters);
  const datasets = Object.hasOwn(body, 'dataset_ids') ? idsOf(body.dataset_ids) : before.dataset_ids;
  return {
    ...(datasets !== undefined && { dataset_ids: datasets }),
    llm_id: text('llm_id'),
    llm_setting: object('llm_setting'),
    prompt_config: kind === 'create' ? completed(prompt) : prompt,
    similarity_threshold: number('similarity_threshold'),
    vector_similarity_weight: number('vector_similarity_weight'),
    top_n: whole('top_n'),
    top_k: whole('top_k'),
    rerank_id: text('rerank_id'),
    meta_data_filter: object('meta_data_filter'),
    language: text('language') || before.language,
  };
}

/** Datasets of one assistant at most. */
const MOST_DATASETS = 100;

function idsOf(given: Json | undefined): readonly string[] {
  if (given === null || given === undefined) return [];
  if (!Array.isArray(given)) throw dataError('`dataset_ids` should be a list.');
  const ids = given.filter((id: Json) => id !== null && id !== '');
  if (!ids.every((id: Json) => typeof id === 'string')) throw dataError('`dataset_ids` should be a list of ids.');
  if (ids.length > MOST_DATASETS) throw dataError(`\`dataset_ids\` must contain at most ${MOST_DATASETS} ids.`);
  return [...new Set(ids as string[])];
}

/** A prompt with the defaults of what it leaves out; an empty text of the system counts as left out. */
function completed(prompt: JsonObject): JsonObject {
  const { system } = prompt;
  const isWithout = system === '' || system === null || system === undefined;
  return { ...PROMPT, ...prompt, ...(isWithout && { system: SYSTEM }) };
}

/** @throws EngineError NOT_FOUND (envelope 102) for parameters of the same name. */
function refuseTwice(parameters: Json | undefined): void {
  if (!Array.isArray(parameters)) return;
  const seen = new Set<string>();
  for (const parameter of parameters as readonly Json[]) {
    const key = isJsonObject(parameter) ? parameter.key : undefined;
    if (typeof key !== 'string') continue;
    if (seen.has(key)) throw dataError(`\`parameters\` contains duplicate key: ${key}`);
    seen.add(key);
  }
}

/** A number as a column of numbers has it: what is none counts as 0. */
function numberOf(given: Json | undefined): number {
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
