/** All calls of one message: side by side, their pieces at their places. */
import { Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Call, CallStart } from '../../graph/node-events.js';
import { type ToolMessage, toolMessage } from '../../models/messages.js';
import { isTold } from '../engine/step-at.js';
import { Interrupt, type InterruptPart } from '../interrupt.js';
import type { StepActivation } from '../step.js';
import {
  answersOf,
  askAgain,
  isWoken,
  type KeptCall,
  type KeptCalls,
  keptQuestions,
  keptResult,
  questionsOf,
  readKept,
} from './kept-calls.js';
import { type CallRound, makeCalls, type ReportedCall } from './make-calls.js';
import { type CallSetup, type PlacedCall, runToolCall } from './run-tool-call.js';
import type { ToolContent, ToolReply } from './step-tool.js';
import { joinContent, partsOf } from './tool-output.js';

/**
 * Makes the calls of a message and gives chunks of the list of their messages: each chunk has a message for every call, in the order of the
 * calls, with the new text at its place and none at the others.
 *
 * ```text
 * call 1    --a--b--c|
 * call 2    ------x|
 * result    ------(1)--c|        (1: `ab` of call 1 and `x` of call 2; then what comes)
 *
 * call 1    --a--b|
 * call 2    ------i               (asks)
 * result    ------(i|)            (one interrupt with all questions; `ab` is kept in it)
 * ```
 *
 * What comes while a call may still ask is held back, since a node that asks gives nothing; a call that gave its first piece asks no more. When
 * calls ask, the others work to their ends, and what they gave is kept. On a resume only calls with an answer are made again, the others' questions
 * are asked again as they are; on a resume without any answer all that asked are made again. With a concurrency of 1, calls behind one that asks
 * are not begun, since their order may matter.
 */
export function toolRound(
  setup: CallSetup & { readonly concurrency: number },
  calls: readonly PlacedCall[],
  at: StepActivation,
): Observable<ToolMessage[] | Interrupt> {
  return new Observable((subscriber) => {
    const kept = at.isResumed ? readKept(at.memo) : NOTHING_KEPT;
    const round = new ToolRound(setup, calls, at, kept, subscriber);
    return makeCalls(calls, round).subscribe({
      error: (error: unknown) => subscriber.error(error),
      complete: () => round.finish(),
    });
  });
}

const NOTHING_KEPT: ReadonlyMap<string, KeptCall> = new Map();

/** What observers are told of a call that came in pieces. */
function joinReplies(replies: readonly unknown[]): unknown {
  return (replies as readonly ToolContent[]).reduce(joinContent);
}

/** Stands for the questions of a call that is not made again. */
const STILL_OPEN = new Interrupt(undefined);

/** What has come of one call. */
interface Draft {
  content: ToolContent;
  isDecided: boolean;
}

class ToolRound implements CallRound<PlacedCall> {
  readonly concurrency: number;
  readonly #setup: CallSetup;
  readonly #calls: readonly PlacedCall[];
  readonly #at: StepActivation;
  readonly #kept: ReadonlyMap<string, KeptCall>;
  readonly #subscriber: Subscriber<ToolMessage[] | Interrupt>;
  readonly #drafts: readonly Draft[];
  readonly #blank: readonly ToolMessage[];
  readonly #questions = new Map<number, Interrupt>();
  #undecided: number;

  constructor(
    setup: CallSetup & { readonly concurrency: number },
    calls: readonly PlacedCall[],
    at: StepActivation,
    kept: ReadonlyMap<string, KeptCall>,
    subscriber: Subscriber<ToolMessage[] | Interrupt>,
  ) {
    this.concurrency = setup.concurrency;
    this.#setup = setup;
    this.#calls = calls;
    this.#at = at;
    this.#kept = kept;
    this.#subscriber = subscriber;
    this.#drafts = calls.map(() => ({ content: NOTHING, isDecided: false }));
    this.#blank = calls.map(({ call }) => toolMessage('', call.id, { name: call.name }));
    this.#undecided = calls.length;
  }

  mayBegin(): boolean {
    return this.concurrency !== 1 || this.#questions.size === 0;
  }

