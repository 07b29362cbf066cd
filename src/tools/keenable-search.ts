import { z } from 'zod';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { lineOf } from '../documents/pages/load-markup.js';
import { oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { defineJsonSearch } from './json-search.js';
import { settingOf, type ToolServices } from './tool-services.js';
import { listIn, textAt } from './upstream.js';

const BASE_URL = 'https://api.keenable.ai';
const URL_SETTING = 'KEENABLE_API_URL';
const NO_KEY = 'Keenable needs a key ("api_key") for the mode "realtime"';

/** Searches the web through Keenable. Errors: `TOOL_FAILED` for a mode that needs a key, or with what Keenable answers. */
export const keenableSearch = defineJsonSearch({
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
  request({ query, site }, { params, services }) {
    const { mode, top_n: most } = params;
    const key = params.api_key.trim();
    // Once more: a reference may have turned out to be empty.
    if (mode === 'realtime' && key === '') throw toolFailed(NO_KEY);
    return {
      base: usualUrl(services),
      path: key === '' ? '/v1/search/public' : '/v1/search',
      method: 'POST',
      headers: { 'x-keenable-title': 'Runnel', ...(key === '' ? {} : { 'x-api-key': key }) },
      json: { query, mode, ...(site.trim() === '' ? {} : { site: site.trim() }) },
      timeoutSeconds: 30,
      attempts: 2,
      secrets: [key],
      most,
    };
  },
  results(answer, { secrets }) {
    const error = textAt(answer, 'error');
    if (error !== '') throw toolFailed(quoteResponse(error, secrets));
    return listIn(answer, 'results');
  },
  passage: (result) => ({
    title: textAt(result, 'title'),
    url: textAt(result, 'url'),
    content: lineOf(textAt(result, 'snippet') || textAt(result, 'description')),
  }),
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
