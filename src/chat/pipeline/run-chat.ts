/** The pipeline of a chat: eight stages with short circuits that end what they make needless. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  share,
  take,
  takeUntil,
  throwError,
  throwIfEmpty,
  timeout,
  timer,
} from 'rxjs';
import { EngineError, shownMessage, toEngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { requireMethods, requireObject, requireWhole } from '../../operators/invalid-option.js';
import type { DirectAnswer, StageResult } from '../stages/stage-result.js';
import type { ChatEvent, Evidence } from './chat-events.js';
import type { AnswerPart, ChatStages, ChatTurn, RetrievalInput } from './chat-ports.js';
import { CitationCheck } from './check-citations.js';
import { StageLog } from './stage-log.js';
import { STAGES, type StageNumber } from './stage-table.js';

/** Options of a chat. */
export interface RunChatOptions {
  /** Milliseconds of which only differences matter. @default a clock that never jumps */
  readonly now?: () => number;
}

/**
 * Answers one question; cold, one subscription is one chat. Unsubscribing ends everything that is at work for it.
 *
 * Stage 1 comes first, then 2 and 3 side by side with the search for the question as it is. What rules say of stage 3 takes effect before stage 2 and
 * the search begin. A short circuit ends what is still at work at the moment of the decision:
 *
 * ```text
 * 1 memory      --m|
 * 2 rewrite       -----!        ended by A
 * 3 intents       ---i|
 * early search    -----!        ended by A
 * told          s-12345A8f|
 * ```
 *
 * A stage that fails or takes longer than its limit counts with its fallback (`degraded`). Stage 6 takes the early search over, or it is ended. Failures
 * of stages 7 and 8 are one `error` event. Every stage has one `stage_end`; `final` or `error` comes once and last, and the stream itself never fails.
 *
 * @throws EngineError OPTION_INVALID for a deadline that is no whole number of at least 1.
 */
export function runChat<M, R, I, F, P extends { readonly mode: string }>(
  turn: ChatTurn,
  stages: ChatStages<M, R, I, F, P>,
  { now = () => Math.round(performance.now()) }: RunChatOptions = {},
): Observable<ChatEvent> {
  requireObject('runChat', 'turn', turn);
  requireMethods('runChat', 'stages', stages, STAGE_METHODS, 'an object with the stages of a chat');
  const { deadlineMs, spentMs = 0 } = turn;
  if (deadlineMs !== undefined) requireWhole('chat', 'deadlineMs', deadlineMs, 1);
  return defer(() => {
    const chat = new Chat(turn, stages, now);
    const told$ = chat.told();
    if (deadlineMs === undefined) return told$;
    const inTime$ = told$.pipe(takeUntil(timer(Math.max(0, deadlineMs - spentMs))));
    return concat(
      inTime$,
      defer(() => (chat.isOver ? EMPTY : from(chat.failed(deadlineError(deadlineMs))))),
    );
  });
}

const STAGE_METHODS = ['loadMemory', 'rewrite', 'parseIntents', 'searchEarly', 'retrieve', 'assemble', 'answer'];

/** One chat. */
class Chat<M, R, I, F, P extends { readonly mode: string }> {
  readonly #turn: ChatTurn;
  readonly #stages: ChatStages<M, R, I, F, P>;
  readonly #log: StageLog;
  #isOver = false;
  #evidence: readonly Evidence[] = [];
  #answer = new CitationCheck([]);
  #firstTokenMs: number | undefined;
  #mode = 'SYSTEM';
  #model: string | null = null;
  #usage: JsonObject = {};

  constructor(turn: ChatTurn, stages: ChatStages<M, R, I, F, P>, now: () => number) {
    this.#turn = turn;
    this.#stages = stages;
    this.#log = new StageLog(now);
  }

