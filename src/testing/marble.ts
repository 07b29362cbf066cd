import type { Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import type { EngineError } from '../errors.js';
import { invalidOption, requireList, requireMethods, requireObject } from '../operators/invalid-option.js';

/** What plays diagrams: the scheduler of `inVirtualTime`, or a `TestScheduler` of one's own inside of its `run`. */
export type MarbleScheduler = Pick<TestScheduler, 'createColdObservable' | 'now'>;

/** What the letters of diagrams stand for; a letter that is not there stands for itself. `#` is the error. */
export type MarbleValues<T> = { readonly [letter: string]: T | string | Error };

/** When something was subscribed to and unsubscribed from, in virtual milliseconds. */
export interface SubscriptionFrames {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}

/** A diagram that can be played. */
export interface PlayedDiagram {
  readonly values$: Observable<unknown>;
  readonly subscriptions: SubscriptionFrames[];
}

/** Diagrams, ready to be played one after the other. @throws EngineError OPTION_INVALID for what is no diagram */
export function playDiagrams(
  owner: string,
  scheduler: MarbleScheduler,
  diagrams: readonly string[],
  values: MarbleValues<unknown>,
  error: EngineError,
): readonly PlayedDiagram[] {
  requireMethods(owner, 'scheduler', scheduler, ['createColdObservable', 'now'], 'the scheduler of inVirtualTime');
  requireList(owner, 'diagrams', diagrams, 'a list of marble diagrams');
  requireObject(owner, 'values', values, 'an object of what letters stand for');
  return diagrams.map((diagram) => {
    if (typeof diagram !== 'string') throw invalidOption(owner, 'diagrams', 'a list of marble diagrams', diagram);
    const letters = Object.fromEntries([...diagram].map((letter) => [letter, letter]));
    try {
      const cold = scheduler.createColdObservable<unknown>(diagram, { ...letters, ...values }, values['#'] ?? error);
      return { values$: cold, subscriptions: cold.subscriptions };
    } catch {
      throw invalidOption(owner, 'diagrams', 'marble diagrams such as "--a--(b|)", without "^" and "!"', diagram);
    }
  });
}
