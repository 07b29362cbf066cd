import { defer, type Observable, type OperatorFunction, tap } from 'rxjs';
import { requireOptions } from '../../../operators/invalid-option.js';
import { dedup } from './dedup.js';
import { diversityOf } from './diversity.js';
import type { FoundPassage, PostProcessor, ProcessorReport } from './post-processor.js';
import { truncateTo } from './truncate.js';
import { type WindowOptions, windowOf } from './window.js';

/** What of the usual steps can be chosen. */
export interface DefaultProcessorsOptions {
  /** @default no windows */
  readonly window?: WindowOptions | undefined;
  /** Hits at the end. @default 5 */
  readonly most?: number | undefined;
}

/** The steps after a search, in their order: one line each. Without `load` there are no windows. */
export function defaultProcessors(options: DefaultProcessorsOptions = {}): PostProcessor[] {
  requireOptions('defaultProcessors', options, ['window', 'most']);
  const { window, most } = options;
  const widening = window === undefined ? [] : [windowOf(window)];
  return [dedup, diversityOf(), ...widening, truncateTo(most === undefined ? {} : { most })];
}

/**
 * Sends hits through steps, one after the other, and tells what each did once it has given its result.
 *
 * ```text
 * hits     ---a----------|
 * dedup    ---b----------|
 * window   -----c--------|
 * result   -----c--------|       report: dedup, then window
 * ```
 *
 * Unsubscribing ends the step that is at work. A step that fails is the failure of all. `now` gives milliseconds.
 */
export function processHits(
  processors: readonly PostProcessor[],
  report: (done: ProcessorReport) => void = () => {},
  now: () => number = () => performance.now(),
): OperatorFunction<readonly FoundPassage[], readonly FoundPassage[]> {
  return (source) =>
    processors.reduce<Observable<readonly FoundPassage[]>>(
      (hits$, { name, process }) =>
        defer(() => {
          let count = 0;
          let startedAt = 0;
          const counted$ = hits$.pipe(
            tap((hits) => {
              count = hits.length;
              startedAt = now();
            }),
          );
          return process(counted$).pipe(
            tap((hits) => report({ name, in: count, out: hits.length, ms: now() - startedAt })),
          );
        }),
      source,
    );
}
