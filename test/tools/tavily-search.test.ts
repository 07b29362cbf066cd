import { describe, expect, it } from 'vitest';
import { tavilySearch } from '../../src/tools/tavily-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const RESULTS = [
  { url: 'https://a.example/', title: 'A', content: 'alpha', score: 0.92, raw_content: null },
  { url: 'https://b.example/', title: 'B', content: 'beta', score: 0.5, raw_content: 'beta in full' },
];
const routes: Routes = { 'POST /search': { json: { query: 'rag', results: RESULTS } } };
const calling = { args: { query: 'rag' }, params: { api_key: 'tvly-secret' } };

itBehavesAsUpstreamTool({ tool: tavilySearch, calling, routes, attempts: 2 });

describe('tavily_search', () => {
  it('asks with its settings and gives what was found, to be cited', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tavilySearch, upstream.origin, {
      args: { query: 'rag', topic: 'news', include_domains: ['a.example'] },
      params: { api_key: 'tvly-secret', max_results: '3', search_depth: 'advanced', include_raw_content: true },
    });
    expect(upstream.asked[0]?.headers.authorization).toBe('Bearer tvly-secret');
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      query: 'rag',
      topic: 'news',
      include_domains: ['a.example'],
      exclude_domains: [],
      search_depth: 'advanced',
      max_results: 3,
      days: 14,
      include_answer: false,
      include_images: false,
      include_image_descriptions: false,
      include_raw_content: false,
    });
    expect(found.outputs.json).toEqual(RESULTS);
    expect(found.text).toContain('ID: 80\n├── Title: A\n├── URL: https://a.example/\n└── Content:\nalpha');
    expect(found.text).toContain('beta in full');
    expect(found.references?.chunks['80']).toMatchObject({ id: '23115599', content: 'alpha', similarity: 0.92 });
  });

  it('takes its key from the environment', async () => {
    const upstream = await startUpstream(routes);
    await resultOf(tavilySearch, upstream.origin, {
      args: { query: 'x' },
      environment: { TAVILY_API_KEY: 'from-env' },
    });
    expect(upstream.asked[0]?.headers.authorization).toBe('Bearer from-env');
  });

  it('says that there is no key, and asks nobody', async () => {
    const upstream = await startUpstream(routes);
    const error = await errorOf(tavilySearch, upstream.origin, { args: { query: 'x' } });
    expect(error.message).toBe(
      'TavilySearch error: there is no key; set "api_key" or the environment variable TAVILY_API_KEY',
    );
    expect(upstream.asked).toEqual([]);
  });

  it('repeats no key that an upstream echoes', async () => {
    const echo = { status: 401, json: { detail: { error: 'the key tvly-secret is not valid' } } };
    const upstream = await startUpstream({ 'POST /search': echo });
    const { message } = await errorOf(tavilySearch, upstream.origin, calling);
    expect(message).toBe('TavilySearch error: the service answered with status 401: the key [REDACTED] is not valid');
  });

  it('repeats no part of a key where a long message is cut', async () => {
    const upstream = await startUpstream({
      'POST /search': { status: 401, json: { message: `${'x'.repeat(295)}tvly-secret` } },
    });
    expect((await errorOf(tavilySearch, upstream.origin, calling)).message).not.toContain('tvly');
  });

  it('finds nothing when it is asked nothing', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tavilySearch, upstream.origin, { ...calling, args: { query: '  ' } });
    expect(found).toMatchObject({ text: '', outputs: { formalized_content: '', json: [] } });
    expect(upstream.asked).toEqual([]);
  });
});
