import { z } from 'zod';
import { type Query, type Repository, resource } from './repository.js';

/** Regions that sales are counted by. */
export const SALES_REGIONS = ['north', 'northeast', 'east', 'central', 'south', 'southwest', 'northwest'] as const;

const saleSchema = z.object({
  id: z.string(),
  year: z.number(),
  /** 1 to 12. */
  month: z.number(),
  region: z.enum(SALES_REGIONS),
  /** In yuan. */
  amount: z.number(),
  orders: z.number(),
  /** Whether it was made up, for tenants that have no sales of their own. */
  isSample: z.boolean(),
});

/** What was sold in a region in a month. */
export type SaleRecord = Readonly<z.infer<typeof saleSchema>>;

/** Which sales, earliest first. */
export interface SaleQuery extends Query {
  /** First and last month, as `monthNumber` counts them. */
  readonly from?: number;
  readonly to?: number;
  readonly regions?: readonly string[];
}

/** Where sample sales are stored. */
export type SaleStore = Pick<Repository<SaleRecord, SaleQuery>, 'save' | 'list' | 'delete'>;

/** Months are counted through, so that a span of them is a span of numbers. */
export function monthNumber(year: number, month: number): number {
  return year * 12 + month - 1;
}

export const sales = resource<SaleRecord, SaleQuery>({
  name: 'sales',
  singular: 'Sale',
  schema: saleSchema,
  id: ({ id }) => id,
  columns: {
    month: { type: 'number', of: ({ year, month }) => monthNumber(year, month) },
    region: { type: 'text', of: ({ region }) => region },
    amount: { type: 'number', of: ({ amount }) => Math.round(amount) },
    orders: { type: 'number', of: ({ orders }) => orders },
  },
  filters: { from: ['from', 'month'], to: ['to', 'month'], regions: ['in', 'region'] },
  orders: { month: 'month' },
  indexes: [['tenant', 'month', 'position']],
  memory: { maxCount: 100_000, maxBytes: 32 * 1024 ** 2 },
});
