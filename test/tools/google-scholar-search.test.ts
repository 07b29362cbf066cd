import { describe, expect, it } from 'vitest';
import { googleScholarSearch } from '../../src/tools/google-scholar-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const page = (body: string) => ({ text: `<!doctype html><html><body>${body}</body></html>`, type: 'text/html' });
const card = (heading: string, byline: string, snippet: string): string =>
  `<div class="gs_r gs_or gs_scl"><div class="gs_ri"><h3 class="gs_rt">${heading}</h3><div class="gs_a">${byline}</div>
   <div class="gs_rs">${snippet}</div><div class="gs_fl"><a href="/scholar?cites=1">Cited by 12</a></div></div></div>`;

const WORKS = page(
  card(
    '<span class="gs_ctc"><span class="gs_ct1">[PDF]</span></span> <a href="https://p.example/1.pdf">Dense <b>Retrieval</b></a>',
    'A Field, B Lin\u00a0- Journal of IR, 2023 - p.example',
    'We evaluate dense\n retrieval&hellip;',
  ) + card('<span class="gs_ctu">[CITATION]</span> Old Work', '1987 - Press', ''),
);
const routes: Routes = { 'GET /scholar': WORKS };
const calling = { args: { query: 'dense retrieval' } };

itBehavesAsUpstreamTool({ tool: googleScholarSearch, calling, routes, attempts: 1, repeats429: false });

describe('google_scholar_search', () => {
  it('finds works with their authors and years', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(googleScholarSearch, upstream.origin, calling);
    expect(upstream.asked[0]?.query).toEqual({ q: 'dense retrieval', hl: 'en', num: '12', as_sdt: '0,33' });
    expect(upstream.asked[0]?.headers['user-agent']).toContain('Mozilla/5.0');
    const snippet = 'We evaluate dense retrieval…';
    const authors = ['A Field', 'B Lin'];
    expect(found.outputs.json).toEqual([
      {
        title: 'Dense Retrieval',
        link: 'https://p.example/1.pdf',
        snippet,
        authors,
        year: '2023',
        bib: { title: 'Dense Retrieval', author: authors, pub_year: '2023', abstract: snippet },
        pub_url: 'https://p.example/1.pdf',
      },
      {
        title: 'Old Work',
        link: '',
        snippet: '',
        authors: [],
        year: '1987',
        bib: { title: 'Old Work', author: [], pub_year: '1987', abstract: '' },
        pub_url: '',
      },
    ]);
    expect(found.text).toContain(
      '├── Title: Dense Retrieval\n├── URL: https://p.example/1.pdf\n└── Content:\n' +
        `Authors: A Field, B Lin\nYear: 2023\nSnippet: ${snippet}`,
    );
    expect(found.text).toContain('├── Title: Old Work\n└── Content:\nYear: 1987');
  });

  it('asks for the newest of some years, and for no patents', async () => {
    const upstream = await startUpstream(routes);
    const params = { top_n: '1', sort_by: 'date', year_low: '2020', year_high: 2024, patents: false };
    const { outputs } = await resultOf(googleScholarSearch, upstream.origin, { ...calling, params });
    expect(upstream.asked[0]?.query).toEqual({
      q: 'dense retrieval',
      hl: 'en',
      num: '1',
      as_sdt: '1,33',
      scisbd: '1',
      as_ylo: '2020',
      as_yhi: '2024',
    });
    expect(outputs.json).toHaveLength(1);
  });

  it.each([
    ['in place of results', { 'GET /scholar': page('<form id="gs_captcha_f"></form>') }],
    [
      'on another page',
      {
        'GET /scholar': { status: 302, headers: { location: '/sorry/index?continue=x' } },
        'GET /sorry/index': page('<p>Our systems have detected unusual traffic</p>'),
      },
    ],
  ])('says that a captcha came %s', async (_, kept: Routes) => {
    const upstream = await startUpstream(kept);
    expect((await errorOf(googleScholarSearch, upstream.origin, calling)).message).toBe(
      'GoogleScholar error: Google Scholar takes this machine for a robot and asks for a captcha; try again later',
    );
  });

  it('finds nothing on a page without works, or without a question', async () => {
    const upstream = await startUpstream({ 'GET /scholar': page('did not match any articles') });
    for (const query of ['zzz', ' ']) {
      const { outputs } = await resultOf(googleScholarSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });

  it('asks no second time after 429, whatever the document says', async () => {
    const upstream = await startUpstream({
      'GET /scholar': { status: 429, headers: { 'retry-after': '1' }, ...page('') },
    });
    const patient = { ...calling, retries: { attempts: 3, delayMs: 0 } };
    const { message } = await errorOf(googleScholarSearch, upstream.origin, patient);
    expect(message).toContain('takes this machine for a robot (status 429, wait 1 seconds); try again later');
    expect(upstream.asked).toHaveLength(1);
  });
});
