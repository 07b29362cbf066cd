/** An assistant: an agent whose document is made from settings, and which chats with its users. */
import { chatDocument } from '../../chat/service/chat-document.js';
import { RESEARCH_OFFERS } from '../../chat/stages/suggest-research.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/agents.js';
import { type AssistantSettings, changedSettings, DEFAULT_SETTINGS } from './assistant-settings.js';

/** Where the document of an assistant keeps its settings as they were sent; the parameters of its node are made from them. */
const SETTINGS = 'assistant';

/** The document of an assistant with these settings. */
export function documentOf(settings: AssistantSettings, name: string): JsonObject {
  const prologue = textOf(settings.prompt_config.prologue);
  return { ...chatDocument(paramsOf(settings, name), { prologue }), [SETTINGS]: settings as unknown as JsonObject };
}

/** The settings of an assistant; what its document does not say has its default. */
export function settingsOf({ dsl }: Pick<AgentRecord, 'dsl'>): AssistantSettings {
  const { dataset_ids: _, ...defaults } = DEFAULT_SETTINGS;
  const stored = Object.hasOwn(dsl, SETTINGS) ? dsl[SETTINGS] : undefined;
  return changedSettings(defaults, isJsonObject(stored) ? stored : {}, 'replace');
}

/** Places of RAGFlow's prompts in which passages are put; here the prompt has a section of its own for them. */
const PLACE = /\{knowledge\}/g;

/** What the node that answers is set to. Clients may send any number; the node takes those within its bounds. */
function paramsOf(settings: AssistantSettings, name: string): JsonObject {
  const { dataset_ids, llm_id, llm_setting, prompt_config, top_n, top_k } = settings;
  const isDefault = prompt_config.system === DEFAULT_SETTINGS.prompt_config.system;
  const instructions = isDefault ? '' : textOf(prompt_config.system).replace(PLACE, '').trim();
  const { cross_languages: given, research } = prompt_config;
  const offer = RESEARCH_OFFERS.find((one) => one === research);
  const languages = Array.isArray(given) ? given.filter((one: Json) => typeof one === 'string').slice(0, 5) : [];
  return {
    ...samplingOf(llm_setting),
    name,
    ...(dataset_ids !== undefined && { dataset_ids }),
    llm_id,
    instructions,
    ...(settings.rerank_id !== '' && { rerank_id: settings.rerank_id }),
    ...(offer !== undefined && { research: offer }),
    ...(languages.length > 0 && { cross_languages: languages }),
    // Without datasets nothing can be found, and the model answers by itself.
    empty_response: dataset_ids?.length === 0 ? '' : textOf(prompt_config.empty_response),
    top_n: within(top_n, 1, 100),
    top_k: within(top_k, 1, 2_048),
    similarity_threshold: within(settings.similarity_threshold, 0, 1),
    vector_similarity_weight: within(settings.vector_similarity_weight, 0, 1),
  };
}

/** Shares that settings of models may have, 0 to 1. */
const SHARES = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'] as const;

/** What of the settings of a model a chat sends, within its bounds. */
export function samplingOf(setting: JsonObject): JsonObject {
  const given = (name: string): number | undefined => {
    const value = Object.hasOwn(setting, name) ? setting[name] : undefined;
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
  const shares = SHARES.flatMap((name): [string, number][] => {
    const value = given(name);
    return value === undefined ? [] : [[name, within(value, 0, 1)]];
  });
  const tokens = given('max_tokens');
  return {
    ...Object.fromEntries(shares),
    ...(tokens !== undefined && { max_tokens: within(Math.trunc(tokens), 0, Number.MAX_SAFE_INTEGER) }),
  };
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