  /** Whether the last event has been told. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** All events of the chat. */
  told(): Observable<ChatEvent> {
    const { sessionId, runId, chatId, traceId } = this.#turn;
    const session: ChatEvent = {
      type: 'session',
      session_id: sessionId,
      run_id: runId,
      ...(chatId !== undefined && { chat_id: chatId }),
      trace_id: traceId,
    };
    let memory = this.#stages.noMemory;
    const memory$ = this.#stage(1, {
      work: () => this.#stages.loadMemory(this.#turn),
      fallback: () => ({ value: this.#stages.noMemory, detail: {} }),
      keep: (loaded) => {
        memory = loaded;
      },
    });
    return concat(
      of(session),
      memory$,
      defer(() => this.#understand(memory)),
    ).pipe(catchError((error) => from(this.failed(error))));
  }

  /** The events of a chat that cannot go on. */
  failed(error: unknown): ChatEvent[] {
    this.#isOver = true;
    const failure = toEngineError(error, 'INTERNAL');
    return [...this.#log.fail(), { type: 'error', code: failure.code, message: shownMessage(failure) }];
  }

  /** Stages 2 to 5, the early search beside them, and what follows. */
  #understand(memory: M): Observable<ChatEvent> {
    const turn = this.#turn;
    const stages = this.#stages;
    /** Emits when a short circuit makes needless what is at work, or stage 6 has the early search. */
    const cut$ = new ReplaySubject<void>(1);
    const taken$ = new ReplaySubject<void>(1);
    const early$ = defer(() => stages.searchEarly(turn)).pipe(
      take(1),
      share({ connector: () => new ReplaySubject<F>(1), resetOnComplete: false, resetOnError: false }),
    );
    let understood: { readonly intents: I } | undefined;
    let direct: DirectAnswer | undefined;
    let rewrites: R | undefined;
    const intents$ = this.#stage(3, {
      work: () => stages.parseIntents(turn, memory),
      fallback: () => stages.intentsByRules(turn, memory),
      keep: (intents) => {
        understood = { intents };
      },
    });
    const decided$ = defer(() => {
      if (understood === undefined) return EMPTY;
      const { events, answer } = this.#decide(understood.intents, () => cut$.next());
      direct = answer;
      const suggested = answer === undefined ? stages.suggestResearch?.(understood.intents, turn) : undefined;
      return from<ChatEvent[]>(
        suggested === undefined ? [...events] : [...events, { type: 'research_suggested', ...suggested }],
      );
    });
    const rewrite$ = this.#stage(2, {
      work: () => stages.rewrite(turn, memory),
      fallback: () => stages.rewriteByRules(turn, memory),
      keep: (found) => {
        rewrites = found;
      },
    });
    const rest$ = defer(() => {
      if (direct !== undefined) return this.#say(direct);
      const input = { turn, memory, rewrites: rewrites as R, intents: understood?.intents as I };
      return this.#findAndAnswer(input, early$, () => taken$.next());
    });
    return merge(
      // Stage 3 is subscribed to first: what rules decide comes before anything else is begun.
      concat(merge(concat(intents$, decided$), rewrite$.pipe(takeUntil(cut$))), rest$),
      early$.pipe(
        ignoreElements(),
        // Its failure is that of a channel of stage 6.
        catchError(() => EMPTY),
        takeUntil(merge(cut$, taken$)),
      ),
    );
  }

  /** Stages 4 and 5: an answer without the others, or none. `cut` is called before anything is told of a short circuit. */
  #decide(intents: I, cut: () => void): { readonly events: readonly ChatEvent[]; readonly answer?: DirectAnswer } {
    const events: ChatEvent[] = [];
    const decisions = [
      { stage: 4, kind: 'A', decide: () => this.#stages.guide(intents, this.#turn) },
      { stage: 5, kind: 'B', decide: () => this.#stages.answerDirectly(intents, this.#turn) },
    ] as const;
    for (const { stage, kind, decide } of decisions) {
      events.push(this.#log.begin(stage));
      const { answer, detail } = decide();
      events.push(this.#log.end(stage, 'ok', detail));
      if (answer === undefined) continue;
      cut();
      events.push(...this.#log.cutShort(kind, answer.reason));
      return { events, answer };
    }
    return { events };
  }

  /** Stages 6 to 8. */
  #findAndAnswer(input: RetrievalInput<M, R, I>, early$: Observable<F>, takeOver: () => void): Observable<ChatEvent> {
    const search$ = this.#stage(6, {
      work: () => this.#stages.retrieve(input, early$),
      fallback: (): StageResult<readonly Evidence[]> => ({ value: [], detail: {} }),
      keep: (evidence) => {
        this.#evidence = evidence;
      },
    });
    const taken$ = defer(() => {
      takeOver();
      return EMPTY;
    });
    const answer$ = defer(() => {
      if (this.#evidence.length > 0) {
        return concat(of<ChatEvent>({ type: 'evidence', items: this.#evidence }), this.#generate(input));
      }
      const empty = this.#stages.emptyAnswer(input);
      if (empty === undefined) return this.#generate(input);
      return concat(from(this.#log.cutShort('C', empty.reason)), this.#say(empty));
    });
    // The search has subscribed to what it takes over when it is subscribed to.
    return concat(merge(search$, taken$), answer$);
  }

  /** Stages 7 and 8 with a model. */
  #generate(input: RetrievalInput<M, R, I>): Observable<ChatEvent> {
    let prompt: P | undefined;
    const assembly$ = this.#stage(7, {
      work: () => of(this.#stages.assemble(input, this.#evidence)),
      keep: (assembled) => {
        prompt = assembled;
        this.#mode = assembled.mode;
      },
    });
    const answer$ = defer(() => {
      this.#answer = new CitationCheck(this.#evidence);
      const begun = this.#log.elapsedMs;
      let detail: JsonObject = {};
      const parts$ = this.#stages.answer(prompt as P, this.#turn).pipe(
        concatMap((part) => {
          if (part.type === 'done') detail = this.#finish(part);
          return from(this.#tell(part));
        }),
      );
      const end$ = defer(() => {
        const rest = this.#answer.end();
        const spent = (this.#firstTokenMs ?? this.#log.elapsedMs) - begun;
        return from([...this.#tokens(rest), this.#log.end(8, 'ok', detail, spent), this.#final()]);
      });
      return concat(of(this.#log.begin(8)), parts$, end$);
    });
    return concat(assembly$, answer$);
  }

  /** Stage 8 with a text that is known. */
  #say({ text }: DirectAnswer): Observable<ChatEvent> {
    return defer(() => {
      const begin = this.#log.begin(8);
      const tokens = this.#tokens(this.#answer.push(text) + this.#answer.end());
      return from([begin, ...tokens, this.#log.end(8, 'ok', { model: null, attempts: 0 }), this.#final()]);
    });
  }

  /** What is told of a part of an answer. */
  #tell(part: AnswerPart): ChatEvent[] {
    switch (part.type) {
      case 'thinking':
        return [{ type: 'thinking', content: part.content }];
      case 'token':
        return this.#tokens(this.#answer.push(part.content));
      case 'retract':
        this.#answer = new CitationCheck(this.#evidence);
        return [{ type: 'retract', reason: part.reason }];
      case 'done':
        return [];
    }
  }

  #tokens(content: string): ChatEvent[] {
    if (content === '') return [];
    const token: ChatEvent = { type: 'token', content };
    if (this.#firstTokenMs !== undefined) return [token];
    this.#firstTokenMs = this.#log.elapsedMs;
    return [{ type: 'first_token', ms: this.#firstTokenMs }, token];
  }

  #finish({ model, usage, detail }: Extract<AnswerPart, { type: 'done' }>): JsonObject {
    this.#model = model;
    this.#usage = usage;
    return { model, ...detail };
  }

  #final(): ChatEvent {
    this.#isOver = true;
    const { text, citations, removed } = this.#answer.result;
    return {
      type: 'final',
      trace_id: this.#turn.traceId,
      total_ms: this.#log.elapsedMs,
      ...(this.#firstTokenMs !== undefined && { first_token_ms: this.#firstTokenMs }),
      response: text,
      evidence: this.#evidence,
      citations,
      removed_citations: removed,
      shortcut: this.#log.shortcut,
      mode: this.#mode,
      model: this.#model,
      usage: this.#usage,
      stages: this.#log.stages,
      degraded: this.#log.degraded,
    };
  }

  /** Does the work of a stage within its limit; without a fallback its failure is that of the chat. */
  #stage<T>(stage: StageNumber, { work, fallback, keep }: StageWork<T>): Observable<ChatEvent> {
    return defer(() => {
      const { name, limitMs } = STAGES[stage];
      const result$ = defer(work).pipe(
        take(1),
        throwIfEmpty(() => nothingFrom(name)),
      );
      // Stage 6 ends its late channels by itself, and gives what the others found.
      const limited$ =
        limitMs === undefined || stage === 6
          ? result$
          : result$.pipe(
              timeout({
                first: limitMs,
                with: () => throwError(() => lateError(name, limitMs)),
              }),
            );
      const safe$ =
        fallback === undefined
          ? limited$
          : limited$.pipe(
              catchError((error) => {
                const { value, detail } = fallback();
                const { code } = toEngineError(error, 'INTERNAL');
                return of<StageResult<T>>({ value, detail: { ...detail, error: code }, status: 'degraded' });
              }),
            );
      const end$ = safe$.pipe(
        map(({ value, detail, status = 'ok' }) => {
          keep(value);
          return this.#log.end(stage, status, detail);
        }),
      );
      return concat(of(this.#log.begin(stage)), end$);
    });
  }
}

/** How a stage works. */
interface StageWork<T> {
  readonly work: () => Observable<StageResult<T>>;
  /** What counts when it fails. @default the chat fails */
  readonly fallback?: () => StageResult<T>;
  /** Takes what it found. */
  readonly keep: (value: T) => void;
}

function lateError(stage: string, limitMs: number): EngineError {
  return new EngineError('RUN_TIMEOUT', `Stage "${stage}" took longer than its limit of ${limitMs} ms.`);
}

function deadlineError(deadlineMs: number): EngineError {
  return new EngineError('RUN_TIMEOUT', `The chat took longer than its deadline of ${deadlineMs} ms.`);
}

function nothingFrom(stage: string): EngineError {
  return new EngineError('INTERNAL', `Stage "${stage}" gave nothing.`);
}
