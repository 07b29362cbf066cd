/** The stages of a chat over what a tenant has: its memory, its datasets, its tools, its models. */
import { catchError, concatMap, defer, map, type Observable, of, tap } from 'rxjs';
import type { KnowledgeHits } from '../../knowledge/base/retrieval.js';
import { requireObject } from '../../operators/invalid-option.js';
import type { Intent } from '../intents/intent.js';
import { languageOf } from '../intents/utterance.js';
import { loadMemory, type Memory, NO_MEMORY } from '../memory/load-memory.js';
import type { ChatStages, ChatTurn } from '../pipeline/chat-ports.js';
import { answerDirectly } from '../stages/answer-directly.js';
import { type AssembledPrompt, assemblePrompt } from '../stages/assemble-prompt.js';
import { guideAmbiguity } from '../stages/guide-ambiguity.js';
import { type ParseIntentOptions, parseIntent, parseIntentByRules } from '../stages/parse-intent.js';
import { type RewriteOptions, type Rewritten, rewriteQuery, rewriteQueryByRules } from '../stages/rewrite-query.js';
import type { DirectAnswer, StageCache, StageResult } from '../stages/stage-result.js';
import { suggestResearch } from '../stages/suggest-research.js';
import { answerParts } from './answer-parts.js';
import type { ChatSettings } from './chat-settings.js';
import { type EvidenceInput, findEvidence, searchedBy, wantsDocuments, wantsTools } from './find-evidence.js';
import { searchOnce } from './knowledge-channels.js';
import type { ChatStagesOptions } from './stages-options.js';

/** Stages over the services of a tenant. */
export type ServedStages = ChatStages<Memory, Rewritten, readonly Intent[], KnowledgeHits | undefined, AssembledPrompt>;

/** UTF-16 units of a question that stages 2 and 3 read; the answer is made from all of it. */
const MAX_UNDERSTOOD = 8_000;

const NOTHING_FOUND = {
  zh: '抱歉，没有找到与您的问题相关的内容。请换一种说法，或补充更多细节。',
  en: 'I found nothing about this in the documents that I can search. Try other words, or tell me more.',
} as const;

const NOT_SEARCHED = {
  zh: '抱歉，暂时无法检索文档，请稍后再试。',
  en: 'The documents cannot be searched at the moment. Please ask again.',
} as const;

/** Makes the stages of one turn. */
export function createChatStages(options: ChatStagesOptions): ServedStages {
  requireObject('createChatStages', 'options', options);
  requireObject('createChatStages', 'settings', options.settings);
  const { settings, tools, model, now } = options;
  const { mode } = settings;
  const source = searchedBy(options);
  /** Whether the datasets gave all that they hold; of one turn, as all of this. */
  let isSearched = false;
  const understood = (turn: ChatTurn): string => turn.message.slice(0, MAX_UNDERSTOOD);
  const rewriting = (turn: ChatTurn, { history, summary }: Memory): RewriteOptions => ({
    message: understood(turn),
    history,
    summary,
    model,
    cache: cacheOf<Rewritten>(options, 'rewrite'),
  });
  const parsing = (turn: ChatTurn, { history }: Memory) => ({
    message: understood(turn),
    history,
    tools: mode === 'KB' || mode === 'SYSTEM' ? [] : tools,
    model,
    cache: cacheOf<readonly Intent[]>(options, 'intent'),
    now: now(),
    ...(settings.timezone !== undefined && { timezone: settings.timezone }),
  });
  return {
    loadMemory: () => memoryOf(options),
    noMemory: options.past ?? NO_MEMORY,
    rewrite: (turn, memory) => rewriteQuery(rewriting(turn, memory)),
    rewriteByRules: (turn, memory) => rewriteQueryByRules(rewriting(turn, memory)),
    parseIntents: (turn, memory) =>
      mode === 'KB' || mode === 'SYSTEM' ? of(FORCED) : intentsOf(parsing(turn, memory), options.others$),
    intentsByRules: (turn, memory) => parseIntentByRules(parsing(turn, memory)),
    guide: (intents, turn) => guideAmbiguity(intents, understood(turn)),
    answerDirectly: (intents, turn) =>
      answerDirectly(intents, turn.message, settings.name === undefined ? {} : { name: settings.name }),
    suggestResearch: (intents, turn) =>
      wantsDocuments(intents, options)
        ? suggestResearch({
            question: understood(turn),
            intents,
            offer: settings.research ?? 'suggest',
            datasetIds: settings.datasetIds,
          })
        : undefined,
    searchEarly: (turn) => (source === undefined ? of(undefined) : searchOnce(source, turn.message)),
    retrieve: (input, early$) =>
      findEvidence(input, early$, options).pipe(
        tap(({ status }) => {
          isSearched = status !== 'degraded';
        }),
      ),
    emptyAnswer: (input) => {
      if (!wantsDocuments(input.intents, options) || wantsTools(input.intents)) return undefined;
      return isSearched ? emptyAnswer(input, settings) : notSearched(input);
    },
    assemble: (input, evidence) => {
      const { turn, memory, intents } = input;
      const isFree = evidence.length === 0 && !wantsTools(intents);
      return assemblePrompt({
        message: turn.message,
        intents,
        evidence,
        history: memory.history,
        summary: memory.summary,
        instructions: settings.instructions,
        language: settings.language,
        temperature: settings.temperature,
        ...(isFree && { mode: 'SYSTEM' }),
        ...(options.maxPromptTokens !== undefined && { maxTokens: options.maxPromptTokens }),
      });
    },
    answer: ({ messages, temperature }) => answerParts(options.answer(messages, temperature), options.modelName),
  };
}

