/** What a click on a node of the canvas means for the run beside it. */
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { distinctUntilChanged, map, of } from 'rxjs';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { changeQuery } from '../parts/location.js';
import { useObservable } from '../parts/use-observable.js';
import { STEP, stepOfNode } from '../trace/steps.js';
import type { RunStore } from './run-store.js';
import type { Tab } from './tabs.js';
import type { Turn } from './turns.js';

export interface StepsOptions {
  /** The run that is shown. */
  readonly store: RunStore | undefined;
  /** Its turn. */
  readonly turn: Turn | undefined;
  /** Which view of the run is open. */
  readonly tab: Tab;
  /** Number of the event that is shown; null for the newest. */
  readonly at: string | null;
  /** Whether the document was changed on this page. */
  readonly isEdited: boolean;
  readonly onSelect: (id: string | undefined) => void;
}

export interface Steps {
  /** A run is read that is over and was not begun here: a click on a node asks what it did, not how it is set. */
  readonly isReading: boolean;
  /** Chooses a node on the canvas. The same function as long as the screen is. */
  readonly choose: (id: string | undefined) => void;
}

/**
 * Where a run is read, a click on a node opens the step in which it did its part; the form is a double click away. In the trace it does so
 * with every run. Elsewhere it opens the form.
 */
export function useSteps({ store, turn, tab, at, isEdited, onSelect }: StepsOptions): Steps {
  const isOver = useIsOver(store);
  const isReading = isOver && turn?.isNew !== true && !isEdited;
  const newest = useRef({ store, tab, at, isReading, onSelect });
  useEffect(() => {
    newest.current = { store, tab, at, isReading, onSelect };
  });
  const choose = useCallback((id: string | undefined) => {
    const now = newest.current;
    now.onSelect(id);
    if (id === undefined || now.store === undefined) return;
    if (now.tab !== 'trace' && !(now.tab === 'run' && now.isReading)) return;
    const step = stepOfNode(now.store.picture, id, now.at === null ? undefined : Number(now.at));
    if (step !== undefined) changeQuery({ tab: 'trace', [STEP]: step.ordinal });
  }, []);
  return { isReading, choose };
}

const OVER: ReadonlySet<RunPicture['status']> = new Set(['succeeded', 'failed', 'cancelled']);

/** Whether a run has ended, as far as its events have come. */
function useIsOver(store: RunStore | undefined): boolean {
  const isOver$ = useMemo(() => {
    if (store === undefined) return of(false);
    return store.picture$.pipe(
      map(({ status }) => OVER.has(status)),
      distinctUntilChanged(),
    );
  }, [store]);
  return useObservable(isOver$, false);
}
