import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { searxngSearch } from '../../src/tools/searxng-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const RESULTS = [
  { url: 'https://a.example', title: 'A', content: 'alpha', engine: 'bing', score: 1.5 },
  { url: 'https://b.example', title: 'B', content: 'beta', engine: 'bing' },
];
const routes: Routes = { 'GET /search': { json: { query: 'rag', results: RESULTS, suggestions: [] } } };
const calling = { args: { query: 'rag' } };
/** Without a base URL of the operator's. */
const http = (allowPrivateNetwork: boolean) => ({
  services: { http: createEgressClient({ allowPrivateNetwork }), tools: {} },
});

itBehavesAsUpstreamTool({ tool: searxngSearch, calling, routes, attempts: 1 });

describe('searxng_search', () => {
  it('asks the instance that the node names, before the one that a model names', async () => {
    const { origin, asked } = await startUpstream(routes);
    const found = await resultOf(searxngSearch, origin, {
      args: { query: 'rag', searxng_url: 'http://model.invalid' },
      params: { searxng_url: `${origin}/`, top_n: '1' },
      ...http(true),
    });
    expect(asked.map(({ query }) => query)).toEqual([
      { q: 'rag', format: 'json', categories: 'general', language: 'auto', safesearch: '1', pageno: '1' },
    ]);
    expect(found.outputs.json).toEqual([RESULTS[0]]);
    expect(found.references?.chunks['80']).toMatchObject({ content: 'alpha', similarity: 1.5 });
  });

  it('asks the instance of a model when the node has none', async () => {
    const { origin, asked } = await startUpstream(routes);
    await resultOf(searxngSearch, origin, { args: { query: 'rag', searxng_url: origin }, ...http(true) });
    expect(asked).toHaveLength(1);
  });

  it('does not reach into private networks for a document', async () => {
    const { origin, asked } = await startUpstream(routes);
    const error = await errorOf(searxngSearch, origin, { ...calling, params: { searxng_url: origin }, ...http(false) });
    expect(error).toMatchObject({ code: 'URL_BLOCKED', message: expect.stringMatching(/^SearXNG error: /) });
    expect(asked).toEqual([]);
  });

  it('asks the instance of the operator, wherever it is, whatever a document says', async () => {
    const { origin, asked } = await startUpstream(routes);
    await resultOf(searxngSearch, origin, {
      ...calling,
      params: { searxng_url: 'http://document.invalid' },
      services: { ...http(false).services, tools: { baseUrls: { SearXNG: `${origin}/` } } },
    });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['there is no URL', { query: 'rag' }],
    ['there is no question', { query: ' ', searxng_url: 'http://search.invalid' }],
  ])('finds nothing when %s', async (_when, args) => {
    expect(await resultOf(searxngSearch, '', { args, ...http(true) })).toMatchObject({
      text: '',
      outputs: { json: [] },
    });
  });

  it('says when an answer has another form', async () => {
    const { origin } = await startUpstream({ 'GET /search': { json: { results: 'none' } } });
    const { message } = await errorOf(searxngSearch, origin, calling);
    expect(message).toBe('SearXNG error: the "results" of the answer is no list');
  });
});