/** What stage 3 gives where the mode says what counts. */
const FORCED: StageResult<readonly Intent[]> = {
  value: [{ kind: 'KB', confidence: 1 }],
  detail: { intents: [{ kind: 'KB', confidence: 1 }], source: 'rule' },
};

/** What rules know is given at once; only for the rest it is asked what other tools there are. */
function intentsOf(
  parsing: ParseIntentOptions,
  others$: ChatStagesOptions['others$'],
): Observable<StageResult<readonly Intent[]>> {
  if (others$ === undefined || parsing.model === undefined) return parseIntent(parsing);
  return defer(() => {
    const isUnknown = parseIntentByRules(parsing).value.every(({ kind }) => kind === 'KB');
    if (!isUnknown) return parseIntent(parsing);
    return others$.pipe(
      catchError(() => of([])),
      concatMap((others) => parseIntent({ ...parsing, others })),
    );
  });
}

/** What is said when the datasets could not be searched: that is not the same as to have found nothing. */
function notSearched({ turn }: EvidenceInput): DirectAnswer {
  return { text: NOT_SEARCHED[languageOf(turn.message)], reason: 'the documents could not be searched in time' };
}

/** What is said when nothing is found; nothing where the model may answer by itself. */
function emptyAnswer({ turn }: EvidenceInput, { emptyResponse }: ChatSettings): DirectAnswer | undefined {
  if (emptyResponse === '') return undefined;
  const text = emptyResponse ?? NOTHING_FOUND[languageOf(turn.message)];
  return { text, reason: 'no document holds anything about it, and no tool was asked' };
}

function memoryOf({ thread, past }: ChatStagesOptions): Observable<StageResult<Memory>> {
  if (thread === undefined) return of(given(past ?? NO_MEMORY));
  return loadMemory(thread).pipe(
    map((loaded) => {
      const { history, summary } = loaded.value;
      return past !== undefined && history.length === 0 && summary === undefined ? given(past) : loaded;
    }),
  );
}

function given(memory: Memory): StageResult<Memory> {
  const turns = memory.history.filter(({ role }) => role === 'user').length;
  return { value: memory, detail: { history_count: turns, summary: memory.summary !== undefined, tokens: 0 } };
}

/** Typed by who puts in and takes out: a name has values of one kind. */
function cacheOf<T>({ caches, settings }: ChatStagesOptions, name: string): StageCache<T> | undefined {
  return settings.skipsCache ? undefined : (caches?.named(name) as StageCache<T> | undefined);
}
