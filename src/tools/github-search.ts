import { map, type Observable } from 'rxjs';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import type { Json } from '../json.js';
import { queryArgument, wholeNumber } from './fields.js';
import { defineSearch, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { askJson, baseUrlOf, listAt, textAt } from './upstream.js';

const BASE_URL = 'https://api.github.com';

/** Finds public repositories. Errors: `TOOL_FAILED` with what GitHub answers. */
export const githubSearch = defineSearch({
  component: 'GitHub',
  name: 'github_search',
  summary: 'Finds public repositories on GitHub, those with most stars first.',
  advice: 'Search with one to three keywords, such as the name of a library or what it is for.',
  arguments: { query: queryArgument('Keywords; qualifiers of GitHub such as `language:python` work as well.') },
  params: { top_n: wholeNumber(10, 'Repositories at most, 1 to 100; default 10.', { max: 100 }) },
  search({ query }, call): Observable<ToolEvent> {
    const { top_n: most } = call.params;
    return askJson(githubSearch, call, {
      url: `${baseUrlOf(githubSearch, call.services, BASE_URL)}/search/repositories`,
      query: { q: query, sort: 'stars', order: 'desc', per_page: most },
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
      timeoutSeconds: 15,
      attempts: 1,
    }).pipe(
      map((answer) => {
        const items = listAt(answer, 'items')?.slice(0, most);
        if (items === undefined)
          throw toolFailed(quoteResponse(textAt(answer, 'message')) || 'the answer holds no repositories');
        return searchResult(items.map(toPassage), [...items]);
      }),
    );
  },
});

function toPassage(repository: Json): Passage {
  const stars = textAt(repository, 'watchers') || textAt(repository, 'stargazers_count') || '0';
  return {
    title: textAt(repository, 'name'),
    url: textAt(repository, 'html_url'),
    content: `${textAt(repository, 'description') || 'None'}\n stars:${stars}`,
  };
}
