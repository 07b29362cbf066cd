import { concatMap, map, type Observable } from 'rxjs';
import { z } from 'zod';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { isHtml } from '../adapters/egress/read-body.js';
import { BROWSER_HEADERS } from '../adapters/egress/request-headers.js';
import { toolFailed } from '../adapters/failures.js';
import { lineOf, loadHtml } from '../documents/pages/load-markup.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { oneOf, queryArgument, wholeNumber } from './fields.js';
import { passageBy } from './json-search.js';
import { defineSearch, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { ask, baseUrlOf, jsonOf, listIn, textAt, type UpstreamRequest } from './upstream.js';

const BASE_URL = 'https://duckduckgo.com';
const MAX_RESULTS = 50;

/** All regions. */
const REGION = 'wt-wt';

/** `text` is the older name of `general`. */
const CHANNELS = ['general', 'news', 'text'] as const;

/** Searches the web or the news. Errors: `TOOL_FAILED`, also when DuckDuckGo refuses programs for a while. */
export const duckduckgoSearch = defineSearch({
  component: 'DuckDuckGo',
  name: 'duckduckgo_search',
  summary: 'Searches the web, or the news, with DuckDuckGo.',
  advice: 'Search with a few keywords.',
  arguments: {
    query: queryArgument('Keywords to search for.'),
    channel: z.enum(CHANNELS).optional().describe('`news` for current events, else `general`.'),
  },
  params: {
    top_n: wholeNumber(10, 'Results at most, 1 to 50; default 10.', { max: MAX_RESULTS }),
    channel: oneOf(CHANNELS, 'general', 'general, or news; default general.'),
  },
  search({ query, channel }, call): Observable<ToolEvent> {
    const { top_n: most, channel: usual } = call.params;
    const hits$ = (channel ?? usual) === 'news' ? searchNews(query, most, call) : searchPages(query, most, call);
    return hits$.pipe(map((hits) => searchResult(hits.map(passageBy('body')), hits)));
  },
});

interface Hit extends JsonObject {
  readonly title: string;
  readonly url: string;
  /** The same as `url`, for canvases made for RAGFlow. */
  readonly href: string;
  readonly body: string;
}

type Call = Parameters<typeof ask>[1];

function searchPages(query: string, most: number, call: Call): Observable<Hit[]> {
  return askDuckDuckGo(call, '/html/', { q: query, kl: REGION, dc: most + 1 }).pipe(
    concatMap((response) => fromAbortable(() => pagesIn(response, most))),
  );
}

async function pagesIn(response: EgressResponse, most: number): Promise<Hit[]> {
  if (!isHtml(response.contentType)) throw toolFailed('the answer is not a web page');
  const $ = await loadHtml(response.text());
  if ($('.anomaly-modal__mask, .anomaly-modal__title').length > 0) throw refusal(response.status);
  const hits: Hit[] = [];
  for (const result of $('.result:not(.result--ad)')) {
    if (hits.length === most) break;
    const link = $(result).find('a.result__a').first();
    const title = lineOf(link.text());
    const url = targetOf(link.attr('href') ?? '');
    const body = lineOf($(result).find('.result__snippet').first().text());
    if (title !== '' && url !== undefined) hits.push({ title, url, href: url, body });
  }
  return hits;
}

/** The target of a link of a result page; undefined when that is no web page. */
function targetOf(href: string): string | undefined {
  if (!URL.canParse(href, BASE_URL)) return undefined;
  const url = new URL(href, BASE_URL);
  const isOwn = url.hostname === 'duckduckgo.com' || url.hostname.endsWith('.duckduckgo.com');
  const target = isOwn && url.pathname === '/l/' ? (url.searchParams.get('uddg') ?? '') : url.href;
  return /^https?:\/\//i.test(target) ? target : undefined;
}

/** News need a token from the result page of the same search. */
function searchNews(query: string, most: number, call: Call): Observable<Hit[]> {
  const page = { q: query, iar: 'news', ia: 'news', kl: REGION };
  return askDuckDuckGo(call, '/', page).pipe(
    concatMap((response) => {
      const [, vqd] = /vqd="([^"]{1,200})"/.exec(response.text()) ?? [];
      if (vqd === undefined) throw toolFailed('the page for news has changed: it holds no "vqd"');
      const search = { q: query, l: REGION, o: 'json', p: 1, s: 0, dc: most, vqd, u: 'bing' };
      return askDuckDuckGo(call, '/news.js', search);
    }),
    concatMap((response) => fromAbortable(() => newsIn(jsonOf(response), most))),
  );
}

async function newsIn(answer: Json, most: number): Promise<Hit[]> {
  const found = listIn(answer, 'results').slice(0, most);
  const hits = found.map(async (item): Promise<Hit> => {
    const [title, body] = await Promise.all([plain(textAt(item, 'title')), plain(textAt(item, 'excerpt'))]);
    const url = textAt(item, 'url');
    const { date = null, image = null, source = null } = isJsonObject(item) ? item : {};
    return { title, url, href: url, body, date, image, source };
  });
  return (await Promise.all(hits)).filter(({ title, url }) => title !== '' && url !== '');
}

/** Text without tags and character references. */
async function plain(html: string): Promise<string> {
  return /[<&]/.test(html) ? lineOf((await loadHtml(html)).text()) : lineOf(html);
}

function askDuckDuckGo(
  call: Call,
  path: string,
  query: NonNullable<UpstreamRequest['query']>,
): Observable<EgressResponse> {
  return ask(duckduckgoSearch, call, {
    url: `${baseUrlOf(duckduckgoSearch, call.services, BASE_URL)}${path}`,
    query,
    headers: BROWSER_HEADERS,
    timeoutSeconds: 10,
    attempts: 2,
    maxBytes: 2 * 1024 * 1024,
    accepts: (status) => status === 403,
  }).pipe(
    map((response) => {
      if (response.status === 202 || response.status === 403) throw refusal(response.status);
      return response;
    }),
  );
}

function refusal(status: number): Error {
  return toolFailed(`DuckDuckGo refuses requests of programs for a while (status ${status}); try again later`);
}
