import { describe, expect, it, onTestFinished } from 'vitest';
import type { DayAmount } from '../../src/records/spending.js';
import { createDailySpending } from '../../src/research/service/daily-spending.js';
import { createMemorySharedStates } from '../../src/stores/memory-shared-states.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';

const MORNING = Date.parse('2026-11-29T06:00:00Z');

function amount(of: Partial<DayAmount>): DayAmount {
  return { tokens: 0, calls: 0, webRequests: 0, money: 0, ...of };
}

describe('what a tenant spends in a day', () => {
  it('is counted before it is spent, corrected behind it, and refused where it does not fit', async () => {
    const states = createMemorySharedStates();
    const spending = createDailySpending({ states, limits: { tokens: 100, calls: 3 }, now: () => MORNING });
    const own = spending.forTenant('t');
    await own.take(amount({ tokens: 80, calls: 1, money: 2 }));
    await own.correct(amount({ tokens: -50, money: -1 }));
    expect(await own.today()).toMatchObject({ day: '2026-11-29', tokens: 30, calls: 1, money: 1 });
    await expect(own.take(amount({ tokens: 71, calls: 1 }))).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message: expect.stringMatching(/100 tokens.*2026-11-30T00:00:00Z/),
      details: { limit: 'tokens', of: 100, per: 'day' },
    });
    expect(await own.today()).toMatchObject({ tokens: 30, calls: 1 });
    await own.take(amount({ tokens: 70, calls: 1 }));
    await expect(own.requireLeft()).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    await expect(spending.forTenant('other').requireLeft()).resolves.toBeUndefined();
  });

  it('begins anew with the next day of UTC', async () => {
    let now = Date.parse('2026-11-29T23:59:59Z');
    const own = createDailySpending({ states: createMemorySharedStates(), limits: { calls: 1 }, now: () => now });
    await own.take(amount({ calls: 1 }));
    await expect(own.take(amount({ calls: 1 }))).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    now += 1_000;
    await own.take(amount({ calls: 1 }));
    expect(await own.today()).toMatchObject({ day: '2026-11-30', calls: 1 });
  });

  it('has money that is unknown once a call without a price was made, never 0', async () => {
    const own = createDailySpending({ states: createMemorySharedStates(), limits: { money: 1 }, now: () => MORNING });
    await own.take(amount({ tokens: 5, calls: 1, money: undefined }));
    await own.take(amount({ tokens: 5, calls: 1, money: 0.5 }));
    expect(await own.today()).toMatchObject({ money: 'unknown', tokens: 10 });
  });

  it('is never more than its limit where two processes spend side by side', async () => {
    const states = createMemorySharedStates();
    const limits = { tokens: 100 };
    const processes = [1, 2].map(() => createDailySpending({ states, limits, now: () => MORNING }).forTenant('t'));
    const taken = await Promise.allSettled(
      Array.from({ length: 40 }, (_, at) => processes[at % 2]?.take(amount({ tokens: 7, calls: 1 }))),
    );
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(14);
    expect(await processes[0]?.today()).toMatchObject({ tokens: 98, calls: 14 });
  });

  it('survives a restart of its process', { timeout: 120_000 }, async () => {
    const folder = await temporaryFolder();
    const limits = { tokens: 100 };
    const first = await openEmbedded(folder);
    const before = createDailySpending({ states: first.sharedStates, limits, now: () => MORNING });
    await before.forTenant('t').take(amount({ tokens: 90, calls: 1 }));
    await first.close();
    const second = await openEmbedded(folder);
    onTestFinished(() => second.close());
    const after = createDailySpending({ states: second.sharedStates, limits, now: () => MORNING }).forTenant('t');
    await expect(after.take(amount({ tokens: 20, calls: 1 }))).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    await after.take(amount({ tokens: 10, calls: 1 }));
  });
});
