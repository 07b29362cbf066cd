/** A route: several models, of which the best one that works answers. */
import { asyncScheduler, filter, type MonoTypeOperatorFunction, map, Observable, type SchedulerLike } from 'rxjs';
import { invalidOption, requireWhole } from '../../operators/invalid-option.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../chat-model.js';
import type { Breakers } from './breakers.js';
import { createProbes } from './probes.js';
import { type AfterTokens, RouteCall, type RouteCallOptions } from './route-call.js';
import type { RouteDelta, RouteTarget } from './route-target.js';

/** How a route serves requests, where a request does not say. */
export interface RouteLimits {
  /**
   * What happens when a stream dies of which something was shown. `restart`: a `retract`, and the next target answers from the start. `continue`:
   * the next target gets the text so far, and nothing is shown twice; after a tool call, which cannot be continued, the error passes. `fail`:
   * the text stays, and the error passes. @default 'restart'
   */
  readonly afterTokens?: AfterTokens | undefined;
  /** Calls of one request, hedges included; at least 1. @default twice the number of targets, 4 at least */
  readonly attempts?: number | undefined;
  /** What one request may cost, in the currency of the prices: no call begins that would bring it above. @default no ceiling */
  readonly maxCost?: number | undefined;
}

/** What a route is made of. */
export interface ModelRouteOptions extends RouteLimits {
  /** For messages. */
  readonly name: string;
  /** The best first; at least one. */
  readonly targets: readonly RouteTarget[];
  readonly breakers: Breakers;
  /** The longest that a request waits for a paused target when no other is left, in milliseconds. @default 10,000 */
  readonly maxPauseMs?: number | undefined;
  /** Milliseconds before all targets are tried once more; doubles each time, half of it at random. @default 1,000 */
  readonly retryDelayMs?: number | undefined;
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
  /** The clock, and where everything waits. @default RxJS's timers */
  readonly scheduler?: SchedulerLike | undefined;
}

/** How one request is served. */
export interface AnswerOptions extends RouteLimits {
  /** Takes a seat for each call; time without one is not the target's. @default no limit */
  readonly seats?: MonoTypeOperatorFunction<ChatDelta> | undefined;
}

/** Models in an order, each behind its breaker. */
export interface ModelRoute {
  readonly name: string;
  readonly targets: readonly RouteTarget[];
  /**
   * Answers a request; its `model` and its `retries` do not matter.
   *
   * ```text
   * a            ------------      (no packet within twice its own 95th percentile, 1 to 5 s)
   * b                 --x-y-f|     (starts then)
   * result       -------(Sx)-y-f|  (S: served by b; a is unsubscribed before x is passed on)
   *
   * a            --x-#             (the stream dies)
   * b                --x-y-f|
   * result       --(Sx)-R-(Sx)-y-f|   (R: retract, with `restart`)
   * ```
   *
   * Cold; unsubscribing ends every call at once. Errors: those of a request that is wrong, as they come; with `fail` that of the stream; else
   * `MODEL_UNAVAILABLE` (retryable) with what is known of each target in `details.targets`, and `details.retryAfterMs` when all are open.
   */
  answer(request: ChatRequest, options?: AnswerOptions): Observable<RouteDelta>;
  /**
   * The route as a model among others, for readers that know no `retract`: with `restart` a stream that dies is continued by the next target.
   */
  asModel(options?: AnswerOptions): ChatModel;
  /** Ends probes that are under way. */
  close(): void;
}

const MIN_ATTEMPTS = 4;

/**
 * Makes a route.
 *
 * The full request goes to the first target whose breaker lets it pass. Without a packet in time the next one starts as well; the first packet
 * wins, and the others are unsubscribed at once. A target that fails before anything is shown is not noticed. When no breaker lets a request
 * pass, it waits for a pause that ends soon, else goes to the target that opens next; when all have failed they are tried once more.
 *
 * @throws EngineError OPTION_INVALID
 */
export function createModelRoute(options: ModelRouteOptions): ModelRoute {
  const { name, targets, breakers, scheduler = asyncScheduler, random = Math.random } = options;
  const { maxPauseMs = 10_000, retryDelayMs = 1_000 } = options;
  if (targets.length === 0) throw invalidOption('createModelRoute', 'targets', 'a list of at least one target', '[]');
  const limits = limitsOf('createModelRoute', options, targets.length);
  const probes = createProbes(breakers, scheduler);
  const fixed = { name, targets, breakers, maxPauseMs, retryDelayMs, random, scheduler, probe: probes.begin };

  const answer: ModelRoute['answer'] = (request, given = {}) =>
    new Observable((subscriber) => {
      const own = limitsOf('answer', { ...limits, ...withoutUndefined(given) }, targets.length);
      const settled: RouteCallOptions = { ...fixed, ...own, seats: given.seats };
      const call = new RouteCall(request, settled, subscriber);
      subscriber.add(() => call.stop());
      call.start();
    });
  return {
    name,
    targets,
    answer,
    asModel: (given = {}) => {
      const afterTokens = given.afterTokens ?? limits.afterTokens;
      const plain = { ...given, afterTokens: afterTokens === 'restart' ? 'continue' : afterTokens } as const;
      return { chat: (request) => answer(request, plain).pipe(onlyDeltas) };
    },
    close: probes.close,
  };
}

const onlyDeltas = (source: Observable<RouteDelta>): Observable<ChatDelta> =>
  source.pipe(
    filter(({ type }) => type !== 'served' && type !== 'retract'),
    map((delta) => delta as ChatDelta),
  );

function limitsOf(owner: string, given: RouteLimits, targets: number) {
  const { afterTokens = 'restart', attempts = Math.max(MIN_ATTEMPTS, 2 * targets), maxCost } = given;
  requireWhole(owner, 'attempts', attempts, 1);
  if (maxCost !== undefined && !(maxCost >= 0))
    throw invalidOption(owner, 'maxCost', 'a number of at least 0', maxCost);
  if (!['restart', 'continue', 'fail'].includes(afterTokens)) {
    throw invalidOption(owner, 'afterTokens', 'restart, continue or fail', afterTokens);
  }
  return { afterTokens, attempts, maxCost };
}

function withoutUndefined(given: RouteLimits): RouteLimits {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
