import { describe, expect, it } from 'vitest';
import { wikipediaSearch } from '../../src/tools/wikipedia-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const page = (pageid: number, title: string, index: number, extract: string, more = {}) => ({
  [pageid]: { pageid, ns: 0, title, index, extract, ...more },
});
const PAGES = {
  ...page(100, 'Second Thing', 2, 'beta'),
  ...page(200, 'Retrieval', 1, 'alpha', { fullurl: 'https://en.wikipedia.org/wiki/Retrieval' }),
  ...page(300, 'Empty', 3, ''),
};
const routes: Routes = { 'GET /w/api.php': { json: { batchcomplete: '', query: { pages: PAGES } } } };
const calling = { args: { query: 'retrieval' } };

itBehavesAsUpstreamTool({ tool: wikipediaSearch, calling, routes, attempts: 2 });

describe('wikipedia_search', () => {
  it('asks once for articles and their beginnings, and gives them best first', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(wikipediaSearch, upstream.origin, { ...calling, params: { top_n: '5' } });
    expect(upstream.asked.map(({ query }) => query)).toEqual([
      {
        action: 'query',
        format: 'json',
        generator: 'search',
        gsrsearch: 'retrieval',
        gsrlimit: '5',
        prop: 'extracts|info',
        exintro: '1',
        explaintext: '1',
        exlimit: 'max',
        inprop: 'url',
      },
    ]);
    expect(found.outputs.json).toEqual([
      { title: 'Retrieval', url: 'https://en.wikipedia.org/wiki/Retrieval', content: 'alpha' },
      { title: 'Second Thing', url: 'https://en.wikipedia.org/wiki/Second_Thing', content: 'beta' },
    ]);
    expect(found.text).toContain('├── Title: Retrieval');
    expect(found.references?.chunks['80']).toMatchObject({ content: 'alpha' });
  });

  it('gives no more than it was asked for', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(wikipediaSearch, upstream.origin, { ...calling, params: { top_n: 1 } });
    expect(found.outputs.json).toHaveLength(1);
  });

  it.each([
    ['nothing matches', { batchcomplete: '' }],
    ['the list is empty', { query: { pages: {} } }],
  ])('is empty when %s', async (_when, json) => {
    const upstream = await startUpstream({ 'GET /w/api.php': { json } });
    expect(await resultOf(wikipediaSearch, upstream.origin, calling)).toMatchObject({
      text: '',
      outputs: { json: [] },
    });
  });

  it('takes an error in a success for an error', async () => {
    const upstream = await startUpstream({ 'GET /w/api.php': { json: { error: { code: 'bad', info: 'bad value' } } } });
    expect((await errorOf(wikipediaSearch, upstream.origin, calling)).message).toBe('Wikipedia error: bad value');
  });

  it('takes no language that is not listed, for it becomes part of the host', () => {
    expect(wikipediaSearch.params.language.safeParse('evil.example/').success).toBe(false);
    expect(wikipediaSearch.params.language.parse('zh')).toBe('zh');
  });

  it('asks nobody when it is asked nothing', async () => {
    const upstream = await startUpstream(routes);
    await resultOf(wikipediaSearch, upstream.origin, { args: { query: ' ' } });
    expect(upstream.asked).toEqual([]);
  });
});
