/** Searches of graphs that ask a model: theirs is that of the research, and so is the budget. */
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import { EngineError } from '../../src/errors.js';
import type { Json, JsonObject } from '../../src/json.js';
import type { GraphSearchKind } from '../../src/knowledge/graph/graph-search.js';
import type { GraphsQuery, KnowledgeSearch } from '../../src/knowledge/knowledge-search.js';
import { createModels } from '../../src/models/router.js';
import { Budget, type BudgetLimits, type CallPrice } from '../../src/research/calls/budget.js';
import type { Journal } from '../../src/research/calls/journal.js';
import type { ResearchEvent } from '../../src/research/research-events.js';
import { createDailySpending } from '../../src/research/service/daily-spending.js';
import { graphPlace, keptPlace } from '../../src/research/service/places.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { createMemorySharedStates } from '../../src/stores/memory-shared-states.js';

type GraphSearch = NonNullable<KnowledgeSearch['graphSearch']>;

/** A search that says what it was asked, and takes this. */
function taking(spent: { readonly calls: number; readonly tokens: number }) {
  const asked: GraphsQuery[] = [];
  const search: GraphSearch = async (query) => {
    asked.push(query);
    const one = { promptTokens: 200, completionTokens: 150, totalTokens: 350 };
    for (let call = 0; query.budget !== undefined && call < spent.calls; call += 1) query.onCall?.(one);
    return { hits: [], spent: query.budget === undefined ? { calls: 0, tokens: 0 } : spent };
  };
  return { asked, search };
}

function journalOf(kept: Map<string, Json>): Journal {
  return { find: (key) => kept.get(key), keep: (key, value) => void kept.set(key, value) };
}

const LIMITS = { tokens: 40_000, calls: 40 };
const ask = (search: GraphSearch, kind: GraphSearchKind, budget: Budget) =>
  firstValueFrom(graphPlace(search, undefined, kind, { model: 'wise', budget }).find('What is there?', 5));

it.each(['global', 'drift'] as const)(
  '%s asks the model of the research, and what it took is of the budget',
  async (kind) => {
    const budget = new Budget(LIMITS);
    const { asked, search } = taking({ calls: 3, tokens: 2_500 });
    await ask(search, kind, budget);
    expect(asked).toMatchObject([{ kind, model: 'wise', budget: { calls: 9, tokens: 9_000 } }]);
    expect(budget.spent).toMatchObject({ calls: 3, tokens: 2_500 });
  },
);

it.each<[string, GraphSearchKind, BudgetLimits]>([
  ['one around entities', 'local', LIMITS],
  ['one whose budget has no call left', 'global', { calls: 1 }],
  ['one whose budget has too few tokens left', 'drift', { tokens: 3_000 }],
])('%s goes by rules', async (_, kind, limits) => {
  const budget = new Budget(limits);
  const { asked, search } = taking({ calls: 3, tokens: 2_500 });
  await ask(search, kind, budget);
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toHaveProperty('budget');
  expect(asked[0]).not.toHaveProperty('model');
  expect(budget.spent).toMatchObject({ calls: 0, tokens: 0 });
});

it('ten at once hold no more than there is, in money, too, and with what the day of the tenant allows', async () => {
  const price: CallPrice = { input: 1, output: 4 };
  const day = createDailySpending({ states: createMemorySharedStates(), limits: { calls: 12 }, now: Date.now });
  const held = { calls: 0, tokens: 0 };
  const budget = new Budget({ tokens: 400_000, calls: 40, money: 0.2 }, { price, day });
  const search: GraphSearch = async ({ budget: room }) => {
    held.calls += room?.calls ?? 0;
    held.tokens += room?.tokens ?? 0;
    const took = { calls: Math.min(1, room?.calls ?? 0), tokens: room?.tokens ?? 0 };
    return { hits: [], spent: took };
  };
  await Promise.all(Array.from({ length: 10 }, () => ask(search, 'global', budget)));
  expect(held.calls).toBeGreaterThan(0);
  expect(held.calls).toBeLessThanOrEqual(12);
  expect((held.tokens * price.output) / 1_000_000).toBeLessThanOrEqual(0.2);
  await expect.poll(async () => (await day.today()).calls).toBe(budget.spent.calls);
  expect(budget.spent.money).toBeLessThanOrEqual(0.2);
});

