import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { googleSearch } from '../../src/tools/google-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const RESULTS = [
  {
    title: 'RAG explained',
    link: 'https://a.example/rag',
    snippet: 'Retrieval plus generation',
    about_this_result: { source: { description: 'a.example is a technical blog' } },
  },
  { title: 'B', link: 'https://b.example/', about_this_result: { source: { description: 'b.example is a shop' } } },
];
const routes: Routes = { 'GET /search.json': { json: { organic_results: RESULTS } } };
const calling = { args: { q: 'rag' }, params: { api_key: 'serp-secret' } };

itBehavesAsUpstreamTool({ tool: googleSearch, calling, routes, attempts: 2 });

describe('google_search', () => {
  it('asks with its settings and shows what the pages say rather than who they are', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(googleSearch, upstream.origin, {
      args: { q: 'rag' },
      params: { api_key: 'serp-secret', country: 'us', language: 'de', start: '10', num: '2' },
    });
    expect(upstream.asked[0]?.query).toEqual({
      api_key: 'serp-secret',
      engine: 'google',
      q: 'rag',
      google_domain: 'google.com',
      gl: 'us',
      hl: 'de',
      start: '10',
      num: '2',
    });
    expect(found.outputs.json).toEqual(RESULTS);
    expect(found.text).toContain('URL: https://a.example/rag\n└── Content:\nRetrieval plus generation');
    expect(found.text).toContain('URL: https://b.example/\n└── Content:\nb.example is a shop');
  });

  it('lets a call set its own page, and keeps to the usual places otherwise', async () => {
    const upstream = await startUpstream(routes);
    const args = { q: 'rag', start: '20', num: 1 };
    const { outputs } = await resultOf(googleSearch, upstream.origin, { ...calling, args });
    expect(upstream.asked[0]?.query).toMatchObject({ gl: 'cn', hl: 'en', start: '20', num: '1' });
    expect(outputs.json).toEqual([RESULTS[0]]);
  });

  it.each([
    ['the key is echoed', 401, 'Invalid API key: serp-secret', 'status 401: Invalid API key: [REDACTED]'],
    [
      'there is nothing',
      200,
      "Google hasn't returned any results.",
      "Google error: Google hasn't returned any results.",
    ],
  ])('says what SerpApi says when %s', async (_, status, error, said) => {
    const upstream = await startUpstream({ 'GET /search.json': { status, json: { error } } });
    expect((await errorOf(googleSearch, upstream.origin, calling)).message).toContain(said);
  });

  it('takes its key from the environment, and says that there is none', async () => {
    const upstream = await startUpstream(routes);
    await resultOf(googleSearch, upstream.origin, { args: { q: 'x' }, environment: { SERPAPI_API_KEY: 'from-env' } });
    expect(upstream.asked[0]?.query.api_key).toBe('from-env');
    const error = await errorOf(googleSearch, upstream.origin, { args: { q: 'x' } });
    expect(error.message).toContain('there is no key; set "api_key" or the environment variable SERPAPI_API_KEY');
  });

  it.each([
    [{ country: 'xx' }, false],
    [{ country: 'de', language: 'zh-cn' }, true],
    [{ language: 'zh-tw', num: 101 }, false],
    [{ country: '', language: null, start: '' }, true],
  ])('knows whether %o can be set', (params, isFine) => {
    expect(z.looseObject({ ...googleSearch.params }).safeParse(params).success).toBe(isFine);
  });

  it('asks nobody without keywords', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(googleSearch, upstream.origin, { ...calling, args: { q: ' ' } });
    expect(found.outputs).toEqual({ formalized_content: '', json: [] });
    expect(upstream.asked).toEqual([]);
  });
});
