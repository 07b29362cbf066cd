import { map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import type { Json } from '../json.js';
import { queryArgument, text, wholeNumber, withoutEndSlashes } from './fields.js';
import { defineSearch, NOTHING_FOUND, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { askJson, baseUrlOf, listIn, numberAt, textAt } from './upstream.js';

/**
 * Searches the web through an instance of SearXNG. Where the operator has set its base URL, that one is used, whatever a
 * document or model says; any other is judged like every URL from outside.
 *
 * Errors: `TOOL_FAILED` with what the instance answers; `URL_BLOCKED` or `URL_INVALID` for its URL.
 */
export const searxngSearch = defineSearch({
  component: 'SearXNG',
  name: 'searxng_search',
  aliases: ['searxng'],
  summary: 'Searches the web through an own instance of SearXNG, which asks many search engines at once.',
  advice: 'Ask with a few words; leave the URL of the instance out unless the user names one.',
  arguments: {
    query: queryArgument('What to search for: a few words.'),
    searxng_url: z.string().default('').describe('URL of the instance, such as http://localhost:4000; default none.'),
  },
  params: {
    top_n: wholeNumber(10, 'Results at most; default 10.', { max: 100 }),
    searxng_url: text('URL of the instance, such as http://localhost:4000; wins over the argument. Default none.'),
  },
  search({ query, searxng_url: named }, call): Observable<ToolEvent> {
    const { top_n: most, searxng_url: given } = call.params;
    const own = baseUrlOf(searxngSearch, call.services, '');
    const base = own || withoutEndSlashes(given.trim() || named.trim());
    if (base === '') return of(NOTHING_FOUND);
    return askJson(searxngSearch, call, {
      url: `${base}/search`,
      query: { q: query, format: 'json', categories: 'general', language: 'auto', safesearch: 1, pageno: 1 },
      isForeign: own === '',
      timeoutSeconds: 10,
      attempts: 1,
    }).pipe(
      map((answer) => {
        const results = listIn(answer, 'results').slice(0, most);
        return searchResult(results.map(toPassage), results);
      }),
    );
  },
});

function toPassage(result: Json): Passage {
  return {
    title: textAt(result, 'title'),
    url: textAt(result, 'url'),
    content: textAt(result, 'content'),
    score: numberAt(result, 'score'),
  };
}
