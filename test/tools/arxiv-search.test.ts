import { describe, expect, it } from 'vitest';
import { arxivSearch } from '../../src/tools/arxiv-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const feed = (...entries: string[]): string => `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
 <title type="html">ArXiv Query: search_query=rag</title><id>http://arxiv.org/api/x1</id>
 ${entries.join('\n ')}
</feed>`;

const ENTRY = `<entry><id>http://arxiv.org/abs/2501.12345v1</id><published>2025-01-21T10:00:00Z</published>
  <title>Grounded Generation
   at Scale</title><summary>  We study a &lt; b
   for long documents. </summary>
  <author><name>Ada Field</name></author><author><name>Bo Lin</name></author>
  <link href="http://arxiv.org/abs/2501.12345v1" rel="alternate" type="text/html"/>
  <link title="pdf" href="http://arxiv.org/pdf/2501.12345v1" rel="related" type="application/pdf"/>
  <arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.CL"/></entry>`;
const BARE = '<entry><id>http://arxiv.org/abs/abs-1v2</id><title>B</title><summary>beta</summary></entry>';
const REASON = `<entry><id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title>
  <summary>incorrect id format for 1</summary></entry>`;

const atom = (text: string, status = 200) => ({ status, text, type: 'application/atom+xml' });
const routes: Routes = { 'GET /api/query': atom(feed(ENTRY, BARE)) };
const calling = { args: { query: 'rag' } };

itBehavesAsUpstreamTool({ tool: arxivSearch, calling, routes, attempts: 3 });

describe('arxiv_search', () => {
  it('asks in the order that is wanted and gives the papers, to be cited', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(arxivSearch, upstream.origin, {
      args: { query: 'ti:"dense retrieval"' },
      params: { top_n: '5', sort_by: 'relevance' },
    });
    expect(upstream.asked[0]?.query).toEqual({
      search_query: 'ti:"dense retrieval"',
      sortBy: 'relevance',
      sortOrder: 'descending',
      start: '0',
      max_results: '5',
    });
    expect(found.text).toContain(
      '├── Title: Grounded Generation at Scale\n├── URL: http://arxiv.org/pdf/2501.12345v1\n' +
        '└── Content:\nWe study a < b for long documents.',
    );
    expect(found.outputs.json).toEqual([
      {
        title: 'Grounded Generation at Scale',
        authors: ['Ada Field', 'Bo Lin'],
        summary: 'We study a < b for long documents.',
        pdf_url: 'http://arxiv.org/pdf/2501.12345v1',
        entry_id: 'http://arxiv.org/abs/2501.12345v1',
      },
      {
        title: 'B',
        authors: [],
        summary: 'beta',
        pdf_url: 'http://arxiv.org/abs/pdf-1v2',
        entry_id: 'http://arxiv.org/abs/abs-1v2',
      },
    ]);
    expect(found.references?.chunks['475']).toMatchObject({ content: 'beta', document_name: 'B' });
  });

  it('takes no more papers than were asked for', async () => {
    const upstream = await startUpstream(routes);
    const { outputs } = await resultOf(arxivSearch, upstream.origin, { ...calling, params: { top_n: 1 } });
    expect(outputs.json).toHaveLength(1);
  });

  it.each([
    ['with a refusal', atom(feed(REASON), 400), 'arXiv refuses the search: incorrect id format for 1'],
    ['with a refusal that looks well', atom(feed(REASON)), 'arXiv refuses the search: incorrect id format for 1'],
    ['with no reason', atom(feed(), 400), 'arXiv refuses the search (status 400)'],
    ['with a page', { text: '<html>', type: 'text/html' }, 'the answer is not an Atom feed'],
  ])('fails when arXiv answers %s', async (_, reply, message) => {
    const upstream = await startUpstream({ 'GET /api/query': reply });
    expect((await errorOf(arxivSearch, upstream.origin, calling)).message).toBe(`ArXiv error: ${message}`);
    expect(upstream.asked).toHaveLength(1);
  });

  it('reads the beginning of an entry that never ends, and what stands behind it', async () => {
    const authors = '<author><name>A</name></author>'.repeat(20_000);
    const long = `<entry><id>http://arxiv.org/abs/1</id><title>Long</title><summary>alpha</summary>${authors}</entry>`;
    const upstream = await startUpstream({ 'GET /api/query': atom(feed(long, BARE)) });
    const { outputs } = await resultOf(arxivSearch, upstream.origin, calling);
    expect(outputs.json).toMatchObject([{ title: 'Long', summary: 'alpha' }, { title: 'B' }]);
  });

  it('expands no entities that a feed declares', async () => {
    const bomb = `<!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>${feed(
      '<entry><id>http://arxiv.org/abs/1</id><title>&b;</title><summary>beta</summary></entry>',
    )}`;
    const upstream = await startUpstream({ 'GET /api/query': atom(bomb) });
    const { outputs } = await resultOf(arxivSearch, upstream.origin, calling);
    expect(outputs.json).toMatchObject([{ title: '&b;' }]);
  });

  it('finds nothing in an empty feed, or without a question', async () => {
    const upstream = await startUpstream({ 'GET /api/query': atom(feed()) });
    for (const query of ['x', '']) {
      const { outputs } = await resultOf(arxivSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });
});
