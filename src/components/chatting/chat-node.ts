/** A chat as a node: its stages over the services of the run, and its events as events of the node. */
import { concat, concatMap, defer, EMPTY, from, Observable, of, throwError } from 'rxjs';
import { z } from 'zod';
import { type CallContext, contextOf } from '../../agents/call-context.js';
import { CHAT_NOTICE, CHAT_OUTPUT } from '../../chat/chat-frames.js';
import type { Memory } from '../../chat/memory/load-memory.js';
import type { ChatEvent, Evidence } from '../../chat/pipeline/chat-events.js';
import { runChat } from '../../chat/pipeline/run-chat.js';
import { type ChatSettings, readTurnSettings, type TurnSettings, withTurn } from '../../chat/service/chat-settings.js';
import { createChatStages, type ServedStages } from '../../chat/service/chat-stages.js';
import type { PastMessage } from '../../chat/stages/stage-result.js';
import { ownObject } from '../../dsl/json-copy.js';
import { renderValue } from '../../dsl/render-value.js';
import { foundValue } from '../../dsl/resolve.js';
import { EngineError, type ErrorCode } from '../../errors.js';
import type { Activation } from '../../graph/node.js';
import { delta, type NodeEvent, notice, settled } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { inTurn } from '../../operators/in-turn.js';
import { listIn } from '../chat/retrieval.js';
import { createTextReader } from '../values/text-reader.js';
import { openModels } from './chat-models.js';
import type { ChatParams } from './chat-params.js';
import { openProgress } from './chat-progress.js';
import { type ChatTools, openTools, withServers } from './chat-tools.js';
import type { ChatNode } from './node-parts.js';

/** Defaults of a chat. */
const TOP_N = 6;
const TOP_K = 1_024;
const SIMILARITY_THRESHOLD = 0.2;

/**
 * Answers the question of a turn; see the component Chat.
 *
 * ```text
 * chat     s--1--2--t--t--f|       (session, stages, tokens, final)
 * node     ---n--n--d--d--(me)|    (notices, deltas, message-ended, settled)
 * ```
 *
 * Question and answer are stored before the node settles, by ids of the run, so that one that is repeated doubles nothing. One that begins anew in another
 * process takes what tools gave before, and has what is left of its deadline.
 */
export function answerChat(given: ChatParams, activation: Activation): Observable<NodeEvent> {
  return new Observable((subscriber) => {
    const context = contextOf(activation);
    const turn = readTurn(given, activation);
    const params = { ...given, ...turn.sampling };
    const settings = withTurn(settingsOf(params, context), turn);
    const message = questionOf(params, context);
    const llmId = turn.llm_id || params.llm_id;
    const { deadlineMs } = settings;
    const report = (event: NodeEvent): void => subscriber.next(event);
    const progress = openProgress(activation.nodeState, context, deadlineMs !== undefined, report);
    const node: ChatNode = { context, settings, params, llmId, report, progress };
    const asked = {
      message,
      sessionId: context.services.session?.id ?? '',
      runId: context.run,
      traceId: '',
      deadlineMs,
      spentMs: progress.spentMs,
    };
    const thread = threadOf(context);
    const events$ = defer(() =>
      withServers(context, params.mcp ?? undefined, (connections) =>
        runChat(asked, stagesOf(node, openTools(node, connections), thread, turn.history)),
      ),
    );
    return events$
      .pipe(
        // The first event of a run is on its way; that of another may still have to come.
        inTurn(context.services.loopTurns),
        concatMap((event) => nodeEvents(event, message, context, thread)),
      )
      .subscribe(subscriber);
  });
}

/** `history` counts in place of what is stored, where a turn has one. */
function stagesOf(
  node: ChatNode,
  tools: ChatTools,
  thread: Thread | undefined,
  history: TurnSettings['history'],
): ServedStages {
  const { context, settings } = node;
  const { services } = context;
  const models = openModels(node);
  return createChatStages({
    settings,
    // There is nothing to be read of a session that begins.
    thread: history || services.session?.isNew ? undefined : thread,
    past: history ? { summary: undefined, history: history.slice(-MAX_PAST) } : pastOf(context),
    knowledge: services.knowledge,
    tools: tools.known,
    others$: tools.others$,
    callTool: tools.call,
    model: models.understanding,
    answer: models.answer,
    modelName: models.name,
    maxPromptTokens: models.maxPromptTokens,
    caches: services.caches,
    now: context.now,
  });
}

/** What the turn changes. Only of this turn: variables stay for the next one. @throws EngineError QUESTION_INVALID */
function readTurn({ name }: Pick<ChatParams, 'name'>, { input, node }: Activation): TurnSettings {
  try {
    return readTurnSettings(ownObject(input, 'variables') ?? {});
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll(/\s*\n\s*/g, ' ') : String(cause);
    const message = `Chat ${JSON.stringify(name ?? node)}: the variable "sys.chat" does not fit: ${why}`;
    throw new EngineError('QUESTION_INVALID', message, { node, cause });
  }
}

