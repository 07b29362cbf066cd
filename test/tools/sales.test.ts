import { describe, expect, it } from 'vitest';
import { businessOf } from '../../src/records/business.js';
import type { SaleRecord } from '../../src/records/sales.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { sales } from '../../src/tools/everyday/sales.js';
import { errorOf, resultOf } from './support/upstream.js';

// The clock of the calls stands in November 2026.
const NOW = () => Date.parse('2026-11-21T12:00:00Z');

const sale = (id: string, change: Partial<SaleRecord>): SaleRecord => ({
  id,
  year: 2026,
  month: 1,
  region: 'north',
  amount: 100,
  orders: 1,
  isSample: false,
  ...change,
});

async function ownSales(): Promise<{ business: ReturnType<typeof businessOf> }> {
  const stores = createMemoryStores();
  const rows = [
    sale('1', {}),
    sale('2', { month: 3, amount: 50.5 }),
    sale('3', { month: 4, amount: 7 }),
    sale('4', { region: 'southwest', amount: 1_000, orders: 3 }),
    sale('5', { year: 2025, month: 12, amount: 20 }),
    sale('6', { month: 11, amount: 11 }),
    sale('7', { month: 10, amount: 10 }),
  ];
  for (const row of rows) await stores.sales.save('t', row);
  return { business: businessOf(stores, 't', NOW) };
}

describe('sales', () => {
  it.each([
    [{ period: 'Q1' }, '2026-01', '2026-03', 1_150.5],
    [{ period: 'Q4', year: 2025 }, '2025-10', '2025-12', 20],
    [{ period: 'Q4', year: '2025' }, '2025-10', '2025-12', 20],
    [{ period: 'this_month' }, '2026-11', '2026-11', 11],
    [{ period: 'last_month' }, '2026-10', '2026-10', 10],
    [{ period: 'this_year' }, '2026-01', '2026-12', 1_178.5],
    [{ period: 'last_year' }, '2025-01', '2025-12', 20],
    [{ period: 'Q1', region: 'north' }, '2026-01', '2026-03', 150.5],
    [{ period: 'Q1', region: '华北' }, '2026-01', '2026-03', 150.5],
    [{ period: 'Q1', region: '华北区' }, '2026-01', '2026-03', 150.5],
    [{ period: 'Q1', region: 'West' }, '2026-01', '2026-03', 1_000],
    [{ period: 'Q1', region: '西部' }, '2026-01', '2026-03', 1_000],
    [{ period: 'Q2', region: 'east' }, '2026-04', '2026-06', 0],
  ])('adds up %j', async (args, from, to, total) => {
    const { outputs } = await resultOf(sales, '', { args: args as never, services: await ownSales() });
    expect(outputs.json).toMatchObject({ from, to, total, currency: 'CNY', is_sample: false });
  });

  it('lists regions and their sum', async () => {
    const { text } = await resultOf(sales, '', { args: { period: 'Q1' }, services: await ownSales() });
    expect(text).toContain('Sales 2026-01 to 2026-03');
    expect(text).toContain('| southwest | 1000 | 3 |');
    expect(text).toContain('| in all | 1150.5 | 5 |');
    expect(text).not.toContain('sample');
  });

  it('says that there are none', async () => {
    const { text } = await resultOf(sales, '', { args: { period: 'Q1', year: 1999 }, services: await ownSales() });
    expect(text).toBe('There are no sales in 1999-01 to 1999-03.');
  });

  it.each([{ period: 'Q5' }, { period: 'Q1', year: 'soon' }, {}])('refuses %j', async (args) => {
    const error = await errorOf(sales, '', { args: args as never, services: await ownSales() });
    expect(error).toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });

  it('names the regions when it does not know one', async () => {
    const error = await errorOf(sales, '', { args: { period: 'Q1', region: 'Atlantis' }, services: await ownSales() });
    expect(error.message).toContain('there is no region "Atlantis"; there are north, ');
  });
});
