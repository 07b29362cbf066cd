import { z } from 'zod';
import { queryArgument, text, wholeNumber, withoutEndSlashes } from './fields.js';
import { defineJsonSearch, passageBy } from './json-search.js';
import { baseUrlOf, listIn } from './upstream.js';

/**
 * Searches the web through an instance of SearXNG. Where the operator has set its base URL, that one is used, whatever a
 * document or model says; any other is judged like every URL from outside.
 *
 * Errors: `TOOL_FAILED` with what the instance answers; `URL_BLOCKED` or `URL_INVALID` for its URL.
 */
export const searxngSearch = defineJsonSearch({
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
  request({ query, searxng_url: named }, { params, services }) {
    const own = baseUrlOf(searxngSearch, services, '');
    const base = own || withoutEndSlashes(params.searxng_url.trim() || named.trim());
    if (base === '') return undefined;
    return {
      base,
      path: '/search',
      query: { q: query, format: 'json', categories: 'general', language: 'auto', safesearch: 1, pageno: 1 },
      isForeign: own === '',
      timeoutSeconds: 10,
      attempts: 1,
      most: params.top_n,
    };
  },
  results: (answer) => listIn(answer, 'results'),
  passage: passageBy('content'),
});
