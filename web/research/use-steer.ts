/** Changes of a research by its user: what was sent, and what came of it. */
import { useCallback, useState } from 'react';
import type { Steer } from '../../src/research/steer.js';
import { useClient } from '../shell/studio.js';
import { cancelResearch, steerResearch } from './research-server.js';
import type { ResearchStore } from './research-store.js';

export interface Steering {
  /** Gives whether the server has kept it. */
  readonly steer: (steer: Steer) => Promise<boolean>;
  /** `finish`: with a report. */
  readonly stop: (finish: boolean) => Promise<boolean>;
  readonly isBusy: boolean;
  /** The last change was kept. */
  readonly isKept: boolean;
  /** Why the last change was not taken. */
  readonly error: unknown;
}

export function useSteer(run: string, store: ResearchStore): Steering {
  const client = useClient();
  const [state, setState] = useState({ isBusy: false, isKept: false, error: undefined as unknown });
  const send = useCallback(async (change: () => Promise<void>) => {
    setState({ isBusy: true, isKept: false, error: undefined });
    try {
      await change();
      setState({ isBusy: false, isKept: true, error: undefined });
      return true;
    } catch (error) {
      setState({ isBusy: false, isKept: false, error });
      return false;
    }
  }, []);
  const steer = useCallback((one: Steer) => send(() => steerResearch(client, run, one)), [client, run, send]);
  const stop = useCallback(
    (finish: boolean) =>
      send(async () => {
        if (!finish) store.setStopping(true);
        try {
          await cancelResearch(client, run, finish);
        } catch (error) {
          store.setStopping(false);
          throw error;
        }
      }),
    [client, run, send, store],
  );
  return { ...state, steer, stop };
}
