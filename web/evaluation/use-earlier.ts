/** The earlier results of this browser, as a list that follows what is kept and forgotten. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSystem } from '../shell/use-system.js';
import { type EarlierResult, EarlierResults } from './earlier-results.js';
import type { EvaluationResult } from './evaluation-result.js';

export interface Earlier {
  /** Empty where the browser keeps nothing. */
  readonly results: readonly EarlierResult[];
  readonly keep: (result: EvaluationResult, text: string) => void;
  readonly textOf: (id: string) => Promise<string | undefined>;
  readonly forget: (id: string) => void;
}

export function useEarlier(): Earlier {
  const { tenant = '' } = useSystem().data ?? {};
  const kept = useMemo(() => new EarlierResults(tenant), [tenant]);
  const queries = useQueryClient();
  const queryKey = ['evaluations', 'earlier', tenant];
  const { data: results = [] } = useQuery({ queryKey, queryFn: () => kept.list().catch(() => []) });
  const changed = (change: Promise<void>) => {
    // Without room for them there is no list; what is shown does not need it.
    void change.catch(() => undefined).then(() => queries.invalidateQueries({ queryKey }));
  };
  return {
    results,
    keep: (result, text) => changed(kept.keep(result, text)),
    textOf: (id) => kept.textOf(id).catch(() => undefined),
    forget: (id) => changed(kept.forget(id)),
  };
}
