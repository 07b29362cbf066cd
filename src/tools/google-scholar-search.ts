import type { CheerioAPI } from 'cheerio';
import { concatMap, map, type Observable } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { isHtml } from '../adapters/egress/read-body.js';
import { BROWSER_HEADERS } from '../adapters/egress/request-headers.js';
import { toolFailed } from '../adapters/failures.js';
import { lineOf, loadHtml } from '../documents/pages/load-markup.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { flag, oneOf, optionalWholeNumber, queryArgument, wholeNumber } from './fields.js';
import { defineSearch, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { ask, baseUrlOf } from './upstream.js';

const BASE_URL = 'https://scholar.google.com';

const YEAR = /\b(?:19|20)\d\d\b/;

/** Searches Google Scholar. Errors: `TOOL_FAILED`, also when it asks for a CAPTCHA. */
export const googleScholarSearch = defineSearch({
  component: 'GoogleScholar',
  name: 'google_scholar_search',
  aliases: ['google_scholar'],
  summary: 'Finds scholarly literature, theses, patents and court opinions with Google Scholar.',
  advice: 'Search with the most telling terms; `author:` and quoted phrases narrow it down.',
  arguments: { query: queryArgument('Terms to search for.') },
  params: {
    top_n: wholeNumber(12, 'Results at most, 1 to 20; default 12.', { max: 20 }),
    sort_by: oneOf(
      ['relevance', 'date'],
      'relevance',
      'What comes first: the best match or the newest; default relevance.',
    ),
    year_low: optionalWholeNumber('First year of publication; default any.'),
    year_high: optionalWholeNumber('Last year of publication; default any.'),
    patents: flag(true, 'Finds patents too; default true.'),
  },
  search({ query }, call): Observable<ToolEvent> {
    const { top_n: most, sort_by: order, year_low: from, year_high: to, patents } = call.params;
    return ask(googleScholarSearch, call, {
      url: `${baseUrlOf(googleScholarSearch, call.services, BASE_URL)}/scholar`,
      query: {
        q: query,
        hl: 'en',
        num: most,
        as_sdt: patents ? '0,33' : '1,33',
        scisbd: order === 'date' ? 1 : undefined,
        as_ylo: from ?? undefined,
        as_yhi: to ?? undefined,
      },
      headers: BROWSER_HEADERS,
      timeoutSeconds: 15,
      attempts: 1,
      // Counted as an answer, so that it is not retried: more requests prolong the block.
      accepts: (status) => status === 429,
      maxBytes: 2 * 1024 * 1024,
    }).pipe(
      concatMap((response) => fromAbortable(() => worksIn(response, most))),
      map((works) => searchResult(works.map(toPassage), works)),
    );
  },
});

async function worksIn(response: EgressResponse, most: number) {
  const { status, headers } = response;
  const wait = headers['retry-after'] === undefined ? '' : `, wait ${headers['retry-after'].slice(0, 40)} seconds`;
  if (status === 429) throw refusal(` (status 429${wait})`);
  if (!isHtml(response.contentType)) throw toolFailed('the answer is not a web page');
  const $ = await loadHtml(response.text());
  const isSorry = new URL(response.url).pathname.startsWith('/sorry/');
  const forms = $('#gs_captcha_f, #gs_captcha_ccl, form[action*="/sorry/"]');
  if (isSorry || forms.length > 0) throw refusal(' and asks for a captcha');
  const cards = [...$('.gs_ri')].slice(0, most);
  return cards.map((card) => toWork($, card)).filter(({ title }) => title !== '');
}

function refusal(how: string): Error {
  return toolFailed(`Google Scholar takes this machine for a robot${how}; try again later`);
}

function toWork($: CheerioAPI, card: Parameters<CheerioAPI>[0]) {
  const heading = $(card).find('.gs_rt').first();
  // Marks such as [PDF] and [CITATION] are no part of a title that has no link.
  heading.find('.gs_ctu, .gs_ctc').remove();
  const anchor = heading.find('a').first();
  const title = lineOf((anchor.length > 0 ? anchor : heading).text());
  const link = webUrl(anchor.attr('href') ?? '');
  const snippet = lineOf($(card).find('.gs_rs').first().text());
  const byline = lineOf($(card).find('.gs_a').first().text());
  const [year = ''] = YEAR.exec(byline) ?? [];
  const [names = ''] = byline.split(' - ');
  // Without authors the line begins with the year.
  const authors = names
    .split(',')
    .map(lineOf)
    .filter((name) => name !== '' && name !== year);
  // The other fields repeat this in the format of RAGFlow's library.
  const bib = { title, author: authors, pub_year: year, abstract: snippet };
  return { title, link, snippet, authors, year, bib, pub_url: link };
}

function webUrl(href: string): string {
  const url = URL.canParse(href, BASE_URL) ? new URL(href, BASE_URL).href : '';
  return href !== '' && /^https?:/.test(url) ? url : '';
}

function toPassage({ title, link, authors, year, snippet }: ReturnType<typeof toWork>): Passage {
  const lines = [
    ['Authors', authors.join(', ')],
    ['Year', year],
    ['Snippet', snippet],
  ].filter(([, value]) => value !== '');
  return { title, url: link, content: lines.map(([label, value]) => `${label}: ${value}`).join('\n') };
}
