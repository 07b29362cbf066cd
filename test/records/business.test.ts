import { describe, expect, it } from 'vitest';
import { businessOf } from '../../src/records/business.js';
import { monthNumber, SALES_REGIONS } from '../../src/records/sales.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { embeddedForAll } from '../stores/support/embedded-for-all.js';
import { newTenant } from '../stores/support/records.js';

const NOVEMBER = Date.parse('2026-11-21T12:00:00Z');
const ALL = { from: monthNumber(2000, 1), to: monthNumber(2100, 12) };
const postgres = embeddedForAll();

describe.each([
  ['in memory', () => createMemoryStores()],
  ['in Postgres', postgres],
] as const)('business records %s', (_where, open) => {
  it('are samples for a tenant that has none: sales up to this month, and tickets', async () => {
    const business = businessOf(open(), newTenant(), () => NOVEMBER);
    const sales = await business.sales(ALL);
    expect(sales).toHaveLength((2 * 12 + 11) * SALES_REGIONS.length);
    expect(sales.every(({ isSample, amount }) => isSample && amount > 0)).toBe(true);
    expect(sales[0]).toMatchObject({ year: 2024, month: 1 });
    expect(sales.at(-1)).toMatchObject({ year: 2026, month: 11 });
    expect((await business.tickets({ limit: 5 })).total).toBe(40);
    expect(await business.ticket('TKT-1234')).toMatchObject({ id: 'TKT-1234', isSample: true });
    expect(await business.ticket('TKT-0042')).toMatchObject({ id: 'TKT-0042' });
    expect(await business.ticket('TKT-9999')).toBeUndefined();
  });

  it('go on with the months, and stay what they were', async () => {
    const [stores, tenant] = [open(), newTenant()];
    const before = await businessOf(stores, tenant, () => NOVEMBER).sales(ALL);
    const after = await businessOf(stores, tenant, () => NOVEMBER + 60 * 86_400_000).sales(ALL);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ year: 2027, month: 1 });
  });

  it('are completed where a process was lost while it filled them', async () => {
    const [stores, tenant] = [open(), newTenant()];
    const all = await businessOf(stores, tenant, () => NOVEMBER).sales(ALL);
    for (const { id } of all.slice(-3)) await stores.sales.delete(tenant, id);
    expect(await businessOf(stores, tenant, () => NOVEMBER).sales(ALL)).toHaveLength(all.length);
  });

  it('are filled by two at once without doubles', async () => {
    const [stores, tenant] = [open(), newTenant()];
    const both = [0, 1].map(() => businessOf(stores, tenant, () => NOVEMBER).sales(ALL));
    await Promise.all(both);
    const sales = await businessOf(stores, tenant, () => NOVEMBER).sales(ALL);
    expect(new Set(sales.map(({ id }) => id)).size).toBe(sales.length);
    expect(sales).toHaveLength(35 * SALES_REGIONS.length);
  });

  it('are selected by month and region', async () => {
    const business = businessOf(open(), newTenant(), () => NOVEMBER);
    const span = { from: monthNumber(2025, 12), to: monthNumber(2026, 1), regions: ['north', 'east'] };
    const found = await business.sales(span);
    expect(found.map(({ year, month, region }) => `${year}-${month} ${region}`).sort()).toEqual([
      '2025-12 east',
      '2025-12 north',
      '2026-1 east',
      '2026-1 north',
    ]);
  });

  it('of a tenant with records of its own are those alone', async () => {
    const [stores, tenant] = [open(), newTenant()];
    const own = { id: 'a', year: 2026, month: 5, region: 'east', amount: 1, orders: 1, isSample: false } as const;
    await stores.sales.save(tenant, own);
    expect(await businessOf(stores, tenant, () => NOVEMBER).sales(ALL)).toEqual([own]);
    expect((await businessOf(stores, newTenant(), () => NOVEMBER).sales(ALL)).length).toBeGreaterThan(1);
  });
});
