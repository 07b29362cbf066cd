/** What the stages of a chat do, as the pipeline needs it: each may be another one, in tests and by settings. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { DecisionResult, DirectAnswer, StageResult } from '../stages/stage-result.js';
import type { ResearchSuggestion } from '../stages/suggest-research.js';
import type { Evidence } from './chat-events.js';

/** One question of a chat. */
export interface ChatTurn {
  readonly message: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly traceId: string;
  readonly chatId?: string | undefined;
  /** Milliseconds after which the chat ends with RUN_TIMEOUT. @default none */
  readonly deadlineMs?: number | undefined;
  /** Milliseconds of the deadline that a process before has used, which was lost. @default 0 */
  readonly spentMs?: number | undefined;
}

/** What an answer is made of. `done` comes last. */
export type AnswerPart =
  | { readonly type: 'thinking' | 'token'; readonly content: string }
  | { readonly type: 'retract'; readonly reason: string }
  | { readonly type: 'done'; readonly model: string; readonly usage: JsonObject; readonly detail: JsonObject };

/** What stage 6 is given. */
export interface RetrievalInput<M, R, I> {
  readonly turn: ChatTurn;
  readonly memory: M;
  readonly rewrites: R;
  readonly intents: I;
}

/**
 * The work of the stages. Each is cold; unsubscribing ends it, with its connections. `M`, `R`, `I`, `F` and `P` are what memory, rewrite, intents, the
 * early search and the prompt are; only the stages look into them, but for the mode of the prompt.
 */
export interface ChatStages<M, R, I, F, P extends { readonly mode: string }> {
  /** Stage 1. */
  loadMemory(turn: ChatTurn): Observable<StageResult<M>>;
  /** Of a conversation whose memory cannot be loaded. */
  readonly noMemory: M;
  /** Stage 2. */
  rewrite(turn: ChatTurn, memory: M): Observable<StageResult<R>>;
  /** When stage 2 fails: the question as it is, expanded by rules. */
  rewriteByRules(turn: ChatTurn, memory: M): StageResult<R>;
  /** Stage 3. What rules know is given at once, before anything is asked of others. */
  parseIntents(turn: ChatTurn, memory: M): Observable<StageResult<I>>;
  /** When stage 3 fails. */
  intentsByRules(turn: ChatTurn, memory: M): StageResult<I>;
  /** Stage 4: asks back when it is not clear what is meant. */
  guide(intents: I, turn: ChatTurn): DecisionResult;
  /** Stage 5: greetings, thanks, questions about the system itself. */
  answerDirectly(intents: I, turn: ChatTurn): DecisionResult;
  /** Told behind stages 3 to 5 where they go on: a research that may answer better. @default none */
  suggestResearch?(intents: I, turn: ChatTurn): ResearchSuggestion | undefined;
  /** The search for the question as it is, which begins with stages 2 and 3. Its errors are those of stage 6. */
  searchEarly(turn: ChatTurn): Observable<F>;
  /**
   * Stage 6: what all channels found within its time, numbered from 1. `early$` is the search that has begun; what is not subscribed to at once is
   * ended. A channel that fails or is late is told in the detail, and is not an error.
   */
  retrieve(input: RetrievalInput<M, R, I>, early$: Observable<F>): Observable<StageResult<readonly Evidence[]>>;
  /** What is said when nothing is found; undefined when the answer goes on without evidence. */
  emptyAnswer(input: RetrievalInput<M, R, I>): DirectAnswer | undefined;
  /** Stage 7. */
  assemble(input: RetrievalInput<M, R, I>, evidence: readonly Evidence[]): StageResult<P>;
  /** Stage 8. */
  answer(prompt: P, turn: ChatTurn): Observable<AnswerPart>;
}
