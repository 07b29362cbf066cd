/** Passes through the bodies of containers: opening one, continuing one of a restored run, and closing it. */
import { Observable } from 'rxjs';
import type { LiveEnds } from './activation.js';
import type { BodyEnd } from './node.js';
import type { BodyRound } from './node-events.js';
import type { Node, Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { PerformOptions } from './run-options.js';
import { endStates, type Frame, type Token } from './tokens.js';
import { apply, type LiveState } from './transition.js';
import { storeValue } from './typed.js';
import { FrameSource } from './values.js';

/** How the tokens of a pass get to run, and stop. */
interface Moves {
  readonly isStopped: boolean;
  readonly isStored: boolean;
  proceed(frame: Frame, ready: Token[], next: undefined): void;
  stopRemoved(): void;
}

/** The passes of one run. */
export class Bodies {
  readonly #plan: Plan;
  readonly #live: LiveState;
  readonly #reporter: Reporter;
  readonly #resume: Pick<PerformOptions, 'answers' | 'isRecovered'>;
  readonly #run: Moves;
  readonly #noneReady: Token[] = [];

  constructor(
    live: LiveState,
    reporter: Reporter,
    resume: Pick<PerformOptions, 'answers' | 'isRecovered'>,
    run: Moves,
  ) {
    this.#plan = live.plan;
    this.#live = live;
    this.#reporter = reporter;
    this.#resume = resume;
    this.#run = run;
  }

  /**
   * One pass through the body of `token`'s node.
   *
   * ```text
   * body      --[ entry … ]
   * result    -------------(e|)     (e: how it ended; an error that nothing in the body handles errors the result)
   * ```
   *
   * A pass that a restored run was in continues where it was, by its key. Unsubscribing stops the work of the body.
   */
  open(token: Token, round: BodyRound, live: LiveEnds = {}): Observable<BodyEnd> {
    return new Observable((subscriber) => {
      const scope = this.#plan.scopes[(this.#plan.nodes[token.node] as Node).body];
      // Without a node that is made for it, no node is to be told that no pass follows.
      if (scope === undefined || (round.closing === true && !scope.hasDeclaredEntry)) {
        subscriber.next({ status: 'done', source: new FrameSource(this.#plan, token.frame) });
        subscriber.complete();
        return undefined;
      }
      if (this.#run.isStopped || !token.isLive) return undefined;
      const { key } = round;
      const ready = this.#enter(token, round);
      const frame = ready[0]?.frame ?? token.frames?.get(key);
      if (frame === undefined) return undefined;
      const { typed } = frame;
      if (typed !== undefined) {
        typed.source = live.source;
        typed.output = live.output;
      }
      frame.observer = {
        ended: (status) => {
          // A pass of a typed plan is closed by its container, which keeps the result until then.
          if (status !== 'interrupted' && typed === undefined) this.close(token, key);
          if (status !== 'interrupted') endStates(frame);
          subscriber.next({ status, source: new FrameSource(this.#plan, frame), result: typed?.result });
          subscriber.complete();
        },
        failed: (error) => subscriber.error(error),
      };
      // The tokens of a pass are names for the outside: they are stored before they are used.
      this.#run.proceed(frame, ready, undefined);
      return () => {
        // A frame that ended or waits has no observer any more; only one that is cut short is closed here.
        if (frame.observer !== undefined) this.close(token, key);
      };
    });
  }

  /** Opens a pass, or continues one of a restored run; gives the tokens that run. */
  #enter(token: Token, round: BodyRound): Token[] {
    const { key } = round;
    const ready: Token[] = [];
    const restored = token.frames?.get(key);
    if (restored === undefined) {
      const opened = this.#stored(token, round);
      apply(this.#live, token, { type: 'body-opened', round: opened }, ready);
      this.#reporter.bodyOpened(token, opened);
    } else if (this.#resume.isRecovered) {
      for (let inside = restored.first; inside !== undefined; inside = inside.next) {
        if (inside.status === 'ready') ready.push(inside);
      }
    } else {
      const { answers } = this.#resume;
      apply(this.#live, token, { type: 'body-resumed', key, answers }, ready);
      this.#reporter.bodyResumed(token, key, answers);
    }
    return ready;
  }

  /** In a typed plan: with its value as the log has it. */
  #stored(token: Token, round: BodyRound): BodyRound {
    const { values } = this.#plan;
    if (values === undefined || !this.#run.isStored || round.isLive === true) return round;
    const path = `${(this.#plan.nodes[token.node] as Node).id}${round.key}`;
    return { ...round, stored: storeValue(values, round.value, path) };
  }

  /** Ends a pass, or cuts it short. */
  close(token: Token, key: string): void {
    if (this.#run.isStopped || !token.isLive) return;
    const frame = token.frames?.get(key);
    if (frame !== undefined) endStates(frame);
    apply(this.#live, token, { type: 'body-closed', key }, this.#noneReady);
    this.#reporter.bodyClosed(token, key);
    this.#run.stopRemoved();
  }
}
