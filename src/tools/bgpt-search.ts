import { map, type Observable } from 'rxjs';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import type { Json } from '../json.js';
import { optionalWholeNumber, queryArgument, text, wholeNumber } from './fields.js';
import { defineSearch, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { settingOf } from './tool-services.js';
import { askJson, baseUrlOf, listAt, listIn, textAt } from './upstream.js';

const BASE_URL = 'https://bgpt.pro';

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
export const bgptSearch = defineSearch({
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
  search({ query }, call): Observable<ToolEvent> {
    const { top_n: most, days_back: days, api_key: given } = call.params;
    const key = given.trim() || settingOf(call.services, 'BGPT_API_KEY');
    return askJson(bgptSearch, call, {
      url: `${baseUrlOf(bgptSearch, call.services, BASE_URL)}/api/mcp-search`,
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
    }).pipe(
      map((answer) => {
        const papers = papersIn(answer, key).slice(0, most);
        return searchResult(papers.map(toPassage), papers);
      }),
    );
  },
});

function papersIn(answer: Json, key: string | undefined): Json[] {
  const error = textAt(answer, 'error');
  if (error !== '') throw toolFailed(quoteResponse(error, key === undefined ? [] : [key]));
  return [...listIn(answer, 'results')];
}

function toPassage(paper: Json): Passage {
  const content = LINES.map(([label, ...keys]) => `${label}: ${firstOf(paper, keys) || '-'}`).join('\n');
  return {
    title: firstOf(paper, ['title']) || 'Untitled',
    url: firstOf(paper, ['url', 'doi']),
    content,
  };
}

function firstOf(paper: Json, keys: readonly string[]): string {
  for (const key of keys) {
    const texts = listAt(paper, key)?.filter((item) => typeof item === 'string');
    const found = texts === undefined ? textAt(paper, key) : texts.join(', ');
    if (found.trim() !== '') return found.trim();
  }
  return '';
}
