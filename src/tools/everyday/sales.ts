import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../../adapters/failures.js';
import { markdownTable } from '../../documents/markdown-tables.js';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { monthNumber, SALES_REGIONS, type SaleRecord } from '../../records/sales.js';
import { entered } from '../fields.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from '../tool.js';
import { requireService } from '../tool-services.js';

/** Spans of time that sales are asked for. */
export const SALES_PERIODS = ['Q1', 'Q2', 'Q3', 'Q4', 'this_month', 'last_month', 'this_year', 'last_year'] as const;

type Region = (typeof SALES_REGIONS)[number];

/** Regions by the names that people give them; what is wider than one is several. */
const REGION_NAMES: ReadonlyMap<string, readonly Region[]> = new Map<string, readonly Region[]>([
  ...SALES_REGIONS.map((region): [string, readonly Region[]] => [region, [region]]),
  ['west', ['southwest', 'northwest']],
  ['华北', ['north']],
  ['东北', ['northeast']],
  ['华东', ['east']],
  ['华中', ['central']],
  ['华南', ['south']],
  ['西南', ['southwest']],
  ['西北', ['northwest']],
  ['西部', ['southwest', 'northwest']],
  ['北方', ['north', 'northeast', 'northwest']],
  ['南方', ['south', 'southwest']],
]);

/** Adds up sales of the tenant. Errors: `TOOL_FAILED` for a region that is not known; `CONFIG_INVALID` without the service. */
export const sales = defineTool({
  component: 'Sales',
  name: 'sales',
  summary: 'Adds up what the company sold in a quarter, a month or a year, in all or in one region.',
  arguments: {
    period: z.enum(SALES_PERIODS).describe('The span of time.'),
    year: z
      .preprocess(entered, z.coerce.number().int().min(1_970).max(9_999).optional())
      .describe('Year of a quarter; default this year.'),
    region: z
      .preprocess(entered, z.string().trim().optional())
      .describe(`Region: ${SALES_REGIONS.join(', ')}, west, or its Chinese name such as 华北; default all.`),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'Sums by region and in all, as a table in Markdown.' },
    json: {
      type: 'object',
      description:
        '`period`, `from` and `to` (months), `total` and `orders`, `regions` with the same of each, `currency`, `is_sample`.',
    },
  },
  timeoutSeconds: 12,
  call(args, { services, now }): Observable<ToolEvent> {
    const records = requireService(services, 'business', 'Tool "sales"');
    const span = spanOf(args, now());
    const regions = args.region === undefined ? undefined : regionsOf(args.region);
    return fromAbortable(() => records.sales({ ...span, ...(regions && { regions }) })).pipe(
      map((found) => resultOf(args.period, span, found)),
    );
  },
});

interface Span {
  readonly from: number;
  readonly to: number;
}

function spanOf(
  { period, year }: { period: (typeof SALES_PERIODS)[number]; year?: number | undefined },
  now: number,
): Span {
  const today = new Date(now);
  const thisYear = today.getUTCFullYear();
  const thisMonth = monthNumber(thisYear, today.getUTCMonth() + 1);
  const months = (from: number, count: number): Span => ({ from, to: from + count - 1 });
  switch (period) {
    case 'this_month':
      return months(thisMonth, 1);
    case 'last_month':
      return months(thisMonth - 1, 1);
    case 'this_year':
      return months(monthNumber(year ?? thisYear, 1), 12);
    case 'last_year':
      return months(monthNumber(year ?? thisYear - 1, 1), 12);
    default:
      return months(monthNumber(year ?? thisYear, Number(period[1]) * 3 - 2), 3);
  }
}

function regionsOf(given: string): readonly Region[] {
  const name = given
    .toLowerCase()
    .replace(/(?:地区|大区|区域|区|\s*(?:region|china))$/, '')
    .trim();
  const found = REGION_NAMES.get(name) ?? REGION_NAMES.get(given.toLowerCase());
  if (found !== undefined) return found;
  const names = [...REGION_NAMES.keys()].join(', ');
  throw toolFailed(`there is no region ${JSON.stringify(given.slice(0, 60))}; there are ${names}`);
}

function resultOf(period: string, { from, to }: Span, found: readonly SaleRecord[]): ToolResult {
  const sums = SALES_REGIONS.flatMap((region) => {
    const of = found.filter((sale) => sale.region === region);
    return of.length === 0 ? [] : [{ region, ...sumOf(of) }];
  });
  const all = sumOf(found);
  const isSample = found.some((sale) => sale.isSample);
  const json: JsonObject = {
    period,
    from: monthText(from),
    to: monthText(to),
    currency: 'CNY',
    total: all.amount,
    orders: all.orders,
    regions: sums.map(({ region, amount, orders }) => ({ region, total: amount, orders })),
    is_sample: isSample,
  };
  const months = from === to ? monthText(from) : `${monthText(from)} to ${monthText(to)}`;
  if (found.length === 0) {
    const none = `There are no sales in ${months}.`;
    return toolResult(none, { formalized_content: none, json });
  }
  const rows = [...sums, { region: 'in all', ...all }].map(({ region, amount, orders }) => [
    region,
    String(amount),
    String(orders),
  ]);
  const note = isSample ? '\n\nThese are sample data.' : '';
  const text = `Sales ${months}\n\n${markdownTable(['Region', 'Sales (CNY)', 'Orders'], rows)}${note}`;
  return toolResult(text, { formalized_content: text, json });
}

function sumOf(found: readonly SaleRecord[]): { readonly amount: number; readonly orders: number } {
  const amount = found.reduce((sum, sale) => sum + sale.amount, 0);
  return { amount: Math.round(amount * 100) / 100, orders: found.reduce((sum, sale) => sum + sale.orders, 0) };
}

function monthText(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`;
}
