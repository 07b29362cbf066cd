/** Requests to Yahoo Finance: its search, its chart, and its summaries, which want a cookie and a word that belongs to it. */
import { concatMap, map, type Observable } from 'rxjs';
import { BROWSER_HEADERS } from '../../adapters/egress/browser-headers.js';
import { toolFailed } from '../../adapters/failures.js';
import { said } from '../../adapters/said.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AnyTool, ToolCall } from '../tool.js';
import { ask, askJson, baseUrlOf, listAt, objectOf, textAt, type UpstreamRequest } from '../upstream.js';

const DATA_URL = 'https://query1.finance.yahoo.com';
const SUMMARY_URL = 'https://query2.finance.yahoo.com';
const COOKIE_URL = 'https://fc.yahoo.com';

const LIMITS = { timeoutSeconds: 15, attempts: 1 } as const;
const HEADERS = { 'user-agent': BROWSER_HEADERS['user-agent'], 'accept-language': 'en-US,en;q=0.9' } as const;
const MAX_COOKIES = 10;

/** The three kinds of questions. Errors of each: `TOOL_FAILED` with what Yahoo answers. */
export interface Yahoo {
  /** The first quote for some words, and news about it. */
  search(words: string): Observable<JsonObject>;
  /** A month of prices by day, and facts about the symbol in `meta`. */
  chart(symbol: string): Observable<JsonObject>;
  /** Parts of what Yahoo knows about a company, by the names of its modules. */
  summary(symbol: string, modules: readonly string[]): Observable<JsonObject>;
}

/** Makes the questions of one call. */
export function createYahoo(tool: AnyTool, call: ToolCall<unknown>): Yahoo {
  const at = (usual: string): string => baseUrlOf(tool, call.services, usual);
  const asking = (request: Pick<UpstreamRequest, 'url' | 'query' | 'headers' | 'accepts' | 'secrets'>) =>
    askJson(tool, call, { ...LIMITS, ...request, headers: { ...HEADERS, ...request.headers } });
  // A symbol that does not exist is a 404 whose body says so.
  const accepts = (status: number): boolean => status === 404;
  return {
    search: (words) =>
      asking({
        url: `${at(SUMMARY_URL)}/v1/finance/search`,
        query: { q: words, quotesCount: 1, newsCount: 10 },
      }).pipe(map(objectOf)),
    chart: (symbol) =>
      asking({
        url: `${at(DATA_URL)}/v8/finance/chart/${encodeURIComponent(symbol)}`,
        query: { range: '1mo', interval: '1d' },
        accepts,
      }).pipe(map((answer) => resultIn(answer, 'chart', symbol))),
    summary: (symbol, modules) =>
      openSession(tool, call).pipe(
        concatMap(({ cookie, crumb }) =>
          asking({
            url: `${at(SUMMARY_URL)}/v10/finance/quoteSummary/${encodeURIComponent(symbol)}`,
            query: { modules: modules.join(','), crumb },
            headers: { cookie },
            secrets: [cookie, crumb],
            accepts,
          }),
        ),
        map((answer) => resultIn(answer, 'quoteSummary', symbol)),
      ),
  };
}

interface Session {
  readonly cookie: string;
  readonly crumb: string;
}

/** Takes the cookie of any answer, and asks for the crumb that belongs to it. */
function openSession(tool: AnyTool, call: ToolCall<unknown>): Observable<Session> {
  const at = (usual: string): string => baseUrlOf(tool, call.services, usual);
  const request = { ...LIMITS, method: 'GET', headers: HEADERS } as const;
  return ask(tool, call, { ...request, url: `${at(COOKIE_URL)}/`, accepts: () => true }).pipe(
    map(({ headers }) => cookieOf(headers['set-cookie'] ?? '')),
    concatMap((cookie) =>
      ask(tool, call, {
        ...request,
        url: `${at(DATA_URL)}/v1/test/getcrumb`,
        headers: { ...HEADERS, cookie },
        secrets: [cookie],
      }).pipe(map((answer) => ({ cookie, crumb: crumbOf(answer.text()) }))),
    ),
  );
}

/** The cookies of a `set-cookie` header, several joined by `, `; a comma within a date is followed by no `name=`. */
export function cookieOf(header: string): string {
  const pairs = header
    .split(/,(?=\s*[^\s;,=]+=)/)
    .map((one) => (one.split(';')[0] ?? '').trim())
    .filter((pair) => /^[^\s=]+=./.test(pair));
  if (pairs.length === 0) throw toolFailed('Yahoo gave no cookie, without which it answers nothing');
  return pairs.slice(0, MAX_COOKIES).join('; ');
}

function crumbOf(text: string): string {
  const crumb = text.trim();
  if (/^[^\s<>{}]{1,100}$/.test(crumb)) return crumb;
  throw toolFailed('Yahoo gave no crumb, without which it gives no statements');
}

/** What lies in `{[name]: {result: […], error}}`. */
function resultIn(answer: Json, name: string, symbol: string): JsonObject {
  const part = objectOf(answer)[name];
  const error = isJsonObject(part) ? part.error : undefined;
  if (error !== undefined && error !== null) {
    throw toolFailed(said(textAt(error, 'description') || textAt(error, 'code')) || 'Yahoo reports an error');
  }
  const result = listAt(part, 'result')?.[0];
  if (isJsonObject(result)) return result;
  throw toolFailed(`Yahoo has nothing about ${JSON.stringify(symbol)}`);
}