function settingsOf(params: ChatParams, context: CallContext): ChatSettings {
  const { vector_similarity_weight, temperature, temperatureEnabled, instructions, deadline_ms } = params;
  const reader = createTextReader(context);
  return {
    datasetIds: params.dataset_ids ?? undefined,
    tools: params.tools ?? undefined,
    mode: params.mode ?? undefined,
    topN: params.top_n ?? TOP_N,
    topK: params.top_k ?? TOP_K,
    similarityThreshold: params.similarity_threshold ?? SIMILARITY_THRESHOLD,
    vectorShare: vector_similarity_weight ?? undefined,
    rerankId: params.rerank_id?.trim() || undefined,
    crossLanguages: params.cross_languages ?? [],
    emptyResponse: params.empty_response ?? undefined,
    language: params.language?.trim() || undefined,
    name: params.name?.trim() || undefined,
    instructions: instructions ? reader.read(instructions) : undefined,
    timezone: params.timezone?.trim() || undefined,
    temperature: temperatureEnabled === false ? undefined : temperature,
    research: params.research ?? undefined,
    skipsCache: false,
    deadlineMs: deadline_ms ?? undefined,
  };
}

/** The question as text. @throws EngineError QUESTION_INVALID for one without any. */
function questionOf({ query }: ChatParams, context: CallContext): string {
  const { source, node } = context;
  const text = query ? createTextReader(context).read(query) : renderValue(foundValue(source.variable('sys.query')));
  if (text.trim() !== '') return text;
  throw new EngineError('QUESTION_INVALID', `Node "${node}" was asked nothing; send a question that has text.`, {
    node,
  });
}

/** The session as its messages are stored; undefined for a run without one. */
interface Thread {
  readonly store: NonNullable<CallContext['services']['chats']>['store'];
  readonly tenant: string;
  readonly session: string;
  readonly except: readonly [question: string, answer: string];
  readonly answered: () => void;
}

function threadOf({ run, services: { chats, session } }: CallContext): Thread | undefined {
  if (chats === undefined || session === undefined) return undefined;
  const { store, tenant } = chats;
  const except = [`${run}:question`, `${run}:answer`] as const;
  return { store, tenant, session: session.id, except, answered: () => chats.answered?.(session.id) };
}

/** What was said before by the conversation of the run, for sessions whose messages are elsewhere. */
function pastOf({ source }: CallContext): Memory | undefined {
  const history = listIn(source, 'history').slice(0, -1).slice(-MAX_PAST).flatMap(pastMessage);
  return history.length === 0 ? undefined : { summary: undefined, history };
}

const MAX_PAST = 20;

function pastMessage(entry: Json): PastMessage[] {
  if (!Array.isArray(entry)) return [];
  const [role, said] = entry as readonly Json[];
  const text = renderValue(isJsonObject(said) ? (said.content ?? null) : (said ?? null));
  return text !== '' && (role === 'user' || role === 'assistant') ? [{ role, content: text }] : [];
}

function nodeEvents(
  event: ChatEvent,
  message: string,
  context: CallContext,
  thread: Thread | undefined,
): Observable<NodeEvent> {
  switch (event.type) {
    case 'session':
      return EMPTY;
    case 'token':
      return of(delta('content', event.content));
    case 'thinking':
      return of(delta('thinking', event.content));
    case 'error':
      return throwError(() => new EngineError(event.code as ErrorCode, event.message, { node: context.node }));
    case 'final':
      return concat(stored(thread, message, event, context.now()), settle(event));
    default:
      return of(notice(CHAT_NOTICE, event as unknown as JsonObject));
  }
}

type Final = Extract<ChatEvent, { type: 'final' }>;

/** Stores question and answer; what a run that began anew has stored before is replaced. */
function stored(thread: Thread | undefined, message: string, { response }: Final, now: number): Observable<never> {
  if (thread === undefined) return EMPTY;
  const { store, tenant, session, except, answered } = thread;
  const [question, answer] = except;
  return fromAbortable(async () => {
    const said = [
      { id: question, role: 'user', content: message, createdAt: now },
      { id: answer, role: 'assistant', content: response, createdAt: now },
    ] as const;
    if ((await store.append(tenant, session, said)) < said.length) {
      await store.remove(tenant, session, except);
      await store.append(tenant, session, said);
    }
    answered();
  }).pipe(concatMap(() => EMPTY));
}

function settle({ response, evidence, citations, type: _, trace_id: __, ...about }: Final): Observable<NodeEvent> {
  const outputs = { content: response, evidence, citations, [CHAT_OUTPUT]: about } as unknown as JsonObject;
  const reference = { chunks: Object.fromEntries(evidence.map(chunkOf)), doc_aggs: documentsOf(evidence) };
  return from([notice('message-ended', evidence.length === 0 ? {} : { reference }), settled(outputs)]);
}

/** A source as RAGFlow's clients read it, by the number that it is cited by. */
function chunkOf(item: Evidence): [string, JsonObject] {
  const { n, id, text, document_id, dataset_id, source, page, pages = [], score, scores, url } = item;
  return [
    String(n),
    {
      id,
      content: text,
      document_id: document_id ?? id,
      document_name: source,
      dataset_id: dataset_id ?? null,
      image_id: null,
      positions: (pages.length === 0 && page !== undefined ? [page] : pages).map((on) => [on, 0, 0, 0, 0]),
      url: url ?? null,
      similarity: score ?? 1,
      vector_similarity: scores?.vector ?? scores?.ngram ?? null,
      term_similarity: scores?.bm25 ?? null,
      row_id: null,
      doc_type: null,
      document_metadata: null,
    },
  ];
}

function documentsOf(evidence: readonly Evidence[]): JsonObject {
  const documents = new Map<string, { doc_name: string; doc_id: string; count: number; url: string | null }>();
  for (const { id, document_id, source, url } of evidence) {
    const known = documents.get(source);
    if (known !== undefined) known.count += 1;
    else documents.set(source, { doc_name: source, doc_id: document_id ?? id, count: 1, url: url ?? null });
  }
  return Object.fromEntries(documents);
}
