/** Reports on stocks from Yahoo Finance: parameters, requests, sections. */
import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import { BROWSER_HEADERS } from '../adapters/egress/request-headers.js';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { markdownTable } from '../documents/markdown-tables.js';
import { ownObject, ownValue } from '../dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { flag, queryArgument } from './fields.js';
import { pairsTable } from './results.js';
import { defineTool, type ToolCall, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { ask, askJson, baseUrlOf, listAt, numberAt, objectOf, textAt, type UpstreamRequest } from './upstream.js';

/** Letters of tickers of all exchanges, such as `^GSPC`, `BRK-B`, `600519.SS` and `EURUSD=X`; never dots alone. */
const SYMBOL = /^(?=.*[A-Za-z0-9])[A-Za-z0-9.^=_-]{1,40}$/;

/** Yahoo's modules in the order of the report: what switches each on, its name, its heading, how it is written. */
const MODULES = [
  ['count', 'defaultKeyStatistics', 'Count', factsTable],
  ['financials', 'calendarEvents', 'Calendar', factsTable],
  ['income_stmt', 'incomeStatementHistory', 'Income statement', statementsTable],
  ['income_stmt', 'incomeStatementHistoryQuarterly', 'Quarterly income statement', statementsTable],
  ['balance_sheet', 'balanceSheetHistory', 'Balance sheet', statementsTable],
  ['balance_sheet', 'balanceSheetHistoryQuarterly', 'Quarterly balance sheet', statementsTable],
  ['cash_flow_statement', 'cashflowStatementHistory', 'Cash flow statement', statementsTable],
  ['cash_flow_statement', 'cashflowStatementHistoryQuarterly', 'Quarterly cash flow statement', statementsTable],
] as const;

/** Reports on a stock from Yahoo Finance. Errors: `TOOL_FAILED` with what Yahoo answers. */
export const yahooFinance = defineTool({
  component: 'YahooFinance',
  name: 'yahoo_finance',
  summary: 'Gives the quote, prices, statements and news of one stock, fund, index or currency.',
  advice: 'Ask for one ticker at a time, or for the name of the company.',
  arguments: { stock_code: queryArgument('Ticker, such as AAPL or 600519.SS, or the name of the company.') },
  params: {
    info: flag(true, 'Gives the quote and facts about the symbol; default true.'),
    history: flag(false, 'Gives the prices of the last month by day; default false.'),
    count: flag(false, 'Gives key figures, such as the number of shares; default false.'),
    financials: flag(false, 'Gives the calendar: earnings and dividends; default false.'),
    income_stmt: flag(false, 'Gives income statements by year and quarter; default false.'),
    balance_sheet: flag(false, 'Gives balance sheets by year and quarter; default false.'),
    cash_flow_statement: flag(false, 'Gives cash flow statements by year and quarter; default false.'),
    news: flag(true, 'Gives news about the symbol; default true.'),
  },
  nodeDefaults: { stock_code: '{sys.query}' },
  outputs: { report: { type: 'string', description: 'The chosen sections in Markdown, each with a heading.' } },
  primaryOutput: 'report',
  timeoutSeconds: 60,
  call({ stock_code: words }, call): Observable<ToolEvent> {
    const chosen = call.params;
    const isNothing = Object.values(chosen).every((isOn) => !isOn);
    if (words.trim() === '' || isNothing) return of(reportResult([]));
    const yahoo = createYahoo(call);
    return yahoo.search(words.trim()).pipe(
      concatMap((search) => {
        const quote = firstQuote(search);
        return readParts(yahoo, textAt(quote, 'symbol') || words.trim(), chosen).pipe(
          map((parts) => reportResult(sectionsOf({ ...parts, quote, news: listAt(search, 'news') ?? [] }, chosen))),
        );
      }),
    );
  },
});

type Chosen = Readonly<Record<(typeof MODULES)[number][0] | 'info' | 'history' | 'news', boolean>>;

/** What the sections are made of. */
interface Found {
  readonly quote: JsonObject;
  readonly chart: JsonObject;
  readonly summary: JsonObject;
  readonly news: readonly Json[];
}

function firstQuote(search: JsonObject): JsonObject {
  const [quote] = listAt(search, 'quotes') ?? [];
  return isJsonObject(quote) ? quote : {};
}

/** Asks only for what the chosen sections are made of. */
function readParts(yahoo: Yahoo, symbol: string, chosen: Chosen): Observable<Pick<Found, 'chart' | 'summary'>> {
  const modules = MODULES.filter(([name]) => chosen[name]).map(([, module]) => module);
  const needsChart = chosen.info || chosen.history;
  if ((needsChart || modules.length > 0) && !SYMBOL.test(symbol)) {
    throw toolFailed(`Yahoo knows no symbol for ${JSON.stringify(symbol.slice(0, 60))}`);
  }
  return forkJoin({
    chart: needsChart ? yahoo.chart(symbol) : of({}),
    summary: modules.length > 0 ? yahoo.summary(symbol, modules) : of({}),
  });
}

function sectionsOf({ quote, chart, summary, news }: Found, chosen: Chosen): string[] {
  const sections: string[] = [];
  const add = (heading: string, body: string): void => {
    sections.push(`# ${heading}:\n${body}`);
  };
  if (chosen.info) add('Information', informationTable(quote, chart));
  if (chosen.history) add('History', historyTable(chart));
  for (const [, module, heading, table] of MODULES.filter(([name]) => chosen[name])) {
    add(heading, table(ownValue(summary, module)));
  }
  if (chosen.news) add('News', newsList(news));
  return sections;
}

function reportResult(sections: readonly string[]): ToolResult {
  const report = sections.join('\n\n');
  return toolResult(report, { report });
}

// Requests to Yahoo Finance: its search, its chart, and its summaries, which need a cookie and its crumb.

const DATA_URL = 'https://query1.finance.yahoo.com';
const SUMMARY_URL = 'https://query2.finance.yahoo.com';
const COOKIE_URL = 'https://fc.yahoo.com';

const LIMITS = { timeoutSeconds: 15, attempts: 1 } as const;
const HEADERS = { 'user-agent': BROWSER_HEADERS['user-agent'], 'accept-language': 'en-US,en;q=0.9' } as const;
const MAX_COOKIES = 10;

/** The three requests of one call. Errors of each: `TOOL_FAILED` with what Yahoo answers. */
type Yahoo = ReturnType<typeof createYahoo>;

const placeOf = (usual: string, { services }: ToolCall<unknown>): string => baseUrlOf(yahooFinance, services, usual);

function createYahoo(call: ToolCall<unknown>) {
  const asking = (request: Pick<UpstreamRequest, 'url' | 'query' | 'headers' | 'accepts' | 'secrets'>) =>
    askJson(yahooFinance, call, { ...LIMITS, ...request, headers: { ...HEADERS, ...request.headers } });
  // A symbol that does not exist is a 404 whose body says so.
  const accepts = (status: number): boolean => status === 404;
  return {
    /** The first quote for some words, and news about it. */
    search: (words: string) =>
      asking({
        url: `${placeOf(SUMMARY_URL, call)}/v1/finance/search`,
        query: { q: words, quotesCount: 1, newsCount: 10 },
      }).pipe(map(objectOf)),
    /** A month of prices by day, and facts about the symbol in `meta`. */
    chart: (symbol: string) =>
      asking({
        url: `${placeOf(DATA_URL, call)}/v8/finance/chart/${encodeURIComponent(symbol)}`,
        query: { range: '1mo', interval: '1d' },
        accepts,
      }).pipe(map((answer) => resultIn(answer, 'chart', symbol))),
    /** Parts of what Yahoo knows about a company, by the names of its modules. */
    summary: (symbol: string, modules: readonly string[]) =>
      openSession(call).pipe(
        concatMap(({ cookie, crumb }) =>
          asking({
            url: `${placeOf(SUMMARY_URL, call)}/v10/finance/quoteSummary/${encodeURIComponent(symbol)}`,
            query: { modules: modules.join(','), crumb },
            headers: { cookie },
            secrets: [cookie, crumb],
            accepts,
          }),
        ),
        map((answer) => resultIn(answer, 'quoteSummary', symbol)),
      ),
  };
}

/** Takes the cookie of any answer, and asks for the crumb that belongs to it. */
function openSession(call: ToolCall<unknown>) {
  const request = { ...LIMITS, method: 'GET', headers: HEADERS } as const;
  return ask(yahooFinance, call, { ...request, url: `${placeOf(COOKIE_URL, call)}/`, accepts: () => true }).pipe(
    map(({ headers }) => cookieOf(headers['set-cookie'] ?? '')),
    concatMap((cookie) =>
      ask(yahooFinance, call, {
        ...request,
        url: `${placeOf(DATA_URL, call)}/v1/test/getcrumb`,
        headers: { ...HEADERS, cookie },
        secrets: [cookie],
      }).pipe(map((answer) => ({ cookie, crumb: crumbOf(answer.text()) }))),
    ),
  );
}

/** The cookies of a `set-cookie` header, several joined by `, `; a comma within a date is followed by no `name=`. */
export function cookieOf(header: string): string {
  const pairs = header
    .split(/,(?=\s*[^\s;,=]+=)/)
    .map((one) => (one.split(';')[0] ?? '').trim())
    .filter((pair) => /^[^\s=]+=./.test(pair));
  if (pairs.length === 0) throw toolFailed('Yahoo gave no cookie, without which it answers nothing');
  return pairs.slice(0, MAX_COOKIES).join('; ');
}

function crumbOf(text: string): string {
  const crumb = text.trim();
  if (/^[^\s<>{}]{1,100}$/.test(crumb)) return crumb;
  throw toolFailed('Yahoo gave no crumb, without which it gives no statements');
}

/** What lies in `{[name]: {result: […], error}}`. */
function resultIn(answer: Json, name: string, symbol: string): JsonObject {
  const part = objectOf(answer)[name];
  const error = ownValue(part, 'error') ?? null;
  if (error !== null) {
    throw toolFailed(quoteResponse(textAt(error, 'description') || textAt(error, 'code')) || 'Yahoo reports an error');
  }
  const result = listAt(part, 'result')?.[0];
  if (isJsonObject(result)) return result;
  throw toolFailed(`Yahoo has nothing about ${JSON.stringify(symbol)}`);
}

// What Yahoo answers, as sections of a report in Markdown.

const MAX_DAYS = 400;
const MAX_NEWS = 10;
/** Levels of objects in objects that a table of facts shows. */
const MAX_DEPTH = 4;

/** Facts about a symbol: its quote and the head of its chart, whatever is a plain value there. */
function informationTable(quote: JsonObject, chart: JsonObject): string {
  const plain = Object.entries({ ...quote, ...ownObject(chart, 'meta') }).filter(
    ([, value]) => value !== null && typeof value !== 'object',
  );
  return pairsTable(Object.fromEntries(plain));
}

/** Prices by day, in the time of the exchange; days without trade are left out. */
function historyTable(chart: JsonObject): string {
  const times = listAt(chart, 'timestamp') ?? [];
  const prices = listAt(chart.indicators, 'quote')?.[0];
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
function factsTable(module: Json | undefined): string {
  const facts = new Map<string, string>();
  collectFacts(module ?? null, '', facts, 0);
  return pairsTable(Object.fromEntries(facts));
}

/** A module of statements: one line for each item, one column for each date. */
function statementsTable(module: Json | undefined): string {
  const lists = isJsonObject(module) ? Object.values(module).filter((one): one is Json[] => Array.isArray(one)) : [];
  const statements = (lists[0] ?? []).filter(isJsonObject);
  const items = [...new Set(statements.flatMap((one) => Object.keys(one)))].filter(
    (name) => name !== 'maxAge' && name !== 'endDate',
  );
  const dates = statements.map((one) => valueText(one.endDate));
  return markdownTable(
    ['Item', ...dates],
    items.map((name) => [name, ...statements.map((one) => valueText(ownValue(one, name)))]),
  );
}

/** News, one line each. */
function newsList(news: readonly Json[]): string {
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
