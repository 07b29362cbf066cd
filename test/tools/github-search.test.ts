import { describe, expect, it } from 'vitest';
import { githubSearch } from '../../src/tools/github-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const ITEMS = [
  { name: 'ragflow', html_url: 'https://github.com/infiniflow/ragflow', description: 'RAG engine', watchers: 54321 },
  { name: 'other', html_url: 'https://github.com/x/other', description: null, watchers: 0 },
];
const routes: Routes = { 'GET /search/repositories': { json: { total_count: 2, items: ITEMS } } };
const calling = { args: { query: 'rag' } };

itBehavesAsUpstreamTool({ tool: githubSearch, calling, routes, attempts: 1 });

describe('github_search', () => {
  it('asks for repositories by their stars, whatever characters the query has', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(githubSearch, upstream.origin, {
      args: { query: 'c++ & rag #1' },
      params: { top_n: 5 },
    });
    expect(upstream.asked[0]?.query).toEqual({ q: 'c++ & rag #1', sort: 'stars', order: 'desc', per_page: '5' });
    expect(upstream.asked[0]?.headers).toMatchObject({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'runnel',
    });
    expect(found.outputs.json).toEqual(ITEMS);
    expect(found.text).toContain('├── Title: ragflow\n├── URL: https://github.com/infiniflow/ragflow');
    expect(found.text).toContain('└── Content:\nRAG engine\n stars:54321');
    expect(found.text).toContain('└── Content:\nNone\n stars:0');
    expect(Object.keys(found.references?.chunks ?? {})).toHaveLength(2);
  });

  it('gives no more than were asked for, whatever comes', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(githubSearch, upstream.origin, { ...calling, params: { top_n: 1 } });
    expect(found.outputs.json).toEqual([ITEMS[0]]);
  });

  it.each([
    [403, 'API rate limit exceeded for 203.0.113.9.', 'the service answered with status 403: API rate limit'],
    [200, 'no search today', 'GitHub error: no search today'],
  ])('says what GitHub says with status %s', async (status, message, said) => {
    const upstream = await startUpstream({ 'GET /search/repositories': { status, json: { message } } });
    expect((await errorOf(githubSearch, upstream.origin, calling)).message).toContain(said);
  });

  it('asks nobody without keywords', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(githubSearch, upstream.origin, { args: { query: '' } });
    expect(found.outputs).toEqual({ formalized_content: '', json: [] });
    expect(upstream.asked).toEqual([]);
  });
});
