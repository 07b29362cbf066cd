/** Keeps lists of runs up to date. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { NO_NEWS } from '../api/run-news.js';
import { useObservable } from '../parts/use-observable.js';
import { useStudio } from '../shell/studio.js';

/** How often a list is asked for that is told of changes: what another process says may be lost. In milliseconds. */
const LOOK_EVERY_MS = 60_000;

/** What begins the keys of queries whose answers depend on runs. */
const LISTS = ['runs', 'sessions'];

/** How often a list asks by itself, in milliseconds, while it is told of changes, and otherwise. */
export function useLookEvery(otherwiseMs: number): number {
  const { isLive } = useObservable(useStudio().runNews$, NO_NEWS);
  return isLive ? LOOK_EVERY_MS : otherwiseMs;
}

/** Asks for every list that is shown again when runs have changed; for one part of the page, which is always there. */
export function useRunUpdates(): void {
  const { changes } = useObservable(useStudio().runNews$, NO_NEWS);
  const queries = useQueryClient();
  useEffect(() => {
    if (changes === 0) return;
    for (const list of LISTS) void queries.invalidateQueries({ queryKey: [list] });
  }, [changes, queries]);
}