it('a model that graphs do not know leaves the search to rules, and a refusal takes nothing', async () => {
  const budget = new Budget(LIMITS);
  const { asked, search } = taking({ calls: 1, tokens: 1 });
  const picky: GraphSearch = (query, signal) => {
    if (query.model !== undefined) return Promise.reject(new EngineError('MODEL_UNKNOWN', 'There is none.'));
    return search(query, signal);
  };
  await ask(picky, 'global', budget);
  expect(asked).toHaveLength(1);
  const none: GraphSearch = () => Promise.reject(new EngineError('GRAPH_MISSING', 'There is none.'));
  expect(await ask(none, 'global', budget)).toEqual([]);
  expect(budget.spent).toMatchObject({ calls: 0, tokens: 0 });
});

it('behind a crash nothing is spent twice: what was found is kept, and what was cut off counts as the most', async () => {
  const kept = new Map<string, Json>();
  const journal = journalOf(kept);
  const { asked, search } = taking({ calls: 3, tokens: 2_500 });
  const placeOf = (budget: Budget, by: GraphSearch) =>
    keptPlace(graphPlace(by, undefined, 'global', { model: '', budget }), journal, 'graph_global');
  await firstValueFrom(placeOf(new Budget(LIMITS, { journal }), search).find('What is there?', 5));
  const second = new Budget(LIMITS, { journal });
  await firstValueFrom(placeOf(second, search).find('What is there?', 5));
  expect(asked).toHaveLength(1);
  expect(second.spent).toMatchObject({ calls: 3, tokens: 2_500 });
  const cut = placeOf(second, () => new Promise(() => {}))
    .find('And what else?', 5)
    .subscribe();
  const third = new Budget(LIMITS, { journal: journalOf(new Map(kept)) });
  cut.unsubscribe();
  expect(third.spent).toMatchObject({ calls: 3 + 8, tokens: 2_500 + 8_375 });
});

it('a research tells its graphs which model to ask, and counts what they took', async () => {
  const { asked, search } = taking({ calls: 2, tokens: 700 });
  const knowledge: KnowledgeSearch = {
    search: async () => ({ hits: [], total: 0, documents: [] }),
    graphSearch: search,
  };
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  const canvas = loadCanvas({
    components: {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['node'], upstream: [] },
      node: { obj: { component_name: 'PlanExecuteReport', params: {} }, downstream: [], upstream: ['begin'] },
    },
  });
  const research = async (llm_id: string) => {
    asked.length = 0;
    const task = { task_id: 'a', description: 'Which themes are there?', tool: 'global_search', args: {} };
    const plan = { tasks: [{ ...task, priority: 1, depends_on: [], expects: '' }] } as unknown as JsonObject;
    const turn = { query: 'Which themes are there?', variables: { [RESEARCH_VARIABLE]: { plan, llm_id } } };
    const events = await lastValueFrom(runTurn(canvas, turn, { services: { knowledge, models } }).pipe(toArray()));
    const last = events.at(-1);
    const final =
      last?.type === 'run-settled'
        ? (last.outputs?.research as unknown as Extract<ResearchEvent, { type: 'final' }>)
        : undefined;
    const used = events.flatMap((event) => (event.type === 'node-usage' ? [event.totalTokens] : []));
    return { final, used };
  };
  const { final, used } = await research('scripted');
  // The run counts the same calls as the budget.
  expect(used.filter((tokens) => tokens === 350)).toHaveLength(2);
  expect(used).toHaveLength(final?.budget.calls ?? 0);
  const globals = asked.filter(({ kind }) => kind === 'global');
  expect(globals).toMatchObject([{ model: 'scripted', budget: { calls: expect.any(Number) } }]);
  expect(final?.budget.tokens).toBeGreaterThanOrEqual(700);
  await research('');
  expect(asked.filter(({ kind }) => kind === 'global').every(({ budget }) => budget === undefined)).toBe(true);
  await models.close();
});
