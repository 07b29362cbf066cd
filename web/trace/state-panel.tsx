/** The values of a run. */
import { useObservable } from '../parts/use-observable.js';
import type { RunStore } from '../run/run-store.js';

export function StatePanel({ store }: { readonly store: RunStore }) {
  const { outputs } = useObservable(store.picture$, store.picture);
  return <pre>{JSON.stringify(outputs ?? null, undefined, 2)}</pre>;
}
