import { describe, expect, it } from 'vitest';
import { cookieOf, yahooFinance } from '../../src/tools/yahoo-finance.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const SEARCH = {
  quotes: [{ symbol: 'AAPL', shortname: 'Apple Inc.', exchange: 'NMS' }],
  news: [{ title: 'Apple\nnews', publisher: 'Example', link: 'https://n.example/1', providerPublishTime: 1763600000 }],
};
const CHART = {
  meta: { symbol: 'AAPL', currency: 'USD', regularMarketPrice: 230.1, gmtoffset: -18000, tradingPeriods: {} },
  timestamp: [1763510400, 1763596800, 1763683200],
  indicators: {
    quote: [{ open: [229, 230], high: [231, 232], low: [228, 229], close: [230, 230.1], volume: [100, 90] }],
  },
};
const measure = (raw: number, fmt: string) => ({ raw, fmt });
const SUMMARY = {
  calendarEvents: { maxAge: 1, earnings: { earningsDate: [measure(1769700000, '2026-01-29')] } },
  balanceSheetHistory: {
    balanceSheetStatements: [
      { maxAge: 1, endDate: measure(1, '2025-09-30'), cash: { ...measure(35e9, '35B'), longFmt: '35,000,000,000' } },
      { maxAge: 1, endDate: measure(1, '2024-09-30'), cash: measure(30, '30'), debt: {} },
    ],
  },
};
const routes: Routes = {
  'GET /v1/finance/search': { json: SEARCH },
  'GET /v8/finance/chart/AAPL': { json: { chart: { result: [CHART], error: null } } },
  'GET /': { status: 404, headers: { 'set-cookie': 'A3=d=AQ&S=x; Expires=Sat, 21 Nov 2026 08:00:00 GMT; Path=/' } },
  'GET /v1/test/getcrumb': { text: 'cr.umb/1' },
  'GET /v10/finance/quoteSummary/AAPL': { json: { quoteSummary: { result: [SUMMARY], error: null } } },
};
const off = { info: false, news: false };
const calling = { args: { stock_code: 'apple' } };

itBehavesAsUpstreamTool({ tool: yahooFinance, calling, routes, attempts: 1 });

