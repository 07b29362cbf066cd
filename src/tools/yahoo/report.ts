/** What Yahoo answers, as sections of a report in Markdown. */

import { markdownTable } from '../../documents/markdown-tables.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { pairsTable } from '../results/rows-table.js';
import { listAt, numberAt, textAt } from '../upstream.js';

const MAX_DAYS = 400;
const MAX_NEWS = 10;
/** Levels of objects in objects that a table of facts shows. */
const MAX_DEPTH = 4;

/** Facts about a symbol: its quote and the head of its chart, whatever is a plain value there. */
export function informationTable(quote: JsonObject, chart: JsonObject): string {
  const meta = isJsonObject(chart.meta) ? chart.meta : {};
  const plain = Object.entries({ ...quote, ...meta }).filter(
    ([, value]) => value !== null && typeof value !== 'object',
  );
  return pairsTable(Object.fromEntries(plain));
}

/** Prices by day, in the time of the exchange; days without trade are left out. */
export function historyTable(chart: JsonObject): string {
  const times = listAt(chart, 'timestamp') ?? [];
  const indicators = isJsonObject(chart.indicators) ? chart.indicators : {};
  const prices = listAt(indicators, 'quote')?.[0];
  const offset = numberAt(chart.meta, 'gmtoffset') ?? 0;
  const columns = ['open', 'high', 'low', 'close', 'volume'].map((name) => listAt(prices, name) ?? []);
  const rows = times.slice(0, MAX_DAYS).map((time, index) => {
    const cells = columns.map((column) => column[index]);
    return [dateOf(time, offset), ...cells.map((cell) => (typeof cell === 'number' ? String(cell) : ''))];
  });
  const traded = rows.filter((row) => row.slice(1).some((cell) => cell !== ''));
  return markdownTable(['Date', 'Open', 'High', 'Low', 'Close', 'Volume'], traded);
}

/** A module of facts, objects within it as `outer.inner`. */
export function factsTable(module: Json | undefined): string {
  const facts = new Map<string, string>();
  collectFacts(module ?? null, '', facts, 0);
  return pairsTable(Object.fromEntries(facts));
}

/** A module of statements: one line for each item, one column for each date. */
export function statementsTable(module: Json | undefined): string {
  const lists = isJsonObject(module) ? Object.values(module).filter((one): one is Json[] => Array.isArray(one)) : [];
  const statements = (lists[0] ?? []).filter(isJsonObject);
  const items = [...new Set(statements.flatMap((one) => Object.keys(one)))].filter(
    (name) => name !== 'maxAge' && name !== 'endDate',
  );
  const dates = statements.map((one) => valueText(one.endDate));
  return markdownTable(
    ['Item', ...dates],
    items.map((name) => [name, ...statements.map((one) => (Object.hasOwn(one, name) ? valueText(one[name]) : ''))]),
  );
}

/** News, one line each. */
export function newsList(news: readonly Json[]): string {
  return news.filter(isJsonObject).slice(0, MAX_NEWS).map(newsLine).join('\n');
}

function newsLine(item: JsonObject): string {
  const time = numberAt(item, 'providerPublishTime');
  const source = [textAt(item, 'publisher'), time === undefined ? '' : dateOf(time, 0)].filter((part) => part !== '');
  const title = textAt(item, 'title').replace(/\s+/g, ' ').trim();
  return `- ${title}${source.length === 0 ? '' : ` (${source.join(', ')})`}: ${textAt(item, 'link')}`;
}

function collectFacts(value: Json, name: string, facts: Map<string, string>, depth: number): void {
  if (!isJsonObject(value) || isMeasure(value) || depth === MAX_DEPTH) {
    const text = valueText(value);
    if (text !== '') facts.set(name, text);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key !== 'maxAge') collectFacts(item, name === '' ? key : `${name}.${key}`, facts, depth + 1);
  }
}

/** Yahoo writes numbers and dates as `{raw, fmt, longFmt}`. */
function isMeasure(value: JsonObject): boolean {
  return Object.hasOwn(value, 'raw') || Object.hasOwn(value, 'fmt');
}

function valueText(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (!isJsonObject(value)) return String(value);
  if (Object.keys(value).length === 0) return '';
  return textAt(value, 'longFmt') || textAt(value, 'fmt') || textAt(value, 'raw') || JSON.stringify(value);
}

/** Seconds since 1970 as a date; empty for what is none. */
function dateOf(time: Json, offsetSeconds: number): string {
  const at = typeof time === 'number' ? new Date((time + offsetSeconds) * 1000) : undefined;
  return at === undefined || Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10);
}
