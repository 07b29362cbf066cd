/** How the calls of one answer of a model are made: by steps, and by nodes of canvases. */
import { EMPTY, from, mergeMap, Observable, type Subscriber } from 'rxjs';
import { type EngineError, toEngineError } from '../../errors.js';
import { type Call, type CallStart, callFinished, callStarted } from '../../graph/node-events.js';
import { Feed, type FeedSink } from '../../operators/feed.js';
import { Interrupt } from '../interrupt.js';
import type { ToolReply } from './step-tool.js';

/** The calls of one answer, as the place has them that makes them. `C`: one call; `R`: what it gives. */
export interface CallRound<C, R extends ToolReply = ToolReply> {
  /** Calls at work at once. */
  readonly concurrency: number;
  /** Asked before a call begins. */
  mayBegin(): boolean;
  /** What is known of a call already: then it is not made, and not reported. */
  known(call: C): R | undefined;
  /** How a call is reported when it begins. */
  startOf(call: C): CallStart;
  /** Makes a call. Cold; unsubscribing stops it. `reported` is told of an error in place of which there is a reply. */
  make(call: C, reported: ReportedCall): Observable<R>;
  /** Whether reports become events now; else none is made. */
  isTold(): boolean;
  report(event: Call): void;
  /** A call has given something, or asks. */
  receive(call: C, reply: R): void;
  /** A call has ended; told behind its report. */
  ended(call: C): void;
}

/** A call as its report knows it. */
export interface ReportedCall {
  /** It failed, although there is a reply. */
  failed(error: EngineError): void;
}

/**
 * Makes calls side by side, begun in their order, and reports each from its beginning to its end; completes when all have ended.
 *
 * ```text
 * call 1     r--r|             (gives twice)
 * call 2     --#               (fails; `make` gives a text instead)
 * told       BB---E-E          (began, ended; that of call 2 with its error)
 * received   r--rt
 * ```
 *
 * A call that asks has no end in the reports: it goes on when it is answered. Errors: those of `make`, which end the other calls.
 */
export function makeCalls<C, R extends ToolReply>(calls: readonly C[], round: CallRound<C, R>): Observable<never> {
  const make = (call: C): Observable<never> => {
    if (!round.mayBegin()) return EMPTY;
    return new Observable<never>((subscriber) => {
      const atWork = new CallAtWork(call, round, subscriber);
      subscriber.add(atWork.replies);
      atWork.begin();
    });
  };
  // Most answers have one call, for which nothing has to be merged.
  return calls.length === 1 ? make(calls[0] as C) : from(calls).pipe(mergeMap(make, round.concurrency));
}

/** A call between its beginning and its end. */
class CallAtWork<C, R extends ToolReply> implements FeedSink<R>, ReportedCall {
  readonly replies = new Feed<R>(this);
  readonly #call: C;
  readonly #round: CallRound<C, R>;
  readonly #subscriber: Subscriber<never>;
  #start: CallStart | undefined;
  #error: EngineError | undefined;
  #hasAsked = false;

  constructor(call: C, round: CallRound<C, R>, subscriber: Subscriber<never>) {
    this.#call = call;
    this.#round = round;
    this.#subscriber = subscriber;
  }

  begin(): void {
    const round = this.#round;
    const call = this.#call;
    const known = round.known(call);
    if (known !== undefined) {
      this.replies.next(known);
      this.replies.complete();
      return;
    }
    if (round.isTold()) {
      this.#start = round.startOf(call);
      round.report(callStarted(this.#start));
    }
    round.make(call, this).subscribe(this.replies);
  }

  failed(error: EngineError): void {
    this.#error = error;
  }

  fed(reply: R): void {
    this.#hasAsked ||= reply instanceof Interrupt;
    this.#round.receive(this.#call, reply);
  }

  feedFailed(thrown: unknown, replies: Feed<R>): void {
    replies.unsubscribe();
    this.#finish(toEngineError(thrown, 'TOOL_FAILED'));
    this.#subscriber.error(thrown);
  }

  feedEnded(): void {
    if (!this.#hasAsked) this.#finish(this.#error);
    try {
      this.#round.ended(this.#call);
    } catch (error) {
      this.#subscriber.error(error);
      return;
    }
    this.#subscriber.complete();
  }

  #finish(error: EngineError | undefined): void {
    if (this.#start === undefined) return;
    const { id } = this.#start;
    this.#round.report(
      callFinished({ id, ...(error !== undefined && { error: { code: error.code, message: error.message } }) }),
    );
  }
}
