/** How a chat answers: what its node is set to, and what one turn changes of it. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { PromptMode } from '../stages/assemble-prompt.js';
import { RESEARCH_OFFERS, type ResearchOffer } from '../stages/suggest-research.js';

/** The variable of a run in which a turn says what it changes. */
export const TURN_VARIABLE = 'sys.chat';

/** Most datasets and tools that one chat names. */
const MAX_NAMES = 100;
const MAX_NAME = 200;
/** Longest time that a client may give a chat, in milliseconds. */
const MAX_DEADLINE_MS = 3_600_000;

/** Settings of a chat, complete. */
export interface ChatSettings {
  /** Datasets that are searched; undefined: all. */
  readonly datasetIds: readonly string[] | undefined;
  /** Names of the tools that may be called; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** Forces how the answer is grounded; undefined: by what the user wants. */
  readonly mode: PromptMode | undefined;
  /** Passages that the answer is made from. */
  readonly topN: number;
  /** Candidates of a search. */
  readonly topK: number;
  /** 0 to 1. */
  readonly similarityThreshold: number;
  /** Share of the vectors of the datasets' model, 0 to 1; undefined: that of the index. */
  readonly vectorShare: number | undefined;
  /** Model that puts hits in order; undefined: none. */
  readonly rerankId: string | undefined;
  /** Languages that questions are translated into as well. */
  readonly crossLanguages: readonly string[];
  /** Conditions on the metadata of documents, as RAGFlow writes them; undefined: none. */
  readonly filter?: JsonObject | undefined;
  /** Said when nothing is found; empty: the model answers without evidence; undefined: a sentence in the user's language. */
  readonly emptyResponse: string | undefined;
  /** Language of the answer; undefined: that of the question. */
  readonly language: string | undefined;
  /** What the assistant calls itself; undefined: the name of the product. */
  readonly name: string | undefined;
  /** What the operator wants of every answer. */
  readonly instructions: string | undefined;
  /** Where the user is, such as `Europe/Oslo`; undefined: by the language. */
  readonly timezone: string | undefined;
  /** Undefined: by what is asked for. */
  readonly temperature: number | undefined;
  /** When the chat speaks of researches. @default 'suggest' */
  readonly research?: ResearchOffer | undefined;
  /** Nothing is taken from caches. */
  readonly skipsCache: boolean;
  /** Milliseconds for the whole chat; undefined: no limit of its own. */
  readonly deadlineMs: number | undefined;
}

const names = z.array(z.string().trim().min(1).max(MAX_NAME)).max(MAX_NAMES);

/** How the answer may be grounded: in documents, in tools, in both, in neither. */
export const modeSchema = z.preprocess(
  (given) => (typeof given === 'string' ? given.toUpperCase() : given),
  z.enum(['KB', 'MCP', 'HYBRID', 'SYSTEM']),
);

/** `options` of a chat request. */
export const turnOptionsSchema = z.strictObject({
  mode: modeSchema.nullish().describe('KB: documents alone; MCP: tools alone; HYBRID: both; SYSTEM: neither.'),
  top_k: z.int().min(1).max(100).nullish().describe('Passages that the answer is made from.'),
  language: z.string().trim().min(1).max(40).nullish().describe('Language of the answer.'),
  research: z
    .enum(RESEARCH_OFFERS)
    .nullish()
    .describe('off: researches are not spoken of; suggest: they are offered; auto: the client is told to start them.'),
  skip_cache: z.boolean().nullish().describe('Nothing is taken from caches.'),
  deadline_ms: z.int().min(1).max(MAX_DEADLINE_MS).nullish().describe('Milliseconds after which the chat fails.'),
});

/** What one turn changes of a chat, as requests and the variable `sys.chat` have it. */
export const turnSettingsSchema = z.strictObject({
  dataset_ids: names.nullish().describe('Datasets that are searched, in place of those of the chat.'),
  tools: names.nullish().describe('Tools that may be called, in place of those of the chat.'),
  llm_id: z.string().trim().max(MAX_NAME).nullish().describe('Model that answers, in place of that of the chat.'),
  options: turnOptionsSchema.nullish(),
});

/** The same with what routes set for clients that speak otherwise. */
const turnVariableSchema = turnSettingsSchema.extend({
  /** How the model answers, in place of the settings of the chat. */
  sampling: z
    .strictObject({
      temperature: z.number().min(0).max(1),
      top_p: z.number().min(0).max(1),
      presence_penalty: z.number().min(0).max(1),
      frequency_penalty: z.number().min(0).max(1),
      max_tokens: z.number().int().min(0),
    })
    .partial()
    .nullish(),
  /** Only passages of documents whose metadata fit. */
  filter: z.custom<JsonObject>(isJsonObject, 'expected an object').nullish(),
  /** What counts as the past, in place of what the session remembers. */
  history: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() })).nullish(),
});

/** What one turn changes. */
export type TurnSettings = z.output<typeof turnVariableSchema>;

/** What a turn says in its variables; nothing when it says nothing. @throws ZodError */
export function readTurnSettings(variables: Readonly<Record<string, Json>>): TurnSettings {
  const given = Object.hasOwn(variables, TURN_VARIABLE) ? variables[TURN_VARIABLE] : undefined;
  return turnVariableSchema.parse(given ?? {});
}

/** The settings of one turn. */
export function withTurn(settings: ChatSettings, { dataset_ids, tools, filter, options }: TurnSettings): ChatSettings {
  const { mode, top_k, language, research, skip_cache, deadline_ms } = options ?? {};
  return {
    ...settings,
    datasetIds: dataset_ids ?? settings.datasetIds,
    tools: tools ?? settings.tools,
    filter: filter ?? settings.filter,
    mode: mode ?? settings.mode,
    topN: top_k ?? settings.topN,
    language: language ?? settings.language,
    research: research ?? settings.research,
    skipsCache: skip_cache ?? settings.skipsCache,
    deadlineMs: deadline_ms ?? settings.deadlineMs,
  };
}
