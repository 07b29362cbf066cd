import { describe, expect, it } from 'vitest';
import { duckduckgoSearch } from '../../src/tools/duckduckgo-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const page = (body: string) => ({ text: `<!doctype html><html><body>${body}</body></html>`, type: 'text/html' });
const result = (href: string, title: string, snippet: string, more = ''): string =>
  `<div class="result results_links web-result ${more}"><h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">${title}</a></h2>
   <a class="result__snippet" href="#">${snippet}</a></div>`;

const PAGES = page(
  result('//duckduckgo.com/y.js?ad_domain=shop.example', 'Buy', 'now', 'result--ad') +
    result(
      '//duckduckgo.com/l/?uddg=https%3A%2F%2Fragflow.io%2Fa%3Fb%3D1%26c&rut=ab1',
      'RAG&amp;Flow',
      'An <b>open</b>\n engine',
    ) +
    result('https://b.example/', 'B', 'beta') +
    result('javascript:alert(1)', 'evil', 'x') +
    result('https://c.example/', '', 'no title'),
);
const NEWS = {
  results: [
    {
      date: 1763500000,
      title: 'Launch &quot;day&quot;',
      excerpt: 'Probe &amp; <b>lander</b> lift off',
      url: 'https://news.example/a',
      image: 'https://news.example/a.jpg',
      source: 'Example',
    },
    { title: 'no link', excerpt: 'x' },
  ],
};
const routes: Routes = {
  'GET /html/': PAGES,
  'GET /': page(`<script>DDG.deep.initialize('/d.js');vqd="4-123456";</script>`),
  'GET /news.js': { json: NEWS },
};
const calling = { args: { query: 'rag' } };

itBehavesAsUpstreamTool({ tool: duckduckgoSearch, calling, routes, attempts: 2 });

describe('duckduckgo_search', () => {
  it('finds pages, without advertisements and anything that is no page', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(duckduckgoSearch, upstream.origin, { ...calling, params: { top_n: 5 } });
    expect(upstream.asked[0]?.query).toEqual({ q: 'rag', kl: 'wt-wt', dc: '6' });
    expect(upstream.asked[0]?.headers['user-agent']).toContain('Mozilla/5.0');
    const url = 'https://ragflow.io/a?b=1&c';
    expect(found.outputs.json).toEqual([
      { title: 'RAG&Flow', url, href: url, body: 'An open engine' },
      { title: 'B', url: 'https://b.example/', href: 'https://b.example/', body: 'beta' },
    ]);
    expect(found.text).toContain(`├── Title: RAG&Flow\n├── URL: ${url}\n└── Content:\nAn open engine`);
    expect(found.references?.chunks['475']).toMatchObject({ content: 'beta' });
  });

  it('keeps to the number of results that is wanted', async () => {
    const upstream = await startUpstream(routes);
    const { outputs } = await resultOf(duckduckgoSearch, upstream.origin, { ...calling, params: { top_n: 1 } });
    expect(outputs.json).toHaveLength(1);
  });

  it.each([
    ['the call', { query: 'rag', channel: 'news' }, {}],
    ['the document', { query: 'rag' }, { channel: 'news' }],
    ['the call rather than the document', { query: 'rag', channel: 'news' }, { channel: 'text' }],
  ])('finds news where %s says so', async (_, args, params) => {
    const upstream = await startUpstream(routes);
    const { outputs, text } = await resultOf(duckduckgoSearch, upstream.origin, { args, params });
    expect(upstream.asked.map(({ path, query }) => [path, query])).toEqual([
      ['/', { q: 'rag', iar: 'news', ia: 'news', kl: 'wt-wt' }],
      ['/news.js', { q: 'rag', l: 'wt-wt', o: 'json', p: '1', s: '0', dc: '10', vqd: '4-123456', u: 'bing' }],
    ]);
    expect(outputs.json).toEqual([
      {
        title: 'Launch "day"',
        url: 'https://news.example/a',
        href: 'https://news.example/a',
        body: 'Probe & lander lift off',
        date: 1763500000,
        image: 'https://news.example/a.jpg',
        source: 'Example',
      },
    ]);
    expect(text).toContain('Probe & lander lift off');
  });

  it.each([
    ['202', { status: 202, ...page('') }, 'refuses requests of programs for a while (status 202)'],
    ['403', { status: 403 }, 'refuses requests of programs for a while (status 403)'],
    [
      'a riddle',
      page('<div class="anomaly-modal__mask"></div>'),
      'refuses requests of programs for a while (status 200)',
    ],
  ])('says that it is kept out by %s, and does not insist', async (_, reply, said) => {
    const upstream = await startUpstream({ 'GET /html/': reply });
    expect((await errorOf(duckduckgoSearch, upstream.origin, calling)).message).toContain(said);
    expect(upstream.asked).toHaveLength(1);
  });

  it('says that news cannot be asked for without their token', async () => {
    const upstream = await startUpstream({ ...routes, 'GET /': page('<p>welcome</p>') });
    const error = await errorOf(duckduckgoSearch, upstream.origin, { args: { query: 'x', channel: 'news' } });
    expect(error.message).toBe('DuckDuckGo error: the page for news has changed: it holds no "vqd"');
  });

  it('reads the beginning of a page that never ends', async () => {
    const endless = result('https://b.example/', 'B', 'beta') + '<i>'.repeat(200_000) + '</b>'.repeat(200_000);
    const upstream = await startUpstream({ 'GET /html/': page(endless) });
    const { outputs } = await resultOf(duckduckgoSearch, upstream.origin, calling);
    expect(outputs.json).toMatchObject([{ title: 'B', url: 'https://b.example/' }]);
  });

  it('finds nothing on a page without results, or without a question', async () => {
    const upstream = await startUpstream({ 'GET /html/': page('<div class="no-results">No results.</div>') });
    for (const query of ['zzz', '']) {
      const { outputs } = await resultOf(duckduckgoSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });
});
