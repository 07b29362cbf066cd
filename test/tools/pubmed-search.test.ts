import { describe, expect, it } from 'vitest';
import { pubmedSearch } from '../../src/tools/pubmed-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const ARTICLE = `<PubmedArticle><MedlineCitation><PMID Version="1">38000001</PMID><Article>
  <Journal><JournalIssue><Volume>12</Volume><Issue>3</Issue></JournalIssue><Title>Journal of Sleep</Title></Journal>
  <ArticleTitle>Light and <i>sleep</i></ArticleTitle><Pagination><MedlinePgn>101-9</MedlinePgn></Pagination>
  <Abstract><AbstractText Label="AIM">Why H<sub>2</sub>O.</AbstractText><AbstractText Label="RESULTS">Because.</AbstractText></Abstract>
  <AuthorList><Author><LastName>Roe</LastName><ForeName>Jan</ForeName></Author>
    <Author><CollectiveName>The Night Group</CollectiveName></Author></AuthorList></Article></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pubmed">38000001</ArticleId><ArticleId IdType="doi">10.1000/js.1</ArticleId></ArticleIdList>
    <ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1000/cited</ArticleId></ArticleIdList></Reference></ReferenceList>
  </PubmedData></PubmedArticle>`;
const BARE = `<PubmedArticle><MedlineCitation><PMID>38000002</PMID><Article><ArticleTitle>B</ArticleTitle></Article>
  </MedlineCitation></PubmedArticle>`;

const xml = (...articles: string[]) => ({
  text: `<?xml version="1.0"?><PubmedArticleSet>${articles.join('')}</PubmedArticleSet>`,
  type: 'text/xml',
});
const found = (...ids: string[]) => ({ json: { header: { type: 'esearch' }, esearchresult: { idlist: ids } } });

const SEARCH = 'GET /entrez/eutils/esearch.fcgi';
const FETCH = 'GET /entrez/eutils/efetch.fcgi';
const routes: Routes = { [SEARCH]: found('38000001', '38000002'), [FETCH]: xml(ARTICLE, BARE) };
const calling = { args: { query: 'sleep' } };

itBehavesAsUpstreamTool({ tool: pubmedSearch, calling, routes, attempts: 3 });

describe('pubmed_search', () => {
  it('finds ids first, then the articles, and tells what stands in them', async () => {
    const upstream = await startUpstream(routes);
    const { text, outputs } = await resultOf(pubmedSearch, upstream.origin, {
      args: { query: 'sleep[Title]' },
      params: { top_n: '7', email: 'me@example.org' },
    });
    expect(upstream.asked.map(({ query }) => query)).toEqual([
      { db: 'pubmed', term: 'sleep[Title]', retmax: '7', retmode: 'json', email: 'me@example.org' },
      { db: 'pubmed', id: '38000001,38000002', retmode: 'xml', email: 'me@example.org' },
    ]);
    const content = [
      'Title: Light and sleep',
      'Authors: Jan Roe, The Night Group',
      'Journal: Journal of Sleep',
      'Volume: 12',
      'Issue: 3',
      'Pages: 101-9',
      'DOI: 10.1000/js.1',
      'Abstract: Why H2O. Because.',
    ].join('\n');
    const url = 'https://pubmed.ncbi.nlm.nih.gov/38000001';
    expect(text).toContain(`├── Title: Light and sleep\n├── URL: ${url}\n└── Content:\n${content}`);
    expect(outputs.json).toEqual([
      { title: 'Light and sleep', url, content },
      {
        title: 'B',
        url: 'https://pubmed.ncbi.nlm.nih.gov/38000002',
        content:
          'Title: B\nAuthors: Unknown Authors\nJournal: Unknown Journal\nVolume: -\nIssue: -\nPages: -\nDOI: -\n' +
          'Abstract: No abstract available',
      },
    ]);
  });

  it('keeps the abstract of an article that has hundreds of authors', async () => {
    const authors = '<Author><LastName>Roe</LastName></Author>'.repeat(4_000);
    const upstream = await startUpstream({
      ...routes,
      [FETCH]: xml(ARTICLE.replace(/<AuthorList>[\s\S]*<\/AuthorList>/, `<AuthorList>${authors}</AuthorList>`)),
    });
    const { text } = await resultOf(pubmedSearch, upstream.origin, calling);
    expect(text).toContain(`Authors: ${'Roe, '.repeat(100)}et al.\n`);
    expect(text).toContain('Abstract: Why H2O. Because.');
  });

  it('passes on no id that is none', async () => {
    const upstream = await startUpstream({ ...routes, [SEARCH]: found('1&db=secret', '38000002') });
    await resultOf(pubmedSearch, upstream.origin, calling);
    expect(upstream.asked[1]?.query.id).toBe('38000002');
  });

  it('finds nothing where there are no ids, or no question', async () => {
    const upstream = await startUpstream({ ...routes, [SEARCH]: found() });
    for (const query of ['zzz', ' ']) {
      const { outputs } = await resultOf(pubmedSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });

  it.each([
    ['a limit', { [SEARCH]: { json: { error: 'API rate limit exceeded', count: '4' } } }, 'API rate limit exceeded'],
    ['a refusal', { [SEARCH]: { json: { esearchresult: { ERROR: 'Invalid term' } } } }, 'Invalid term'],
    ['no list', { [SEARCH]: { json: {} } }, 'the answer holds no list of articles'],
    ['a page', { [FETCH]: { text: '<html>' } }, 'the answer is not a list of articles'],
  ])('fails for %s', async (_, different: Routes, message) => {
    const upstream = await startUpstream({ ...routes, ...different });
    expect((await errorOf(pubmedSearch, upstream.origin, calling)).message).toBe(`PubMed error: ${message}`);
  });

  it('tries the second request again as well', async () => {
    const upstream = await startUpstream({ ...routes, [FETCH]: [{ status: 503 }, xml(BARE)] });
    const { outputs } = await resultOf(pubmedSearch, upstream.origin, calling);
    expect(outputs.json).toHaveLength(1);
    expect(upstream.asked).toHaveLength(3);
  });
});
