/** What runs are made with, whether they begin or go on. */
import type { TurnOptions } from '../canvas/turn.js';
import type { Services } from '../components/services.js';
import type { Durability } from '../graph/log.js';
import type { JsonObject } from '../json.js';
import type { SessionRecord } from '../records/stores.js';
import type { OpenCanvas } from './canvas-opener.js';
import type { EngineHooks } from './live-run-options.js';
import type { HubStores, RunHub } from './run-hub.js';
import { servicesOfTenant } from './tenant-services.js';

export interface TurnStarterOptions {
  readonly stores: HubStores;
  readonly hub: RunHub;
  /** When settlements are kept. */
  readonly durability: Durability;
  readonly openCanvas: OpenCanvas;
  /** Services of every run; files, session and headers are added per run. */
  readonly services: Services;
  /** Nodes of one run that may work at once. */
  readonly concurrency: number;
  /** Milliseconds after which a run fails. */
  readonly timeoutMs: number;
  /** Bytes of a run's journal that forks may go back in. */
  readonly historyBytes: number;
  readonly now: () => number;
}

/** What the engine is given for every run. */
export function engineOptions(
  { concurrency, durability, historyBytes }: TurnStarterOptions,
  hooks: EngineHooks,
  services: Services,
): TurnOptions {
  return { ...hooks, durability, historyBytes, services, concurrency };
}

/** Services of one run. */
export function servicesFor(
  { stores, services }: TurnStarterOptions,
  tenant: string,
  session: Pick<SessionRecord, 'id' | 'agentId'>,
  headers: JsonObject,
): Services {
  return {
    ...servicesOfTenant({ services, stores }, tenant),
    session: { id: session.id, agent: session.agentId },
    headers,
  };
}