describe('yahoo_finance', () => {
  it('gives the quote and news by default, and asks for no cookie', async () => {
    const upstream = await startUpstream(routes);
    const { outputs, text } = await resultOf(yahooFinance, upstream.origin, calling);
    expect(upstream.asked.map(({ path, query }) => [path, query])).toEqual([
      ['/v1/finance/search', { q: 'apple', quotesCount: '1', newsCount: '10' }],
      ['/v8/finance/chart/AAPL', { range: '1mo', interval: '1d' }],
    ]);
    expect(outputs).toEqual({ report: text });
    expect(text).toMatch(/^# Information:\n\| Name \| Value \|/);
    expect(text).toContain('| shortname | Apple Inc. |');
    expect(text).toContain('| regularMarketPrice | 230.1 |');
    expect(text).not.toContain('tradingPeriods');
    expect(text).toMatch(/\n\n# News:\n- Apple news \(Example, 2025-11-20\): https:\/\/n\.example\/1$/);
  });

  it('gives days with trade in the time of the exchange', async () => {
    const upstream = await startUpstream(routes);
    const { text } = await resultOf(yahooFinance, upstream.origin, { ...calling, params: { ...off, history: true } });
    expect(text).toBe(
      [
        '# History:',
        '| Date | Open | High | Low | Close | Volume |',
        '| --- | --- | --- | --- | --- | --- |',
        '| 2025-11-18 | 229 | 231 | 228 | 230 | 100 |',
        '| 2025-11-19 | 230 | 232 | 229 | 230.1 | 90 |',
      ].join('\n'),
    );
  });

  it('fetches a cookie and its crumb for statements', async () => {
    const upstream = await startUpstream(routes);
    const params = { ...off, financials: true, balance_sheet: true };
    const { text } = await resultOf(yahooFinance, upstream.origin, { ...calling, params });
    expect(upstream.asked.map(({ path, headers }) => [path, headers.cookie])).toEqual([
      ['/v1/finance/search', undefined],
      ['/', undefined],
      ['/v1/test/getcrumb', 'A3=d=AQ&S=x'],
      ['/v10/finance/quoteSummary/AAPL', 'A3=d=AQ&S=x'],
    ]);
    expect(upstream.asked.at(-1)?.query).toEqual({
      modules: 'calendarEvents,balanceSheetHistory,balanceSheetHistoryQuarterly',
      crumb: 'cr.umb/1',
    });
    expect(text).toBe(
      [
        '# Calendar:',
        '| Name | Value |',
        '| --- | --- |',
        '| earnings.earningsDate | 2026-01-29 |',
        '',
        '# Balance sheet:',
        '| Item | 2025-09-30 | 2024-09-30 |',
        '| --- | --- | --- |',
        '| cash | 35,000,000,000 | 30 |',
        '| debt |  |  |',
        '',
        '# Quarterly balance sheet:',
        '| Item |',
        '| --- |',
      ].join('\n'),
    );
  });

  it.each([
    ['no cookie', { 'GET /': { status: 404 } }, 'no cookie'],
    ['no crumb', { 'GET /v1/test/getcrumb': { text: '<html>Too many requests</html>' } }, 'no crumb'],
    [
      'an error in the answer',
      {
        'GET /v10/finance/quoteSummary/AAPL': {
          status: 404,
          json: { quoteSummary: { result: null, error: { code: 'Not Found', description: 'No fundamentals' } } },
        },
      },
      'No fundamentals',
    ],
    [
      'an empty answer',
      { 'GET /v10/finance/quoteSummary/AAPL': { json: { quoteSummary: { result: [], error: null } } } },
      'nothing about "AAPL"',
    ],
  ] as const)('fails with %s', async (_what, changed, message) => {
    const upstream = await startUpstream({ ...routes, ...changed });
    const params = { ...off, count: true };
    const error = await errorOf(yahooFinance, upstream.origin, { ...calling, params });
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining(message) });
  });

  it('takes the words for the symbol when Yahoo finds none, and never for a path', async () => {
    const nothing = { json: { quotes: [], news: [] } };
    const error = { chart: { result: null, error: { code: 'Not Found', description: 'No data found' } } };
    const upstream = await startUpstream({
      'GET /v1/finance/search': nothing,
      'GET /v8/finance/chart/%5EXYZ': { status: 404, json: error },
    });
    const unknown = await errorOf(yahooFinance, upstream.origin, { args: { stock_code: '^XYZ' } });
    expect(unknown.message).toBe('YahooFinance error: No data found');
    for (const stock_code of ['..', 'a/../b', 'two words']) {
      const refused = await errorOf(yahooFinance, upstream.origin, { args: { stock_code } });
      expect(refused.message).toContain('knows no symbol');
    }
    expect(upstream.asked.filter(({ path }) => path !== '/v1/finance/search')).toHaveLength(1);
  });

  it('asks nobody when nothing is wanted', async () => {
    const upstream = await startUpstream(routes);
    expect((await resultOf(yahooFinance, upstream.origin, { ...calling, params: off })).outputs).toEqual({
      report: '',
    });
    expect((await resultOf(yahooFinance, upstream.origin, { args: { stock_code: '' } })).outputs.report).toBe('');
    expect(upstream.asked).toEqual([]);
  });
});

describe('cookieOf', () => {
  it('takes names and values of several cookies, and no date for one', () => {
    const header = 'A1=x; Expires=Sat, 21 Nov 2026 08:00:00 GMT, A3=y=z; Secure, GUC=1';
    expect(cookieOf(header)).toBe('A1=x; A3=y=z; GUC=1');
  });
});
