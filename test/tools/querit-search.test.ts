import { describe, expect, it } from 'vitest';
import { parametersSchema } from '../../src/tools/call-tool.js';
import { parseExactly } from '../../src/tools/querit.js';
import { queritSearch } from '../../src/tools/querit-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const RESULT = { title: 'A', url: 'https://a.example', snippet: 'alpha', site: 'a.example' };
const ANSWER = { search_id: 's-1', results: { result: [RESULT] } };
const routes: Routes = { 'POST /v1/search': { json: ANSWER } };
const params = { api_key: 'querit-secret' };
const calling = { args: { query: 'rag' }, params };

itBehavesAsUpstreamTool({ tool: queritSearch, calling, routes, attempts: 3 });

describe('querit_search', () => {
  it('asks without filters when there are none', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(queritSearch, upstream.origin, calling);
    expect(upstream.asked[0]?.headers.authorization).toBe('Bearer querit-secret');
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({ query: 'rag', count: 10, chunksPerDoc: 3 });
    expect(found.outputs.json).toEqual(ANSWER);
    expect(found.text).toContain('ID: 80\n├── Title: A\n├── URL: https://a.example\n└── Content:\nalpha');
  });

  it('sends the filters that are set, and only those', async () => {
    const upstream = await startUpstream(routes);
    const args = {
      query: 'rag',
      count: '2',
      chunks_per_doc: 1,
      site_exclude: ['b.example'],
      time_range: 'd7',
      country_include: ['norway'],
      language_include: ['norwegian'],
    };
    await resultOf(queritSearch, upstream.origin, { args, params });
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      query: 'rag',
      count: 2,
      chunksPerDoc: 1,
      filters: {
        sites: { exclude: ['b.example'] },
        timeRange: { date: 'd7' },
        geo: { countries: { include: ['norway'] } },
        languages: { include: ['norwegian'] },
      },
    });
  });

  it.each(['7d', 'd0', 'yesterday', '2025-01-01'])('refuses the time range %s', async (time_range) => {
    const error = await errorOf(queritSearch, 'http://querit.invalid', { args: { query: 'x', time_range }, params });
    expect(error).toMatchObject({ code: 'TOOL_ARGUMENTS', message: expect.stringContaining('time_range') });
  });

  it('tells models the types of its arguments', () => {
    expect(parametersSchema(queritSearch.arguments)).toMatchObject({
      required: ['query'],
      properties: {
        count: { type: 'integer', default: 10 },
        site_include: { type: 'array', items: { type: 'string' } },
      },
    });
  });

  it('loses no digit of an id', async () => {
    const text = '{"search_id": 9007199254740993123, "results": {"result": []}}';
    const upstream = await startUpstream({ 'POST /v1/search': { text, type: 'application/json' } });
    const found = await resultOf(queritSearch, upstream.origin, calling);
    expect(found.outputs.json).toEqual({ search_id: '9007199254740993123', results: { result: [] } });
  });

  it.each([
    ['a list', []],
    ['results that are a text', { results: 'none' }],
    ['a result that is an object', { results: { result: {} } }],
  ])('refuses an answer that is %s', async (_what, json) => {
    const upstream = await startUpstream({ 'POST /v1/search': { json } });
    expect(await errorOf(queritSearch, upstream.origin, calling)).toMatchObject({ code: 'TOOL_FAILED' });
  });

  it('takes its key from the environment, repeats none, and says when there is none', async () => {
    const upstream = await startUpstream({
      'POST /v1/search': { status: 401, json: { message: 'no such key: from-env' } },
    });
    const { args } = calling;
    const refused = await errorOf(queritSearch, upstream.origin, { args, environment: { QUERIT_API_KEY: 'from-env' } });
    expect(refused.message).toBe('QueritSearch error: the service answered with status 401: no such key: [REDACTED]');
    expect((await errorOf(queritSearch, upstream.origin, { args })).message).toContain('there is no key');
  });
});

describe('parseExactly', () => {
  it.each([
    ['1', 1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', '9007199254740993'],
    ['[-12345678901234567890]', ['-12345678901234567890']],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['0.30000000000000004', 0.30000000000000004],
    [
      '{"a\\"1":"\\\\12345678901234567890","b":12345678901234567890}',
      { 'a"1': '\\12345678901234567890', b: '12345678901234567890' },
    ],
    ['"12345678901234567890"', '12345678901234567890'],
    ['[1.0, 1e3, 12345678901234567890]', [1, 1000, '12345678901234567890']],
  ])('%s', (text, expected) => {
    expect(parseExactly(text, JSON.parse(text))).toEqual(expected);
  });

  it('leaves the number of passages to Querit where it is null', async () => {
    const upstream = await startUpstream(routes);
    await resultOf(queritSearch, upstream.origin, { ...calling, args: { query: 'rag', chunks_per_doc: null } });
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({ query: 'rag', count: 10 });
  });
});
