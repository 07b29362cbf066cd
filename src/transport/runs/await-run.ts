import type { LiveRun } from '../../hosting/live-run.js';
import type { RunRecord } from '../../records/stores.js';
import type { HttpExchange } from '../http/types.js';

/** Waits for the end of a run; while the caller waits too, it counts as a client of the run. */
export async function awaitRun({ res }: HttpExchange, live: LiveRun): Promise<RunRecord> {
  const presence = live.clients.attach();
  const leave = (): void => presence.unsubscribe();
  res.once('close', leave);
  try {
    return await live.ended;
  } finally {
    res.off('close', leave);
    leave();
  }
}
