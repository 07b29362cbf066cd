/** One request to a route: the race for the first packet, and what becomes of a stream that dies. */
import {
  defer,
  identity,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  type Subscriber,
  type Subscription,
  timer,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import { Feed, type FeedSink } from '../../operators/feed.js';
import type { ChatDelta, ChatRequest } from '../chat-model.js';
import { backoffMs } from '../retry-policy.js';
import { admission } from './breaker.js';
import type { Breakers } from './breakers.js';
import { classifyFailure } from './classify-failure.js';
import { ContinuedText, continuationOf } from './continued-text.js';
import { expectedCost, type RouteDelta, type RouteTarget, spentCost } from './route-target.js';

/** What happens when a stream dies of which something was shown: see `createModelRoute`. */
export type AfterTokens = 'restart' | 'continue' | 'fail';

/** How a request is served; all of it is settled. */
export interface RouteCallOptions {
  /** Of the route, for messages. */
  readonly name: string;
  /** The best first. */
  readonly targets: readonly RouteTarget[];
  readonly breakers: Breakers;
  readonly afterTokens: AfterTokens;
  /** Calls of one request, hedges included. */
  readonly attempts: number;
  /** Ceiling of one request. @default none */
  readonly maxCost: number | undefined;
  /** The longest that a request waits for a paused target, in milliseconds. */
  readonly maxPauseMs: number;
  /** Milliseconds before all targets are tried once more; doubles each time. */
  readonly retryDelayMs: number;
  readonly random: () => number;
  readonly scheduler: SchedulerLike;
  /** Seats for calls. @default no limit */
  readonly seats: MonoTypeOperatorFunction<ChatDelta> | undefined;
  /** Begins the probe that is due of a target. */
  readonly probe: (target: RouteTarget) => void;
}

/** A call to one target. */
class Attempt {
  readonly target: RouteTarget;
  readonly feed: Feed<ChatDelta>;
  /** When it got its seat. */
  startedAt = 0;
  timer: Subscription | undefined = undefined;
  /** Whether its time for the first packet is over. */
  isLate = false;
  isFinished = false;
  /** Pieces that make no answer, before the first that does. */
  readonly held: ChatDelta[] = [];
  /** Where it continues another one. */
  readonly continued: ContinuedText | undefined;

  constructor(target: RouteTarget, sink: FeedSink<ChatDelta>, continued: ContinuedText | undefined) {
    this.target = target;
    this.feed = new Feed(sink);
    this.continued = continued;
  }
}

/** A request while it is served. Its subscriber's teardown has to call `stop`. */
export class RouteCall implements FeedSink<ChatDelta> {
  readonly #options: RouteCallOptions;
  readonly #request: ChatRequest;
  readonly #subscriber: Subscriber<RouteDelta>;
  readonly #running = new Map<Feed<ChatDelta>, Attempt>();
  /** Targets that were called since all of them were free to be called. */
  readonly #tried = new Set<RouteTarget>();
  /** What is known against each target, by its id. */
  readonly #reasons = new Map<string, string>();
  #winner: Attempt | undefined;
  #begun = 0;
  #begunBefore = 0;
  #passes = 0;
  #cost = 0;
  /** The text that the reader has. */
  #text = '';
  /** Whether the reader has anything, and whether it is more than text. */
  #hasShown = false;
  #hasShownMore = false;
  #isContinuing = false;
  #wait: Subscription | undefined;

  constructor(request: ChatRequest, options: RouteCallOptions, subscriber: Subscriber<RouteDelta>) {
    this.#request = request;
    this.#options = options;
    this.#subscriber = subscriber;
  }

  start(): void {
    const fresh$ = this.#options.breakers.refreshed(this.#options.targets.map(({ breaker }) => breaker));
    if (fresh$ === undefined) this.#advance();
    else this.#wait = fresh$.subscribe({ complete: () => this.#advance() });
  }

  /** Ends every call at once. */
  stop(): void {
    this.#wait?.unsubscribe();
    for (const attempt of this.#running.values()) this.#end(attempt);
    this.#running.clear();
  }

  fed(delta: ChatDelta, feed: Feed<ChatDelta>): void {
    const attempt = this.#running.get(feed);
    if (attempt === undefined) return;
    if (this.#winner !== attempt && !this.#wins(attempt, delta)) return;
    this.#show(attempt, delta);
  }

  feedFailed(error: unknown, feed: Feed<ChatDelta>): void {
    const attempt = this.#running.get(feed);
    if (attempt !== undefined) this.#failed(attempt, error);
  }

  feedEnded(feed: Feed<ChatDelta>): void {
    const attempt = this.#running.get(feed);
    if (attempt === undefined) return;
    if (this.#winner !== attempt) {
      this.#failed(attempt, emptyAnswer(attempt.target));
      return;
    }
    this.#finished(attempt);
    this.stop();
    this.#subscriber.complete();
  }

  /** Starts the next target that may be called, if there is one; otherwise waits for those that run. */
  #advance(): void {
    if (this.#subscriber.closed) return;
    const target = this.#next();
    if (target !== undefined) this.#begin(target);
    else if (this.#running.size === 0) this.#fallBack();
    else if ([...this.#running.values()].every(({ isLate }) => isLate)) this.#tryOthersAgain();
  }

  /** The first target that passes; probes that are due begin on the way. */
  #next(): RouteTarget | undefined {
    const { targets, attempts, probe } = this.#options;
    if (this.#begun >= attempts) return undefined;
    for (const target of targets) {
      if (!this.#isFree(target)) continue;
      const said = this.#ask(target);
      if (said === 'pass') return target;
      if (said === 'probe') probe(target);
    }
    return undefined;
  }

  /** Whether this request may still call a target, breakers aside. */
  #isFree(target: RouteTarget): boolean {
    if (this.#tried.has(target)) return false;
    const { maxCost } = this.#options;
    if (maxCost === undefined || this.#cost + expectedCost(target, this.#request) <= maxCost) return true;
    this.#note(target, `a call would bring the request above its ceiling of ${maxCost}`);
    return false;
  }

  #ask(target: RouteTarget): ReturnType<typeof admission> {
    const { breakers, scheduler } = this.#options;
    const state = breakers.of(target.breaker);
    const said = admission(state, scheduler.now());
    if (said === 'paused') this.#note(target, 'paused after 429');
    else if (said !== 'pass') this.#note(target, `its breaker is open: ${state.reason}`);
    return said;
  }

  /** Keeps what a call of this request said. */
  #note(target: RouteTarget, reason: string): void {
    if (!this.#reasons.has(target.id)) this.#reasons.set(target.id, reason);
  }

  /** No target passes and none runs: a pause that ends soon, the breaker that opens next, all of them once more, or the end. */
  #fallBack(): void {
    const { targets, attempts, maxPauseMs, scheduler } = this.#options;
    if (this.#begun >= attempts) {
      this.#giveUp();
      return;
    }
    const free = targets.filter((target) => this.#isFree(target));
    const waits = (wanted: readonly string[]) =>
      free
        .filter((target) => wanted.includes(this.#ask(target)))
        .map((target) => ({ target, ms: this.#opensAt(target) - scheduler.now() }))
        .sort((a, b) => a.ms - b.ms)[0];
    const paused = waits(['paused']);
    if (paused !== undefined && paused.ms <= maxPauseMs) {
      this.#after(paused.ms, () => this.#advance());
      return;
    }
    const open = waits(['open', 'probe', 'probing']);
    if (open !== undefined) this.#begin(open.target);
    else this.#tryAllAgain();
  }

  #opensAt({ breaker }: RouteTarget): number {
    const { phase, until = 0, pausedUntil } = this.#options.breakers.of(breaker);
    return phase === 'closed' ? pausedUntil : until;
  }

  #tryAllAgain(): void {
    const { retryDelayMs, random, targets } = this.#options;
    const hasBegun = this.#begun > this.#begunBefore;
    this.#begunBefore = this.#begun;
    this.#passes += 1;
    this.#tried.clear();
    if (!hasBegun || !targets.some((target) => this.#isFree(target))) {
      this.#giveUp();
      return;
    }
    this.#after(backoffMs(this.#passes, retryDelayMs, random), () => this.#advance());
  }

  /** All calls that run are late, and every other target has failed: those may be better now. */
  #tryOthersAgain(): void {
    const { attempts, retryDelayMs, random } = this.#options;
    if (this.#begun >= attempts || this.#begun === this.#begunBefore) return;
    this.#begunBefore = this.#begun;
    this.#passes += 1;
    this.#tried.clear();
    for (const { target } of this.#running.values()) this.#tried.add(target);
    this.#after(backoffMs(this.#passes, retryDelayMs, random), () => this.#advance());
  }

  #after(ms: number, then: () => void): void {
    this.#wait?.unsubscribe();
    this.#wait = timer(Math.max(0, ms), this.#options.scheduler).subscribe(then);
  }

  #begin(target: RouteTarget): void {
    const { seats = identity, scheduler } = this.#options;
    const continued = this.#isContinuing ? new ContinuedText(this.#text) : undefined;
    const attempt = new Attempt(target, this, continued);
    const request = this.#requestTo(target);
    this.#begun += 1;
    this.#cost += expectedCost(target, request);
    this.#tried.add(target);
    this.#running.set(attempt.feed, attempt);
    defer(() => {
      // Not before: time in the queue for a seat is not the target's.
      attempt.startedAt = scheduler.now();
      attempt.timer = timer(target.times.hedgeMs, scheduler).subscribe(() => this.#late(attempt));
      return target.model.chat(request);
    })
      .pipe(seats)
      .subscribe(attempt.feed);
  }

  #requestTo({ name }: RouteTarget): ChatRequest {
    const { messages } = this.#request;
    if (!this.#isContinuing) return { ...this.#request, model: name };
    return { ...this.#request, model: name, messages: continuationOf(messages, this.#text) };
  }

  #late(attempt: Attempt): void {
    if (this.#winner !== undefined) return;
    attempt.isLate = true;
    this.#advance();
  }

  /** Whether this piece is the first packet of the race. */
  #wins(attempt: Attempt, delta: ChatDelta): boolean {
    const isNothing = delta.type === 'usage' || (delta.type === 'finish' && delta.reason === 'unknown');
    if (isNothing) {
      attempt.held.push(delta);
      return false;
    }
    const { target } = attempt;
    const now = this.#options.scheduler.now();
    this.#winner = attempt;
    this.#wait?.unsubscribe();
    attempt.timer?.unsubscribe();
    target.times.add(now - attempt.startedAt);
    for (const other of this.#running.values()) {
      if (other === attempt) continue;
      this.#end(other);
      this.#running.delete(other.feed);
      if (other.isLate) this.#lost(other, now);
    }
    const provider = target.provider === undefined ? {} : { provider: target.provider };
    this.#subscriber.next({
      type: 'served',
      target: target.id,
      model: target.name,
      ...provider,
      attempts: this.#begun,
    });
    for (const held of attempt.held) this.#show(attempt, held);
    return true;
  }

  /** A target that had its time and lost. */
  #lost({ target, startedAt }: Attempt, now: number): void {
    target.times.lost(now - startedAt);
    this.#options.breakers.record(target.breaker, { type: 'failed', reason: 'no first packet in time' });
  }

  #show(attempt: Attempt, delta: ChatDelta): void {
    if (delta.type === 'text') {
      const text = attempt.continued === undefined ? delta.text : attempt.continued.push(delta.text);
      this.#showText(text);
      return;
    }
    if (delta.type === 'finish') this.#finished(attempt);
    else if (delta.type !== 'usage') {
      this.#hasShown = true;
      this.#hasShownMore ||= delta.type === 'tool-call' || delta.type === 'part';
    }
    this.#subscriber.next(delta);
  }

  #showText(text: string): void {
    if (text === '') return;
    this.#text += text;
    this.#hasShown = true;
    this.#subscriber.next({ type: 'text', text });
  }

  /** The answer is whole, once. */
  #finished(attempt: Attempt): void {
    if (attempt.isFinished) return;
    attempt.isFinished = true;
    this.#showText(attempt.continued?.end() ?? '');
    this.#options.breakers.record(attempt.target.breaker, { type: 'succeeded' });
  }

  #failed(attempt: Attempt, error: unknown): void {
    const { target } = attempt;
    const { event, passesOn } = classifyFailure(error);
    const wasWinner = this.#winner === attempt;
    this.#end(attempt);
    this.#running.delete(attempt.feed);
    if (wasWinner) {
      this.#winner = undefined;
      this.#cost += spentCost(target, this.#request, this.#text);
    }
    if (attempt.isFinished) {
      // The answer is whole; how its connection ended does not matter.
      this.#subscriber.complete();
      return;
    }
    this.#options.breakers.record(target.breaker, event);
    this.#reasons.set(target.id, error instanceof Error ? error.message : String(error));
    if (!passesOn) this.#fail(error);
    else if (wasWinner && this.#hasShown) this.#goOn(error);
    else this.#advance();
  }

  /** The stream that was shown has died. */
  #goOn(error: unknown): void {
    const { afterTokens } = this.#options;
    if (afterTokens === 'fail' || (afterTokens === 'continue' && this.#hasShownMore)) {
      this.#fail(error);
      return;
    }
    if (afterTokens === 'continue') {
      // Thoughts alone are not continued: the next target thinks for itself.
      this.#isContinuing = this.#text !== '';
    } else {
      this.#text = '';
      this.#hasShown = false;
      this.#hasShownMore = false;
      const reason = error instanceof Error ? error.message : String(error);
      this.#subscriber.next({ type: 'retract', reason });
    }
    this.#advance();
  }

  #end(attempt: Attempt): void {
    attempt.timer?.unsubscribe();
    attempt.feed.unsubscribe();
  }

  #fail(error: unknown): void {
    this.stop();
    this.#subscriber.error(error);
  }

  #giveUp(): void {
    const { name, targets, scheduler } = this.#options;
    const reasons = targets.map(({ id }) => ({ target: id, reason: this.#reasons.get(id) ?? 'not called' }));
    const opens = targets.map((target) => this.#opensAt(target) - scheduler.now()).filter((ms) => ms > 0);
    const retryAfterMs = opens.length === targets.length ? Math.min(...opens) : undefined;
    const said = reasons.map(({ target, reason }) => `${target}: ${reason.replace(/\.$/, '')}`).join('; ');
    this.#fail(
      new EngineError(
        'MODEL_UNAVAILABLE',
        `No model of the route "${name}" answered, in ${this.#begun} attempts. ${said}. Try again later, or add targets to the route.`,
        { retryable: true, details: { targets: reasons, ...(retryAfterMs !== undefined && { retryAfterMs }) } },
      ),
    );
  }
}

function emptyAnswer({ id }: RouteTarget): EngineError {
  return new EngineError('MODEL_RESPONSE', `Model "${id}" ended its answer before the first piece of it.`);
}
