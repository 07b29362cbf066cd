import { concatMap, map, type Observable, toArray } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { eachElement, lineOf } from '../documents/pages/load-markup.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { oneOf, queryArgument, wholeNumber } from './fields.js';
import { defineSearch, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { ask, baseUrlOf } from './upstream.js';

const BASE_URL = 'https://export.arxiv.org';

/** Where the ids of entries begin that are no papers, but say why there are none. */
const ERROR_ID = /^https?:\/\/arxiv\.org\/api\/errors/;

/** Searches arXiv. Errors: `TOOL_FAILED` with what arXiv answers. */
export const arxivSearch = defineSearch({
  component: 'ArXiv',
  name: 'arxiv_search',
  summary:
    'Finds preprints of physics, mathematics, computing and neighbouring fields on arXiv; none is peer reviewed.',
  advice: 'Search with the most telling terms in English; prefixes such as `ti:` and `au:` narrow it down.',
  arguments: { query: queryArgument('Terms to search for, in English.') },
  params: {
    top_n: wholeNumber(12, 'Papers at most, 1 to 100; default 12.', { max: 100 }),
    sort_by: oneOf(
      ['submittedDate', 'lastUpdatedDate', 'relevance'],
      'submittedDate',
      'What comes first: the newest, the last changed or the best match; default submittedDate.',
    ),
  },
  search({ query }, call): Observable<ToolEvent> {
    const { top_n: most, sort_by: sortBy } = call.params;
    return ask(arxivSearch, call, {
      url: `${baseUrlOf(arxivSearch, call.services, BASE_URL)}/api/query`,
      query: { search_query: query, sortBy, sortOrder: 'descending', start: 0, max_results: most },
      headers: { accept: 'application/atom+xml' },
      timeoutSeconds: 20,
      attempts: 3,
      accepts: (status) => status === 400,
    }).pipe(
      concatMap((response) => fromAbortable(() => papersIn(response, most))),
      toArray(),
      map((papers) =>
        searchResult(
          papers.map(({ title, summary, pdf_url: url }) => ({ title, url, content: summary })),
          papers,
        ),
      ),
    );
  },
});

async function* papersIn(response: EgressResponse, most: number) {
  const feed = response.text();
  if (!feed.includes('<feed')) throw toolFailed('the answer is not an Atom feed');
  let count = 0;
  for await (const $ of eachElement(feed, 'entry')) {
    const textAt = (path: string): string => lineOf($(`entry > ${path}`).first().text());
    const id = textAt('id');
    if (ERROR_ID.test(id)) throw toolFailed(`arXiv refuses the search: ${quoteResponse(textAt('summary'))}`);
    if (count === most) return;
    count += 1;
    yield {
      title: textAt('title'),
      authors: [...$('entry > author > name')].map((name) => lineOf($(name).text())),
      summary: textAt('summary'),
      pdf_url: $('entry > link[rel="related"][type="application/pdf"]').first().attr('href') ?? pdfOf(id),
      entry_id: id,
    };
  }
  if (response.status === 400) throw toolFailed('arXiv refuses the search (status 400)');
}

/** Where the file of a paper lies, whose page is `…/abs/<id>`. */
function pdfOf(id: string): string {
  const at = id.lastIndexOf('abs');
  return at === -1 ? id : `${id.slice(0, at)}pdf${id.slice(at + 3)}`;
}
