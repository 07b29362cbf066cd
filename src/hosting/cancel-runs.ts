import { endWith, firstValueFrom, from, ignoreElements, of, race, timer } from 'rxjs';
import type { RunRecord } from '../records/stores.js';
import type { HubStores, LiveFilter, RunHub } from './run-hub.js';

/** What cancelling works with. */
export interface CancelParts {
  readonly stores: HubStores;
  readonly hub: RunHub;
}

/** More runs of one agent than that are not looked for in other processes at once. */
const MOST_RUNS = 10_000;

/** Beyond the number of any event. */
const AFTER_ALL = 2_000_000_000;

/** Cancels what matches and is going on, in this process and in others, which are asked to. Gives what others were asked for. */
export async function cancelRuns(
  { stores, hub }: CancelParts,
  tenant: string,
  which: LiveFilter,
): Promise<readonly RunRecord[]> {
  hub.cancel(tenant, which);
  const elsewhere = (await runningOf(stores, tenant, which)).filter(({ id }) => hub.find(tenant, id) === undefined);
  // By the run's own id: a later run of the same session must not hear of it.
  await Promise.all(elsewhere.map(({ id }) => stores.signals.requestCancel(id)));
  return elsewhere;
}

/** Resolves when a run is over, wherever it is at work, at the latest after `patienceMs`. */
export async function whenOver({ hub }: CancelParts, tenant: string, run: string, patienceMs: number): Promise<void> {
  const end$ = hub.follow(tenant, run, { after: AFTER_ALL, ready$: of(true) });
  const live = hub.find(tenant, run);
  const ended$ = live === undefined ? end$.pipe(ignoreElements(), endWith(undefined)) : from(live.ended);
  await firstValueFrom(race<unknown[]>(ended$, timer(patienceMs)));
}

/** Runs that match and have not ended, as far as the store knows. */
async function runningOf(
  stores: HubStores,
  tenant: string,
  { run, agentId, sessionId }: LiveFilter,
): Promise<readonly RunRecord[]> {
  const id = run ?? (sessionId === undefined ? undefined : await lastRunOf(stores, tenant, sessionId));
  if (id !== undefined) {
    const record = await stores.runs.find(tenant, id);
    const isMeant = record?.status === 'running' && (agentId === undefined || record.agentId === agentId);
    return isMeant && (sessionId === undefined || record.sessionId === sessionId) ? [record] : [];
  }
  if (agentId === undefined || sessionId !== undefined) return [];
  const query = { status: 'running', offset: 0, limit: MOST_RUNS } as const;
  return (await stores.runs.list(tenant, agentId, query)).items;
}

async function lastRunOf({ sessions }: HubStores, tenant: string, sessionId: string): Promise<string | undefined> {
  return (await sessions.find(tenant, sessionId))?.lastRun;
}
