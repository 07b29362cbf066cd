/** What each node of a run did, over time. */
import { useObservable } from '../parts/use-observable.js';
import type { RunStore } from '../run/run-store.js';

export interface TracePanelProps {
  readonly store: RunStore;
  /** Id of the node that is selected on the canvas. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

export function TracePanel({ store }: TracePanelProps) {
  const { nodes } = useObservable(store.picture$, store.picture);
  return (
    <ul>
      {[...nodes.values()].map(({ id, name, status }) => (
        <li key={id}>
          {name ?? id}: {status}
        </li>
      ))}
    </ul>
  );
}
