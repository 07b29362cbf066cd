import { beforeAll, expect, it } from 'vitest';
import { createModels } from '../../../src/models/router.js';
import type { DayLimits } from '../../../src/records/spending.js';
import { createDailySpending } from '../../../src/research/service/daily-spending.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { createMemorySharedStates } from '../../../src/stores/memory-shared-states.js';
import { knowledgeOf, openWorld } from '../../research/support/world.js';
import { startServer } from '../support/server.js';

let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);

interface ResearchAnswer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly data: any;
}

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';
const PRICES = JSON.stringify({ prices: { scripted: { prompt: 1, completion: 2 } } });

/** Two servers that count in one place. */
async function startServers(limits: DayLimits, modelsFile?: string) {
  const states = createMemorySharedStates();
  const env = modelsFile === undefined ? {} : { RUNNEL_MODELS: 'models.json' };
  const models = createModels(await modelsFromEnvironment(env, async () => modelsFile ?? ''), {
    scripted: world.planner,
  });
  const [ask, other] = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const spending = createDailySpending({ states, limits, now: Date.now });
      const server = await startServer({ services: { knowledge: knowledgeOf(world), models, spending } });
      return async (body: object = {}): Promise<ResearchAnswer> => {
        const asked = { question: QUESTION, llm_id: 'scripted', stream: false, ...body };
        return (await server.call('POST', '/api/v1/research', asked)).body;
      };
    }),
  );
  if (ask === undefined || other === undefined) throw new Error('two servers were started');
  return { ask, other };
}

it('a day that is used up cuts a research, which reports what it found and why; another server refuses the next one', {
  timeout: 60_000,
}, async () => {
  const { ask, other } = await startServers({ calls: 5 });
  const { data } = await ask();
  expect(data).toMatchObject({ status: 'succeeded' });
  expect(data.final.budget).toMatchObject({ calls: 5, exhausted: { limit: 'calls', per: 'day' }, money: 'unknown' });
  expect(data.final.budget.day).toMatchObject({ calls: 5, of: { calls: 5 }, money: 'unknown' });
  expect(data.final.report).toContain('What may be spent on researches today was used up');
  const refused = await other();
  expect(refused).toMatchObject({ code: 103, message: expect.stringContaining('limit of 5 calls of models') });
});

it('researches side by side on two servers keep the limits of the day together', { timeout: 60_000 }, async () => {
  const { ask, other } = await startServers({ tokens: 6_000 });
  const both = await Promise.all([ask(), other()]);
  const spent = both.map(({ data }) => data.final.budget.tokens as number);
  expect(spent[0] as number).toBeGreaterThan(0);
  expect((spent[0] as number) + (spent[1] as number)).toBeLessThanOrEqual(6_000);
  for (const { data } of both) expect(data.final.report).not.toBe('');
});

it('counts money by the prices of the models', { timeout: 60_000 }, async () => {
  const { ask } = await startServers({ money: 100 }, PRICES);
  const { data } = await ask();
  const { tokens, promptTokens, money, day } = data.final.budget;
  expect(money).toBeCloseTo((promptTokens + 2 * (tokens - promptTokens)) / 1_000_000, 9);
  expect(day.money).toBeCloseTo(money, 9);
  expect(money).toBeGreaterThan(0);
});
