/** Layouts in a worker, which starts with the first question and ends some seconds behind the last. */
import { filter, fromEvent, map, merge, Observable, ReplaySubject, share, switchMap, take, tap, timer } from 'rxjs';
import { createWorker } from '../../parts/create-worker.js';
import type { LayoutAnswer, LayoutQuestion, Placement, Scene } from './scene.js';
import workerUrl from './worker.ts?worker&url';

const KEPT_MS = 10_000;

const worker$ = new Observable<Worker>((subscriber) => {
  const worker = createWorker(workerUrl);
  subscriber.next(worker);
  return () => worker.terminate();
}).pipe(share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => timer(KEPT_MS) }));

/** The placement of a scene, once. Fails when the worker does, such as in a browser that forbids it. */
export function layOutApart(scene: Scene): Observable<Placement> {
  return worker$.pipe(
    switchMap((worker) => {
      const number = Math.random();
      const failed$ = fromEvent<ErrorEvent>(worker, 'error').pipe(
        tap(({ message }) => {
          throw new Error(`The layout failed: ${message}`);
        }),
      );
      const answers$ = fromEvent<MessageEvent<LayoutAnswer>>(worker, 'message');
      const answer$ = merge(answers$, failed$ as Observable<never>).pipe(
        map(({ data }) => data),
        filter((answer) => answer.number === number),
      );
      const question: LayoutQuestion = { number, scene };
      return new Observable<Placement>((subscriber) => {
        const subscription = answer$.pipe(map(({ placement }) => placement)).subscribe(subscriber);
        worker.postMessage(question);
        return subscription;
      });
    }),
    take(1),
  );
}
