/** A run as the canvas shows it: beside the store of the canvas, and at most ten times a second. */
import { createContext, useContext, useMemo } from 'react';
import {
  asyncScheduler,
  BehaviorSubject,
  distinctUntilChanged,
  EMPTY,
  interval,
  map,
  type Observable,
  of,
  type SchedulerLike,
  shareReplay,
  startWith,
  switchMap,
  throttleTime,
} from 'rxjs';
import { type EdgePicture, edgeKey, type NodePicture, type RunPicture } from '../../../src/canvas/picture/picture.js';
import { useObservable } from '../../parts/use-observable.js';

/** Between two drawings of the same node. */
export const SHOWN_EVERY_MS = 100;

/** A picture and what time it is in it. */
interface Shown {
  readonly picture: RunPicture | undefined;
  /** Follows a run as it goes on: times go on between two events. */
  readonly isLive: boolean;
  /** When this page received it, by its own clock. */
  readonly receivedAtMs: number;
}

/** Holds the newest picture, and tells nodes and edges of what changed in it. Belongs to one screen; nothing but what changed is drawn again. */
export class LiveRun {
  readonly #given$ = new BehaviorSubject<Shown>({ picture: undefined, isLive: false, receivedAtMs: 0 });
  readonly #shown$: Observable<Shown>;
  readonly #now: () => number;
  /** The time in the run, in milliseconds since 1970 by the clock that wrote its events; goes on while the run is followed. */
  readonly time$: Observable<number>;

  constructor(now: () => number = Date.now, scheduler: SchedulerLike = asyncScheduler) {
    this.#now = now;
    this.#shown$ = this.#given$.pipe(
      throttleTime(SHOWN_EVERY_MS, scheduler, { leading: true, trailing: true }),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    this.time$ = this.#shown$.pipe(
      switchMap((shown) => this.#timeOf(shown, scheduler)),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
  }

  show(picture: RunPicture | undefined, isLive: boolean): void {
    const { value } = this.#given$;
    if (value.picture === picture && value.isLive === isLive) return;
    this.#given$.next({ picture, isLive, receivedAtMs: this.#now() });
  }

  /** The newest picture; undefined without a run. */
  get picture(): RunPicture | undefined {
    return this.#given$.value.picture;
  }

  /** What is known of a node; undefined without a run. */
  node(id: string): Observable<NodePicture | undefined> {
    return this.#shown$.pipe(
      map(({ picture }) => picture?.nodes.get(id)),
      distinctUntilChanged(),
    );
  }

  edge(from: string, to: string): Observable<EdgePicture | undefined> {
    return this.#shown$.pipe(
      map(({ picture }) => picture?.edges.get(edgeKey(from, to))),
      distinctUntilChanged(),
    );
  }

  /** Whether a run is shown at all. */
  get isShown$(): Observable<boolean> {
    return this.#shown$.pipe(
      map(({ picture }) => picture !== undefined && picture.lastSeq > 0),
      distinctUntilChanged(),
    );
  }

  #timeOf({ picture, isLive, receivedAtMs }: Shown, scheduler: SchedulerLike): Observable<number> {
    const lastAtMs = picture?.lastAtMs;
    if (lastAtMs === undefined) return EMPTY;
    if (!isLive) return of(lastAtMs);
    return interval(SHOWN_EVERY_MS, scheduler).pipe(
      startWith(0),
      map(() => lastAtMs + Math.max(0, this.#now() - receivedAtMs)),
    );
  }
}

const LiveContext = createContext<LiveRun>(new LiveRun());

export const LiveProvider = LiveContext;

/** The state of a node, as it changes. */
export function useNodePicture(id: string): NodePicture | undefined {
  const live = useContext(LiveContext);
  return useObservable(
    useMemo(() => live.node(id), [live, id]),
    undefined,
  );
}

/** How an edge was taken, as it changes. */
export function useEdgePicture(from: string, to: string): EdgePicture | undefined {
  const live = useContext(LiveContext);
  return useObservable(
    useMemo(() => live.edge(from, to), [live, from, to]),
    undefined,
  );
}

/** Whether there is a run to show. */
export function useIsRunShown(): boolean {
  const live = useContext(LiveContext);
  return useObservable(
    useMemo(() => live.isShown$, [live]),
    false,
  );
}

/** The time in the run; `before` until it is known. */
export function useRunTime(before: number): number {
  const live = useContext(LiveContext);
  return useObservable(
    useMemo(() => live.time$, [live]),
    before,
  );
}
