import { describe, expect, it } from 'vitest';
import { jin10 } from '../../src/tools/jin10.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const FLASH = [
  { id: '1', time: '2025-11-20 09:30:00', type: 0, data: { content: '美元指数短线走高' } },
  { id: '2', time: '2025-11-20 09:31:00', type: 1, data: {} },
  { id: '3', time: '2025-11-20 09:32:00', type: 0, data: { content: '现货黄金下跌' } },
];
const QUOTE = {
  a: 91010,
  b: 91000,
  c: 'BTCUSD',
  e: 'CRYPTO',
  h: 92000,
  hc: 90500,
  l: 90000,
  o: 90600,
  p: 91005,
  t: 17,
};
const routes: Routes = {
  'GET /data-api/flash': { json: { status: 200, message: 'OK', data: FLASH } },
  'GET /data-api/calendar/event': {
    json: {
      status: 200,
      data: [
        { country: 'US', name: 'CPI | core', note: null },
        { country: 'DE', name: 'PMI', star: 3 },
      ],
    },
  },
  'GET /data-api/symbols': { json: { status: 200, data: [{ c: 'XAUUSD', e: 'LME', n: 'Gold', t: 'GOODS' }] } },
  'GET /data-api/quotes': { json: { status: 200, data: [QUOTE] } },
  'GET /data-api/news': { json: { status: 200, data: [{ title: 'A', time: '09:00' }] } },
};
const params = { secret_key: 'jin-secret' };
const calling = { args: {}, params };

itBehavesAsUpstreamTool({ tool: jin10, calling, routes, attempts: 2 });

describe('jin10', () => {
  it('gives flash news', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(jin10, upstream.origin, {
      args: { query: '黄金' },
      params: { ...params, flash_type: '2', contain: 'unused', filter: '原油' },
    });
    expect(upstream.asked[0]?.headers['secret-key']).toBe('jin-secret');
    expect(upstream.asked[0]?.query).toEqual({ category: '2', contain: '黄金', filter: '原油' });
    expect(found.text).toBe('美元指数短线走高\n\n现货黄金下跌');
    expect(found.outputs).toEqual({ formalized_content: found.text, json: FLASH });
  });

  it.each([
    [
      { type: 'calendar', calendar_type: 'us', calendar_datatype: 'event' },
      { category: 'us' },
      '| country | name | note | star |\n| --- | --- | --- | --- |\n| US | CPI \\| core |  |  |\n| DE | PMI |  | 3 |',
    ],
    [
      { type: 'calendar', calendar_datatype: 'event', contain: 'cpi' },
      { category: 'cj' },
      '| country | name | note |\n| --- | --- | --- |\n| US | CPI \\| core |  |',
    ],
    [
      { type: 'calendar', calendar_datatype: 'event', filter: 'cpi' },
      { category: 'cj' },
      '| country | name | star |\n| --- | --- | --- |\n| DE | PMI | 3 |',
    ],
    [
      { type: 'symbols' },
      { type: 'GOODS' },
      '| Commodity Code | Stock Exchange | Commodity Name | Commodity Type |\n| --- | --- | --- | --- |\n| XAUUSD | LME | Gold | GOODS |',
    ],
    [{ type: 'news' }, {}, '| title | time |\n| --- | --- |\n| A | 09:00 |'],
    [{ type: 'news', contain: 'nowhere' }, {}, ''],
  ])('gives a table for %o', async (more, query, table) => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(jin10, upstream.origin, { args: {}, params: { ...params, ...more } });
    expect(upstream.asked[0]?.query).toEqual(query);
    expect(found.outputs.formalized_content).toBe(table);
  });

  it('calls the columns of quotes by what they hold', async () => {
    const upstream = await startUpstream(routes);
    const more = { type: 'symbols', symbols_type: 'CRYPTO', symbols_datatype: 'quotes' };
    const { outputs } = await resultOf(jin10, upstream.origin, { args: {}, params: { ...params, ...more } });
    expect(upstream.asked[0]?.query).toEqual({ type: 'CRYPTO', codes: 'BTCUSD' });
    expect(outputs.json).toEqual([
      {
        'Selling Price': 91010,
        'Buying Price': 91000,
        'Commodity Code': 'BTCUSD',
        'Stock Exchange': 'CRYPTO',
        'Highest Price': 92000,
        "Yesterday's Closing Price": 90500,
        'Lowest Price': 90000,
        'Opening Price': 90600,
        'Latest Price': 91005,
        'Market Quote Time': 17,
      },
    ]);
  });

  it.each([
    [{ status: 401, message: 'key jin-secret is unknown', data: [] }, 'key [REDACTED] is unknown'],
    [{ message: '' }, 'the answer holds no data (its status is missing)'],
  ])('fails for %o', async (json, message) => {
    const upstream = await startUpstream({ 'GET /data-api/flash': { json } });
    expect((await errorOf(jin10, upstream.origin, calling)).message).toBe(`Jin10 error: ${message}`);
  });

  it('takes its key from the environment, and says that there is none', async () => {
    const upstream = await startUpstream(routes);
    await resultOf(jin10, upstream.origin, { environment: { JIN10_SECRET_KEY: 'from-env' } });
    expect(upstream.asked[0]?.headers['secret-key']).toBe('from-env');
    expect((await errorOf(jin10, upstream.origin)).message).toContain('there is no key');
  });

  it('keeps a table within its bounds', async () => {
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, column) => [`c${column}`, column]));
    const upstream = await startUpstream({
      'GET /data-api/news': { json: { status: 200, data: Array(600).fill(wide) } },
    });
    const { text, outputs } = await resultOf(jin10, upstream.origin, { params: { ...params, type: 'news' } });
    expect(outputs.json).toHaveLength(500);
    expect(text.split('\n')[0]?.split('|')).toHaveLength(52);
  });
});
