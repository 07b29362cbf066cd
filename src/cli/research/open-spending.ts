/** The limits of researches in a day, as the settings have them. */
import type { SharedStates } from '../../records/shared-states.js';
import type { DailySpending } from '../../records/spending.js';
import { createDailySpending } from '../../research/service/daily-spending.js';
import type { Settings } from '../../settings/read-settings.js';
import { createMemorySharedStates } from '../../stores/memory-shared-states.js';

/** Counts what researches of tenants spend in a day; nothing where no limit is set. Without states that processes share this one counts for itself. */
export function openSpending(
  settings: Settings['nodes'],
  states: SharedStates | undefined,
): { readonly spending?: DailySpending } {
  const limits = {
    tokens: settings.researchDayTokens || undefined,
    calls: settings.researchDayCalls || undefined,
    webRequests: settings.researchDayWebRequests || undefined,
    money: settings.researchDayMoney || undefined,
  };
  if (Object.values(limits).every((limit) => limit === undefined)) return {};
  return { spending: createDailySpending({ states: states ?? createMemorySharedStates(), limits, now: Date.now }) };
}
