/** Whose document is parsed next. */
import type { WaitingDataset } from '../records/knowledge-store.js';

/** A dataset of a tenant. */
export interface TurnPlace {
  readonly tenant: string;
  readonly datasetId: string;
}

/** The turns of one process. */
export interface Turns {
  /**
   * Chooses among datasets with documents that wait, and counts the choice as at work until `end`: the tenant with the fewest documents at
   * work, of equal ones the one that was chosen the longest time ago; of its datasets by the same rule. Undefined without any.
   */
  choose(waiting: readonly WaitingDataset[]): TurnPlace | undefined;
  /** A document is not at work any more. */
  end(place: TurnPlace): void;
  /** Does work behind all that was given before, so that two choices never overlap. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes turns in which nothing was chosen yet. */
export function createTurns(): Turns {
  /** Documents of this process at work, and the number of the last choice, by tenant and by dataset. */
  const active = new Map<string, number>();
  const chosen = new Map<string, number>();
  let choices = 0;
  let last: Promise<unknown> = Promise.resolve();

  const best = <T>(all: readonly T[], keyOf: (one: T) => string, activeOf: (one: T) => number): T | undefined => {
    const rank = (one: T): readonly [number, number] => [
      Math.max(activeOf(one), active.get(keyOf(one)) ?? 0),
      chosen.get(keyOf(one)) ?? 0,
    ];
    let found: T | undefined;
    for (const one of all) if (found === undefined || isBefore(rank(one), rank(found))) found = one;
    return found;
  };
  const count = (key: string, by: 1 | -1): void => {
    const now = (active.get(key) ?? 0) + by;
    if (now > 0) active.set(key, now);
    else active.delete(key);
  };

  return {
    choose(waiting) {
      forget(waiting);
      const tenants = [...new Set(waiting.map(({ tenant }) => tenant))];
      const activeOf = (tenant: string) =>
        waiting.reduce((sum, one) => sum + (one.tenant === tenant ? one.active : 0), 0);
      const tenant = best(tenants, tenantKey, activeOf);
      const own = waiting.filter((one) => one.tenant === tenant);
      const dataset = best(own, datasetKey, (one) => one.active);
      if (dataset === undefined) return undefined;
      choices += 1;
      for (const key of [tenantKey(dataset.tenant), datasetKey(dataset)]) {
        chosen.set(key, choices);
        count(key, 1);
      }
      return { tenant: dataset.tenant, datasetId: dataset.datasetId };
    },
    end(place) {
      count(tenantKey(place.tenant), -1);
      count(datasetKey(place), -1);
    },
    inTurn(work) {
      const done = last.then(work);
      last = done.catch(() => {});
      return done;
    },
  };

  /** Those of whom nothing waits begin anew later. */
  function forget(waiting: readonly WaitingDataset[]): void {
    if (chosen.size <= 2 * waiting.length + KEPT_TURNS) return;
    const keys = new Set(waiting.flatMap((one) => [tenantKey(one.tenant), datasetKey(one)]));
    for (const key of chosen.keys()) if (!keys.has(key)) chosen.delete(key);
  }
}

/** Turns that are remembered of datasets of which nothing waits. */
const KEPT_TURNS = 1_000;

function isBefore(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] === other[0] ? one[1] < other[1] : one[0] < other[0];
}

function tenantKey(tenant: string): string {
  return JSON.stringify([tenant]);
}

function datasetKey({ tenant, datasetId }: TurnPlace): string {
  return JSON.stringify([tenant, datasetId]);
}
