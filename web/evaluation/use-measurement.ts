/** A measurement that is at work: how far it is, and what it came to. */
import { useEffect, useRef, useState } from 'react';
import type { Observable, Subscription } from 'rxjs';
import type { JsonObject } from '../../src/json.js';
import type { Measured } from './in-parts.js';
import type { Slot } from './use-results.js';

/** A file of golden questions. */
export interface GoldenFile {
  readonly name: string;
  readonly questions: readonly JsonObject[];
}

/** What each kind of measurement is given. */
export interface MeasurementProps {
  readonly file: GoldenFile | undefined;
  /** Where the result goes. */
  readonly slot: Slot;
  readonly measurement: Measurement;
  readonly onResult: (slot: Slot, name: string, text: string) => void;
}

export interface Measurement {
  /** Undefined while none is at work. */
  readonly progress: Pick<Measured<unknown>, 'done' | 'of'> | undefined;
  readonly error: unknown;
  /** `whenDone` gets all questions, or those until it was stopped or failed, unless there are none. */
  readonly start: <T>(
    measured$: Observable<Measured<T>>,
    of: number,
    whenDone: (questions: readonly T[]) => void,
  ) => void;
  readonly stop: () => void;
  /** Says why none began. */
  readonly refuse: (error: unknown) => void;
}

/** One measurement at a time; it ends with the page. */
export function useMeasurement(): Measurement {
  const [progress, setProgress] = useState<Measurement['progress']>();
  const [error, refuse] = useState<unknown>();
  const running = useRef<Subscription>(undefined);
  const finish = useRef<() => void>(undefined);
  const stop = () => {
    running.current?.unsubscribe();
    finish.current?.();
  };
  useEffect(() => () => running.current?.unsubscribe(), []);
  const start: Measurement['start'] = <T>(
    measured$: Observable<Measured<T>>,
    of: number,
    whenDone: (questions: readonly T[]) => void,
  ) => {
    let measured: readonly T[] = [];
    refuse(undefined);
    setProgress({ done: 0, of });
    finish.current = () => {
      finish.current = undefined;
      setProgress(undefined);
      // What models were paid for is not lost.
      if (measured.length > 0) whenDone(measured);
    };
    running.current = measured$.subscribe({
      next: (news) => {
        measured = news.questions;
        setProgress(news);
      },
      error: (failure: unknown) => {
        finish.current?.();
        refuse(failure);
      },
      complete: () => finish.current?.(),
    });
  };
  return { progress, error, start, stop, refuse };
}
