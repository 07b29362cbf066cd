/** What a company asks its own tables for, sales and tickets, and the samples that stand there until it has its own. */
import { monthNumber, SALES_REGIONS, type SaleRecord, type SaleStore } from './sales.js';
import type { TicketRecord, TicketStore } from './tickets.js';

/** Sales and tickets as one tenant has them. */
export interface BusinessRecords {
  /** Of whole months, `from` and `to` (as `monthNumber` counts them) included, the earliest first. */
  sales(span: {
    readonly from: number;
    readonly to: number;
    readonly regions?: readonly string[];
  }): Promise<readonly SaleRecord[]>;
  /** @param id as `TKT-1234` */
  ticket(id: string): Promise<TicketRecord | undefined>;
  /** The last changed first; `limit` at most, and how many there are. */
  tickets(wanted: {
    readonly statuses?: readonly TicketRecord['status'][];
    readonly limit: number;
  }): Promise<{ readonly items: readonly TicketRecord[]; readonly total: number }>;
}

/** The stores of both. */
export interface BusinessStores {
  readonly sales: SaleStore;
  readonly tickets: TicketStore;
}

/** Months of one question at most: regions times this are the rows that are read. */
const MAX_MONTHS = 120;

/** Years before this one that have samples. */
const SAMPLE_YEARS = 2;

/**
 * The records of a tenant. One that has none of a kind gets samples of it with the first question: sales of this year and the two before, up to
 * the month that it is, and forty tickets. Samples are the same for every tenant and marked as such; a tenant with a record of its own gets no more.
 */
export function businessOf(stores: BusinessStores, tenant: string, now: () => number): BusinessRecords {
  return {
    async sales({ from, to, regions }) {
      await fillSales(stores.sales, tenant, now());
      const limit = MAX_MONTHS * SALES_REGIONS.length;
      const query = { from, to, offset: 0, limit, descending: false, ...(regions && { regions }) };
      return (await stores.sales.list(tenant, query)).items;
    },
    async ticket(id) {
      await fillTickets(stores.tickets, tenant, now());
      return stores.tickets.find(tenant, id);
    },
    async tickets({ statuses, limit }) {
      await fillTickets(stores.tickets, tenant, now());
      return stores.tickets.list(tenant, { offset: 0, limit, ...(statuses && { statuses }) });
    },
  };
}

/** Adds the months that are missing at the end; what is there already tells up to which month, and whether it is a sample. */
async function fillSales(store: SaleStore, tenant: string, now: number): Promise<void> {
  const today = new Date(now);
  const year = today.getUTCFullYear();
  const last = monthNumber(year, today.getUTCMonth() + 1);
  const { items } = await store.list(tenant, { offset: 0, limit: SALES_REGIONS.length, descending: true });
  const [known] = items;
  if (known !== undefined && !known.isSample) return;
  const first = monthNumber(year - SAMPLE_YEARS, 1);
  // A process that was lost may have left a month without some of its regions.
  const isWhole =
    items.filter(({ year: y, month: m }) => y === known?.year && m === known.month).length === SALES_REGIONS.length;
  const next = known === undefined ? first : monthNumber(known.year, known.month) + (isWhole ? 1 : 0);
  const from = Math.max(first, next);
  // Month by month, so that what is there is always without a gap before it.
  for (let month = from; month <= last; month += 1) {
    await Promise.all(SALES_REGIONS.map((_, region) => store.save(tenant, sampleSale(month, region))));
  }
}

/** Yuan that a region sells in a usual month. */
const USUAL: readonly number[] = [820_000, 310_000, 1_450_000, 640_000, 1_180_000, 520_000, 260_000];
const SEASON: readonly number[] = [0.86, 0.78, 0.95, 0.97, 1.02, 1.08, 0.98, 0.96, 1.04, 1.07, 1.22, 1.16];

function sampleSale(monthOfAll: number, region: number): SaleRecord {
  const [year, month] = [Math.floor(monthOfAll / 12), (monthOfAll % 12) + 1];
  const growth = 1.08 ** (year - 2024);
  const noise = 0.94 + ((monthOfAll * 37 + region * 101) % 121) / 1_000;
  const amount = Math.round((USUAL[region] ?? 0) * (SEASON[month - 1] ?? 1) * growth * noise);
  const name = SALES_REGIONS[region] ?? 'north';
  return {
    id: `sample-${year}-${String(month).padStart(2, '0')}-${name}`,
    year,
    month,
    region: name,
    amount,
    orders: Math.round(amount / 420),
    isSample: true,
  };
}

const TITLES: readonly string[] = [
  'Cannot log in after the password was reset',
  '导出的报表缺少最后一行',
  'Invoice shows the wrong address',
  '手机端页面无法滚动',
  'Search gives no results for quoted words',
  '申请开通新的测试环境',
  'Mails of the workflow arrive twice',
  '打印机无法连接',
];
const STATUSES = ['open', 'in_progress', 'closed'] as const;
const PRIORITIES = ['normal', 'high', 'low', 'urgent'] as const;
const ASSIGNEES = ['Li Wei', 'Ana Costa', '王芳', 'Tom Becker'] as const;

/** Numbers of tickets with samples: people try the round ones. */
const SAMPLE_NUMBERS: readonly number[] = [42, 1_234, ...Array.from({ length: 38 }, (_, index) => 1_001 + index)];
const HOUR_MS = 3_600_000;

async function fillTickets(store: TicketStore, tenant: string, now: number): Promise<void> {
  const { total } = await store.list(tenant, { offset: 0, limit: 1 });
  if (total > 0) return;
  await Promise.all(SAMPLE_NUMBERS.map((number, index) => store.save(tenant, sampleTicket(number, index, now))));
}

function sampleTicket(number: number, index: number, now: number): TicketRecord {
  const pick = <T>(list: readonly T[], step: number): T => list[(index * step + 1) % list.length] as T;
  const createdAt = now - (index + 1) * 31 * HOUR_MS;
  return {
    id: `TKT-${String(number).padStart(4, '0')}`,
    title: pick(TITLES, 3),
    status: pick(STATUSES, 1),
    priority: pick(PRIORITIES, 1),
    assignee: pick(ASSIGNEES, 3),
    createdAt,
    updatedAt: createdAt + (index % 5) * 5 * HOUR_MS,
    isSample: true,
  };
}
