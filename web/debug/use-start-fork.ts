/** Running on from an event, and looking at both runs side by side. */
import { useState } from 'react';
import { navigate } from '../parts/location.js';
import { useClient } from '../shell/studio.js';
import type { RunSource } from '../trace/run-source.js';
import { compareAddress } from './compare-address.js';
import { type ForkChange, startFork } from './start-fork.js';

export interface ForkStarter {
  /** Starts the run and goes to the comparison. A second call while it is busy starts nothing. */
  readonly start: (at: number, change: ForkChange) => Promise<void>;
  readonly isBusy: boolean;
  /** Why the last one did not start. */
  readonly error: unknown;
}

export function useStartFork({ agent, run }: Pick<RunSource, 'agent' | 'run'>): ForkStarter {
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = async (at: number, change: ForkChange) => {
    if (isBusy) return;
    setIsBusy(true);
    setError(undefined);
    try {
      navigate(compareAddress(agent, run, await startFork(client, { agent, run, at, change })));
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return { start, isBusy, error };
}
