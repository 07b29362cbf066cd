/** Passes through the bodies of containers: opening one, continuing one of a restored run, and closing it. */
import { Observable } from 'rxjs';
import type { BodyEnd } from './node.js';
import type { BodyRound } from './node-events.js';
import type { Node, Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { PerformOptions } from './run-options.js';
import type { Frame, Token } from './tokens.js';
import { apply, type LiveState } from './transition.js';
import { FrameSource } from './values.js';

/** How the tokens of a pass get to run, and stop. */
interface Moves {
  readonly isStopped: boolean;
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
  open(token: Token, round: BodyRound): Observable<BodyEnd> {
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
      frame.observer = {
        ended: (status) => {
          if (status !== 'interrupted') this.close(token, key);
          subscriber.next({ status, source: new FrameSource(this.#plan, frame) });
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
      apply(this.#live, token, { type: 'body-opened', round }, ready);
      this.#reporter.bodyOpened(token, round);
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

  /** Ends a pass, or cuts it short. */
  close(token: Token, key: string): void {
    if (this.#run.isStopped || !token.isLive) return;
    apply(this.#live, token, { type: 'body-closed', key }, this.#noneReady);
    this.#reporter.bodyClosed(token, key);
    this.#run.stopRemoved();
  }
}
