/** Metrics of researches, from what their nodes tell. */
import { isJsonObject, type JsonObject } from '../json.js';
import type { MetricRegistry } from './metric-registry.js';
import type { ResearchTally } from './research-tally.js';

/** Bounds of rounds: as many as the depths allow, and some more. */
const ROUNDS = [1, 2, 3, 4, 5, 8];

/** Bounds of the share of a budget; above 1 a call took more than was expected. */
const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1];

/** Counts what researches tell. */
export interface ResearchMeters {
  /** An event of a research, as its node tells it. */
  told(event: JsonObject): void;
  /** A research is over: with `final` as that says, else as `outcome` does. One whose process is lost is over in the process that goes on with it. */
  ended(tally: ResearchTally, outcome: 'failed' | 'cancelled'): void;
}

/** Counts researches into a registry. */
export function createResearchMeters(registry: MetricRegistry): ResearchMeters {
  const ends = registry.counter('runnel_research_ends_total', 'Researches that ended, by what they came to.', [
    'outcome',
  ]);
  const rounds = registry.histogram('runnel_research_rounds', 'Rounds that researches took.', [], ROUNDS);
  const verdicts = registry.counter(
    'runnel_research_verdicts_total',
    'Findings of researches that ended, by verdict.',
    ['verdict'],
  );
  const searches = registry.histogram(
    'runnel_research_search_duration_seconds',
    'How long searches of researches took, by where they searched.',
    ['where'],
  );
  const shares = registry.histogram(
    'runnel_research_budget_share',
    'Share of each limit that researches spent, where they have that limit.',
    ['limit'],
    SHARES,
  );
  const exhausted = registry.counter(
    'runnel_research_exhausted_total',
    'Researches that a limit cut short, by the first one that did.',
    ['limit', 'per'],
  );
  const spent = (budget: JsonObject): void => {
    const limits = isJsonObject(budget.of) ? budget.of : {};
    for (const [name, limit] of Object.entries(limits)) {
      const used = Object.hasOwn(budget, name) ? budget[name] : undefined;
      // Time is no count, money may be unknown, and of nothing there is no share.
      if (typeof used === 'number' && typeof limit === 'number' && limit > 0) shares.observe(used / limit, name);
    }
    const { exhausted: refused } = budget;
    if (isJsonObject(refused)) exhausted.add(1, String(refused.limit), String(refused.per));
  };
  return {
    told({ type, where, ms }) {
      if (type === 'searched' && typeof ms === 'number') searches.observe(ms / 1_000, String(where));
    },
    ended(tally, outcome) {
      const { final, budget } = tally;
      ends.add(1, final === undefined ? outcome : String(final.outcome));
      rounds.observe(tally.rounds);
      for (const verdict of tally.verdicts.values()) verdicts.add(1, verdict);
      if (budget !== undefined) spent(budget);
    },
  };
}
