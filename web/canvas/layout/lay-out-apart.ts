/** Layouts in a worker, which starts with the first question and ends some seconds behind the last. */
import { filter, fromEvent, map, Observable, ReplaySubject, share, switchMap, take, timer } from 'rxjs';
import { createWorker } from '../../parts/create-worker.js';
import type { LayoutAnswer, LayoutQuestion, Placement, Scene } from './scene.js';
import workerUrl from './worker.ts?worker&url';

const KEPT_MS = 10_000;

/** A worker that fails ends it for all who wait; the next question starts another one. */
const worker$ = new Observable<Worker>((subscriber) => {
  const worker = createWorker(workerUrl);
  subscriber.next(worker);
  const failure = fromEvent<ErrorEvent>(worker, 'error').subscribe(({ message }) => {
    subscriber.error(new Error(`The layout failed: ${message ?? 'its file cannot be loaded.'}`));
  });
  return () => {
    failure.unsubscribe();
    worker.terminate();
  };
}).pipe(share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => timer(KEPT_MS) }));

/** The placement of a scene, once. Fails when the worker does, such as in a browser that forbids it. */
export function layOutApart(scene: Scene): Observable<Placement> {
  return worker$.pipe(
    switchMap((worker) => {
      const question: LayoutQuestion = { number: Math.random(), scene };
      return new Observable<Placement>((subscriber) => {
        const answers$ = fromEvent<MessageEvent<LayoutAnswer>>(worker, 'message').pipe(
          map(({ data }) => data),
          filter(({ number }) => number === question.number),
          map(({ placement }) => placement),
        );
        const subscription = answers$.subscribe(subscriber);
        worker.postMessage(question);
        return subscription;
      });
    }),
    take(1),
  );
}
