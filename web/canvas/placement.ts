/** Where everything lies: at once where the file says it, else as soon as the worker has found it. */
import { useMemo } from 'react';
import { catchError, defer, map, type Observable, of } from 'rxjs';
import { retryWith } from '../../src/operators/retry-with.js';
import { pauseMs } from '../parts/pause-ms.js';
import { useObservable } from '../parts/use-observable.js';
import type { Drawing } from './drawing.js';
import { layOut } from './layout/lay-out.js';
import { layOutApart } from './layout/lay-out-apart.js';
import { type Placement, type Scene, sceneOf } from './layout/scene.js';

/** The placement of a drawing; undefined while it is being found. `isTidied` leaves the places of the file out. */
export function usePlacement(drawing: Drawing, isTidied: boolean): Placement | undefined {
  const { now, later$ } = useMemo(() => {
    const scene = sceneOf(drawing, isTidied);
    const placement = layOut(scene);
    return { now: placement, later$: placement === undefined ? find(scene) : of(placement) };
  }, [drawing, isTidied]);
  return useObservable<Placement | undefined>(later$, now);
}

/** Without a worker the page does it itself, and asks for its own file of the layout until that comes: there is no canvas without it. */
function find(scene: Scene): Observable<Placement | undefined> {
  return layOutApart(scene).pipe(
    catchError((error: unknown) => {
      console.warn('the layout goes on without a worker', error);
      return defer(async () => (await import('./layout/arrange.js')).arrange).pipe(
        retryWith({ delayMs: pauseMs, isRetryable: () => true }),
        map((arrange) => layOut(scene, arrange)),
      );
    }),
  );
}