  known({ id }: PlacedCall): ToolReply | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.result !== undefined) return kept?.result;
    return isWoken(kept, this.#at) ? undefined : STILL_OPEN;
  }

  startOf({ id, call, boxed }: PlacedCall): CallStart {
    const name = boxed?.tool.name ?? call.name;
    return { id, kind: 'tool', name, attributes: { 'gen_ai.tool.call.id': call.id } };
  }

  make(placed: PlacedCall, reported: ReportedCall): Observable<ToolReply> {
    const { id, call, boxed } = placed;
    const kept = this.#kept.get(id);
    const replies = (): Observable<ToolReply> =>
      runToolCall(this.#setup, placed, this.#at, { kept, answers: answersOf(kept, this.#at), reported });
    return this.#at.observe('tool', boxed?.tool.name ?? call.name, call, replies, { id, chunks: joinReplies });
  }

  isTold(): boolean {
    return isTold(this.#at);
  }

  report(event: Call): void {
    this.#at.report(event);
  }

  receive({ index, id }: PlacedCall, reply: ToolReply): void {
    const draft = this.#drafts[index] as Draft;
    if (reply instanceof Interrupt) {
      if (draft.isDecided) throw lateQuestion(id);
      draft.isDecided = true;
      this.#undecided -= 1;
      this.#questions.set(index, reply);
      return;
    }
    if (this.#questions.has(index)) throw lateContent(id);
    const isOpen = this.#isOpen;
    const before = draft.content;
    draft.content = joinContent(before, reply);
    if (isOpen) this.#subscriber.next(this.#listWith(index, continuing(before, reply)));
    else this.#decide(draft);
  }

  ended({ index }: PlacedCall): void {
    this.#decide(this.#drafts[index] as Draft);
  }

  finish(): void {
    if (this.#questions.size > 0) this.#subscriber.next(this.#interrupt());
    this.#subscriber.complete();
  }

  /** Whether no call can ask any more, and none has asked. */
  get #isOpen(): boolean {
    return this.#undecided === 0 && this.#questions.size === 0;
  }

  #decide(draft: Draft): void {
    if (draft.isDecided) return;
    draft.isDecided = true;
    this.#undecided -= 1;
    if (!this.#isOpen) return;
    this.#subscriber.next(this.#blank.map((message, at) => withContent(message, (this.#drafts[at] as Draft).content)));
  }

  #listWith(index: number, content: ToolContent): ToolMessage[] {
    const list = this.#blank.slice();
    list[index] = withContent(list[index] as ToolMessage, content);
    return list;
  }

  #interrupt(): Interrupt {
    const questions: InterruptPart[] = [];
    const calls: KeptCall[] = [];
    for (const { index, id, boxed } of this.#calls) {
      const { content, isDecided } = this.#drafts[index] as Draft;
      const asked = this.#questions.get(index);
      const kept = this.#kept.get(id);
      if (asked === undefined) {
        // A call that was not begun stands as it stood before.
        if (isDecided) calls.push(keptResult(id, content));
        else if (kept !== undefined) calls.push(kept);
        continue;
      }
      const schema = boxed?.tool.answer;
      if (asked === STILL_OPEN && kept !== undefined) {
        calls.push(kept);
        questions.push(...askAgain(kept, schema, this.#at));
        continue;
      }
      const answers = answersOf(kept, this.#at);
      calls.push(keptQuestions(id, asked, { answers, schema, now: this.#at.now() }));
      questions.push(...questionsOf(id, asked));
    }
    const memo: KeptCalls = { calls };
    return this.#at.interruptAll(questions, { memo });
  }
}

const NOTHING: ToolContent = { text: '' };

/** A piece behind others: where the whole has parts, the piece brings those that the pieces before were without. */
function continuing(before: ToolContent, piece: ToolContent): ToolContent {
  if (piece.parts === undefined && before.parts === undefined) return piece;
  if (before.parts !== undefined) return { ...piece, parts: partsOf(piece) };
  return { ...piece, parts: [...partsOf(before), ...partsOf(piece)] };
}

function withContent(message: ToolMessage, { text, parts, extra, isError }: ToolContent): ToolMessage {
  return {
    ...message,
    content: text,
    ...(parts !== undefined && { parts }),
    ...(extra !== undefined && { extra }),
    ...(isError === true && { isError }),
  };
}

function lateQuestion(id: string): EngineError {
  return new EngineError(
    'TOOL_FAILED',
    `The call ${id} asked after it had given a part of its result, or had asked. A tool asks before it gives anything.`,
  );
}

function lateContent(id: string): EngineError {
  return new EngineError('TOOL_FAILED', `The call ${id} gave a result after it had asked. A question ends the call.`);
}
