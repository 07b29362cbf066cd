import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { queryArgument, wholeNumber } from './fields.js';
import { defineJsonSearch } from './json-search.js';
import { listAt, textAt } from './upstream.js';

/** Finds public repositories. Errors: `TOOL_FAILED` with what GitHub answers. */
export const githubSearch = defineJsonSearch({
  component: 'GitHub',
  name: 'github_search',
  summary: 'Finds public repositories on GitHub, those with most stars first.',
  advice: 'Search with one to three keywords, such as the name of a library or what it is for.',
  arguments: { query: queryArgument('Keywords; qualifiers of GitHub such as `language:python` work as well.') },
  params: { top_n: wholeNumber(10, 'Repositories at most, 1 to 100; default 10.', { max: 100 }) },
  request: ({ query }, { params: { top_n: most } }) => ({
    base: 'https://api.github.com',
    path: '/search/repositories',
    query: { q: query, sort: 'stars', order: 'desc', per_page: most },
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    timeoutSeconds: 15,
    attempts: 1,
    most,
  }),
  results(answer) {
    const items = listAt(answer, 'items');
    if (items !== undefined) return items;
    throw toolFailed(quoteResponse(textAt(answer, 'message')) || 'the answer holds no repositories');
  },
  passage(repository) {
    const stars = textAt(repository, 'watchers') || textAt(repository, 'stargazers_count') || '0';
    return {
      title: textAt(repository, 'name'),
      url: textAt(repository, 'html_url'),
      content: `${textAt(repository, 'description') || 'None'}\n stars:${stars}`,
    };
  },
});
