/** The run of a store, and the moment of it that the address names. */
import { useMemo } from 'react';
import { throttle, timer } from 'rxjs';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { useQueryValues } from '../parts/location.js';
import { useObservable } from '../parts/use-observable.js';
import type { RunSource } from './run-source.js';

/** A run, now and at the chosen moment. */
export interface ShownRun {
  /** As it is now. */
  readonly live: RunPicture;
  /** Number of the event that is shown; undefined while the newest is. */
  readonly at: number | undefined;
  /** As it was after that event. */
  readonly shown: RunPicture;
  /** Shows the run after an event; undefined for the newest, whatever comes. */
  readonly seek: (seq: number | undefined) => void;
}

/** Runs with more activations are laid out less often while they grow, since that takes longer than a frame. */
const MANY = 2_000;
const SLOW_MS = 1_000;

export function useRun(store: RunSource): ShownRun {
  const live = useObservable(
    useMemo(() => calmed(store), [store]),
    store.picture,
  );
  const [query, change] = useQueryValues();
  const named = query.get('at');
  const wanted = named === null || !/^\d{1,15}$/.test(named) ? undefined : Number(named);
  const { lastSeq } = live;
  const at = wanted === undefined || lastSeq === 0 ? undefined : Math.min(wanted, lastSeq);
  // The picture of a past event does not change as the run goes on.
  const shown = useMemo(() => (at === undefined ? undefined : store.at(at)), [store, at]);
  return { live, at, shown: shown ?? live, seek: (seq) => change({ at: seq }) };
}

/** The last picture always comes. */
function calmed({ picture$ }: RunSource) {
  const pause = ({ activations }: RunPicture) => timer(activations > MANY ? SLOW_MS : 0);
  return picture$.pipe(throttle(pause, { leading: true, trailing: true }));
}
