import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { lineOf } from '../documents/pages/load-markup.js';
import type { Json } from '../json.js';
import { oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { defineSearch, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { settingOf, type ToolServices } from './tool-services.js';
import { askJson, baseUrlOf, listIn, textAt } from './upstream.js';

const BASE_URL = 'https://api.keenable.ai';
const URL_SETTING = 'KEENABLE_API_URL';
const NO_KEY = 'Keenable needs a key ("api_key") for the mode "realtime"';

/** Searches the web through Keenable. Errors: `TOOL_FAILED` for a mode that needs a key, or with what Keenable answers. */
export const keenableSearch = defineSearch({
  component: 'KeenableSearch',
  name: 'keenable_search',
  aliases: ['keenable'],
  summary: 'Searches the web for fresh pages, on one site where that is wanted.',
  advice: 'Ask one short question at a time.',
  arguments: {
    query: queryArgument('What to search for.'),
    site: z.string().default('').describe('Only pages of this domain, such as `example.com`; default all.'),
  },
  params: {
    api_key: text('Key of Keenable; default none, which is enough for the mode pro.'),
    mode: oneOf(['pro', 'realtime'], 'pro', 'pro, or realtime, which needs a key; default pro.'),
    top_n: wholeNumber(10, 'Results at most, 1 to 100; default 10.', { max: 100 }),
  },
  check: ({ api_key: key, mode }) => (mode === 'realtime' && key.trim() === '' ? [NO_KEY] : []),
  search({ query, site }, call): Observable<ToolEvent> {
    const { api_key: given, mode, top_n: most } = call.params;
    const key = given.trim();
    // Once more: a reference may have turned out to be empty.
    if (mode === 'realtime' && key === '') throw toolFailed(NO_KEY);
    const path = key === '' ? '/v1/search/public' : '/v1/search';
    return askJson(keenableSearch, call, {
      url: `${baseUrlOf(keenableSearch, call.services, usualUrl(call.services))}${path}`,
      method: 'POST',
      headers: { 'x-keenable-title': 'Runnel', ...(key === '' ? {} : { 'x-api-key': key }) },
      json: { query, mode, ...(site.trim() === '' ? {} : { site: site.trim() }) },
      timeoutSeconds: 30,
      attempts: 2,
      secrets: [key],
    }).pipe(
      map((answer) => {
        const error = textAt(answer, 'error');
        if (error !== '') throw toolFailed(quoteResponse(error, [key]));
        const results = listIn(answer, 'results').slice(0, most);
        return searchResult(results.map(toPassage), results);
      }),
    );
  },
});

/** Where Keenable is: elsewhere only over TLS, for a key travels with each request, or on this machine. */
function usualUrl(services: ToolServices): string {
  const set = settingOf(services, URL_SETTING);
  if (set === undefined) return BASE_URL;
  const url = URL.canParse(set) ? new URL(set) : undefined;
  const isHere = url !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere);
  if (isSafe && url.search === '' && url.hash === '') return set;
  throw toolFailed(
    `the environment variable ${URL_SETTING} must be an https URL without query and fragment; http is for this machine alone`,
  );
}

function toPassage(result: Json): Passage {
  return {
    title: textAt(result, 'title'),
    url: textAt(result, 'url'),
    content: lineOf(textAt(result, 'snippet') || textAt(result, 'description')),
  };
}
