import { defer, EMPTY, filter, mergeMap, type SchedulerLike, Subscription, take, throwIfEmpty, timeout } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import { PROBE_MS } from './breaker.js';
import type { Breakers } from './breakers.js';
import type { RouteTarget } from './route-target.js';

/** Probes of targets whose breakers are open. */
export interface Probes {
  /** Begins the probe of a target, unless another process does. */
  begin(target: RouteTarget): void;
  /** Ends those under way. */
  close(): void;
}

/**
 * Tests targets with the shortest request there is, `hi` and one token, for 5 s. The first packet closes the breaker.
 *
 * So does a refusal of this very request (400, 422), such as by models that want more tokens: the target is there, and takes the key.
 */
export function createProbes(breakers: Breakers, scheduler: SchedulerLike): Probes {
  const running = new Subscription();
  return {
    begin(target) {
      const { breaker, model, name } = target;
      const packet$ = defer(() =>
        model.chat({ model: name, messages: [{ role: 'user', content: 'hi' }], sampling: { maxTokens: 1 } }),
      ).pipe(
        filter(({ type }) => type !== 'usage'),
        take(1),
        throwIfEmpty(() => new EngineError('MODEL_RESPONSE', 'The probe was answered by nothing.')),
        timeout({ first: PROBE_MS, scheduler, with: () => defer(late) }),
      );
      const probe = breakers
        .claimProbe(breaker)
        .pipe(mergeMap((isMine) => (isMine ? packet$ : EMPTY)))
        .subscribe({
          next: () => breakers.record(breaker, { type: 'probe-succeeded' }),
          error: (error: unknown) => {
            const isAlive = EngineError.is(error) && isJsonObject(error.details) && ALIVE.has(error.details.status);
            if (isAlive) breakers.record(breaker, { type: 'probe-succeeded' });
            else if (isKeyRefused(error)) breakers.record(breaker, { type: 'key-refused' });
            else breakers.record(breaker, { type: 'probe-failed', reason: reasonOf(error) });
          },
        });
      running.add(probe);
    },
    close: () => running.unsubscribe(),
  };
}

const ALIVE: ReadonlySet<unknown> = new Set([400, 422]);

const isKeyRefused = (error: unknown): boolean =>
  EngineError.is(error) && isJsonObject(error.details) && [401, 403].includes(Number(error.details.status));

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const late = (): never => {
  throw new EngineError('MODEL_UNAVAILABLE', `The probe got no packet within ${PROBE_MS} ms.`);
};
