import { map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { said } from '../adapters/said.js';
import { isJsonObject, type Json } from '../json.js';
import { oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { GOOGLE_COUNTRIES, GOOGLE_LANGUAGES } from './locales/google.js';
import type { Passage } from './results/references.js';
import { NOTHING_FOUND, searchOutputs, searchResult } from './results/search-result.js';
import { defineTool, type ToolEvent } from './tool.js';
import { settingOf } from './tool-services.js';
import { askJson, baseUrlOf, listAt, textAt } from './upstream.js';

const BASE_URL = 'https://serpapi.com';
const MAX_RESULTS = 100;

/** Searches Google through SerpApi. Errors: `TOOL_FAILED` without a key, or with what SerpApi answers. */
export const googleSearch = defineTool({
  component: 'Google',
  name: 'google_search',
  summary: 'Searches the web with Google.',
  advice: 'Search with a few keywords; the operators of Google such as `site:` work as well.',
  arguments: {
    q: queryArgument('Keywords to search for.'),
    start: z.coerce.number().int().min(0).optional().describe('Results to pass over, for later pages; default 0.'),
    num: z.coerce.number().int().min(1).max(MAX_RESULTS).optional().describe('Results at most; default 6.'),
  },
  params: {
    api_key: text('Key of SerpApi; default the environment variable SERPAPI_API_KEY.'),
    country: oneOf(GOOGLE_COUNTRIES, 'cn', 'Country to search from, as two letters; default cn.'),
    language: oneOf(GOOGLE_LANGUAGES, 'en', 'Language of the page of results; default en.'),
    start: wholeNumber(0, 'Results to pass over; default 0.', { min: 0 }),
    num: wholeNumber(6, 'Results at most, 1 to 100; default 6.', { max: MAX_RESULTS }),
  },
  nodeDefaults: { q: '{sys.query}' },
  outputs: searchOutputs,
  timeoutSeconds: 12,
  call({ q, ...paging }, call): Observable<ToolEvent> {
    if (q.trim() === '') return of(NOTHING_FOUND);
    const { api_key: given, country, language, ...usual } = call.params;
    const { start = usual.start, num = usual.num } = paging;
    const key = given.trim() || settingOf(call.services, 'SERPAPI_API_KEY');
    if (key === undefined) {
      throw toolFailed('there is no key; set "api_key" or the environment variable SERPAPI_API_KEY');
    }
    return askJson(googleSearch, call, {
      url: `${baseUrlOf(googleSearch, call.services, BASE_URL)}/search.json`,
      query: {
        api_key: key,
        engine: 'google',
        q,
        google_domain: 'google.com',
        gl: country,
        hl: language,
        start,
        num,
      },
      timeoutSeconds: 20,
      attempts: 2,
      secrets: [key],
    }).pipe(
      map((answer) => {
        const results = listAt(answer, 'organic_results')?.slice(0, num);
        if (results === undefined) {
          throw toolFailed(said(textAt(answer, 'error'), [key]) || 'the answer holds no results');
        }
        return searchResult(results.map(toPassage), results);
      }),
    );
  },
});

function toPassage(result: Json): Passage {
  return {
    title: textAt(result, 'title'),
    url: textAt(result, 'link'),
    content: textAt(result, 'snippet') || aboutOf(result),
  };
}

/** What Google says about the site; of use only where it shows nothing of the page. */
function aboutOf(result: Json): string {
  const about = isJsonObject(result) ? result.about_this_result : undefined;
  return textAt(isJsonObject(about) ? about.source : undefined, 'description');
}
