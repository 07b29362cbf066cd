import { quoteResponse, toolFailed } from '../adapters/failures.js';
import type { Json } from '../json.js';
import { optionalWholeNumber, queryArgument, text, wholeNumber } from './fields.js';
import { defineJsonSearch } from './json-search.js';
import { settingOf } from './tool-services.js';
import { listAt, listIn, textAt } from './upstream.js';

/** What a model is shown of a paper: labels, and the fields that may hold it, the first that does counts. */
const LINES: readonly (readonly [string, ...string[]])[] = [
  ['Title', 'title'],
  ['Authors', 'authors'],
  ['Journal', 'journal'],
  ['Year', 'year'],
  ['DOI', 'doi'],
  ['Abstract', 'abstract'],
  ['Methods', 'methods_and_experimental_techniques', 'methods'],
  [
    'Sample size / population',
    'sample_size_and_population_characteristics',
    'sample_size_and_population',
    'sample_size',
  ],
  ['Results', 'results_and_conclusions', 'results'],
  ['Limitations', 'paper_limitations_and_biases', 'limitations'],
  ['Conflicts of interest', 'conflict_of_interest_statements', 'conflict_of_interest'],
  ['Data availability', 'data_availability_statements', 'data_availability'],
  ['Blind spots', 'study_blindspots', 'blind_spots'],
  ['How to falsify', 'how_to_falsify', 'falsify'],
];

/** Searches papers through BGPT. Errors: `TOOL_FAILED` with what BGPT answers. */
export const bgptSearch = defineJsonSearch({
  component: 'BGPT',
  name: 'bgpt_search',
  summary: 'Finds scientific papers with their methods, samples, results, limits and conflicts, to judge a claim by.',
  advice: 'Ask about the claim or the measure itself, in the words of the field.',
  arguments: { query: queryArgument('The claim or question, in a few scientific terms.') },
  params: {
    top_n: wholeNumber(10, 'Papers at most, 1 to 100; default 10.', { max: 100 }),
    api_key: text('Key of BGPT; default the environment variable BGPT_API_KEY, or none: a few free searches.'),
    days_back: optionalWholeNumber('Only papers of so many last days; default any age.'),
  },
  timeoutSeconds: 30,
  request({ query }, { params, services }) {
    const { top_n: most, days_back: days } = params;
    const key = params.api_key.trim() || settingOf(services, 'BGPT_API_KEY');
    return {
      base: 'https://bgpt.pro',
      path: '/api/mcp-search',
      method: 'POST',
      json: {
        query,
        num_results: most,
        ...(key === undefined ? {} : { api_key: key }),
        ...(days === null ? {} : { days_back: days }),
      },
      timeoutSeconds: 25,
      attempts: 1,
      secrets: key === undefined ? [] : [key],
      most,
    };
  },
  results(answer, { secrets }) {
    const error = textAt(answer, 'error');
    if (error !== '') throw toolFailed(quoteResponse(error, secrets));
    return listIn(answer, 'results');
  },
  passage: (paper) => ({
    title: firstOf(paper, ['title']) || 'Untitled',
    url: firstOf(paper, ['url', 'doi']),
    content: LINES.map(([label, ...keys]) => `${label}: ${firstOf(paper, keys) || '-'}`).join('\n'),
  }),
});

function firstOf(paper: Json, keys: readonly string[]): string {
  for (const key of keys) {
    const texts = listAt(paper, key)?.filter((item) => typeof item === 'string');
    const found = texts === undefined ? textAt(paper, key) : texts.join(', ');
    if (found.trim() !== '') return found.trim();
  }
  return '';
}
