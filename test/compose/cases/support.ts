/** What the cases of composition share. */
import { lastValueFrom, Observable, toArray } from 'rxjs';
import { expect } from 'vitest';
import { type StepLike, type StepRunOptions, stream } from '../../../src/index.js';

/** All chunks that a step gives. */
export function chunksOf<I, O>(step: StepLike<I, O>, input: I, options?: StepRunOptions): Promise<O[]> {
  return lastValueFrom(stream(step, input, options).pipe(toArray()));
}

/** Values one after the other, each in a turn of the event loop of its own. */
export function spaced<T>(...values: readonly T[]): Observable<T> {
  return new Observable((subscriber) => {
    let at = 0;
    let timer: NodeJS.Immediate;
    const next = (): void => {
      if (at === values.length) {
        subscriber.complete();
        return;
      }
      subscriber.next(values[at] as T);
      at += 1;
      timer = setImmediate(next);
    };
    timer = setImmediate(next);
    return () => clearImmediate(timer);
  });
}

/** A promise that is settled from outside. */
export function gate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Waits for so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** An error with a code, and a message that says so much. */
export const failure = (code: string, message: RegExp = /./, more: object = {}) =>
  expect.objectContaining({ code, message: expect.stringMatching(message), ...more });
