import { concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import { toolFailed } from '../adapters/failures.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { flag, queryArgument } from './fields.js';
import { defineTool, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { listAt, textAt } from './upstream.js';
import { createYahoo, type Yahoo } from './yahoo/ask-yahoo.js';
import { factsTable, historyTable, informationTable, newsList, statementsTable } from './yahoo/report.js';

/** Letters of tickers of all exchanges, such as `^GSPC`, `BRK-B`, `600519.SS` and `EURUSD=X`; never dots alone. */
const SYMBOL = /^(?=.*[A-Za-z0-9])[A-Za-z0-9.^=_-]{1,40}$/;

/** Parameters that switch sections on which are made of Yahoo's modules. */
type Section = 'count' | 'financials' | 'income_stmt' | 'balance_sheet' | 'cash_flow_statement';

/** The modules of each section, in the order of the report, with their headings. */
const MODULES: Readonly<Record<Section, readonly (readonly [module: string, heading: string])[]>> = {
  count: [['defaultKeyStatistics', 'Count']],
  financials: [['calendarEvents', 'Calendar']],
  income_stmt: [
    ['incomeStatementHistory', 'Income statement'],
    ['incomeStatementHistoryQuarterly', 'Quarterly income statement'],
  ],
  balance_sheet: [
    ['balanceSheetHistory', 'Balance sheet'],
    ['balanceSheetHistoryQuarterly', 'Quarterly balance sheet'],
  ],
  cash_flow_statement: [
    ['cashflowStatementHistory', 'Cash flow statement'],
    ['cashflowStatementHistoryQuarterly', 'Quarterly cash flow statement'],
  ],
};
const SECTIONS = Object.keys(MODULES) as readonly Section[];

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
    const yahoo = createYahoo(yahooFinance, call);
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

type Chosen = Readonly<Record<Section | 'info' | 'history' | 'news', boolean>>;

interface Parts {
  readonly chart: JsonObject;
  readonly summary: JsonObject;
}

interface Found extends Parts {
  readonly quote: JsonObject;
  readonly news: readonly Json[];
}

function firstQuote(search: JsonObject): JsonObject {
  const [quote] = listAt(search, 'quotes') ?? [];
  return isJsonObject(quote) ? quote : {};
}

/** Asks only for what the chosen sections are made of. */
function readParts(yahoo: Yahoo, symbol: string, chosen: Chosen): Observable<Parts> {
  const modules = SECTIONS.filter((name) => chosen[name]).flatMap((name) => MODULES[name].map(([module]) => module));
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
  for (const name of SECTIONS.filter((section) => chosen[section])) {
    const isFacts = name === 'count' || name === 'financials';
    for (const [module, heading] of MODULES[name]) {
      const found = Object.hasOwn(summary, module) ? summary[module] : undefined;
      add(heading, isFacts ? factsTable(found) : statementsTable(found));
    }
  }
  if (chosen.news) add('News', newsList(news));
  return sections;
}

function reportResult(sections: readonly string[]): ToolResult {
  const report = sections.join('\n\n');
  return toolResult(report, { report });
}
