import type { CheerioAPI } from 'cheerio';
import { concatMap, map, type Observable, of, toArray } from 'rxjs';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { eachElement, lineOf } from '../documents/pages/load-markup.js';
import { ownValue } from '../dsl/json-copy.js';
import type { Json } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { queryArgument, text, wholeNumber } from './fields.js';
import { defineSearch, NOTHING_FOUND, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { ask, askJson, baseUrlOf, listAt, textAt } from './upstream.js';

const BASE_URL = 'https://eutils.ncbi.nlm.nih.gov';

/** The placeholder of NCBI's own examples for a missing author. */
const USUAL_EMAIL = 'A.N.Other@example.com';

/** Authors of one article that are named; thousands would leave no room for the abstract. */
const MAX_AUTHORS = 100;

/** Bounds of each of the two requests of a search. */
const BOUNDS = { timeoutSeconds: 15, attempts: 3 };

/** Bytes of all articles of a search; one takes 20 KB, and one with hundreds of authors more than 100. */
const MAX_ARTICLE_BYTES = 16 * 1024 * 1024;

/** Searches PubMed: ids first, then the articles. Errors: `TOOL_FAILED` with what PubMed answers. */
export const pubmedSearch = defineSearch({
  component: 'PubMed',
  name: 'pubmed_search',
  summary: 'Finds references of medicine and the life sciences on PubMed, with their abstracts.',
  advice: 'Search in English with the terms of the field; field tags such as `[Title]` work as well.',
  arguments: { query: queryArgument('Terms to search for, in English.') },
  params: {
    top_n: wholeNumber(12, 'Articles at most, 1 to 200; default 12.', { max: 200 }),
    email: text('Address that PubMed may write to about the traffic; default A.N.Other@example.com.', USUAL_EMAIL),
  },
  search({ query }, call): Observable<ToolEvent> {
    const { top_n: most, email: given } = call.params;
    const email = given || USUAL_EMAIL;
    const base = `${baseUrlOf(pubmedSearch, call.services, BASE_URL)}/entrez/eutils`;
    return askJson(pubmedSearch, call, {
      url: `${base}/esearch.fcgi`,
      query: { db: 'pubmed', term: query, retmax: most, retmode: 'json', email },
      ...BOUNDS,
    }).pipe(
      concatMap((found) => {
        const ids = idsIn(found).slice(0, most);
        if (ids.length === 0) return of(NOTHING_FOUND);
        return ask(pubmedSearch, call, {
          url: `${base}/efetch.fcgi`,
          query: { db: 'pubmed', id: ids.join(','), retmode: 'xml', email },
          maxBytes: MAX_ARTICLE_BYTES,
          ...BOUNDS,
        }).pipe(
          concatMap((response) => fromAbortable(() => articlesIn(response.text(), ids.length))),
          toArray(),
          map((articles) => searchResult(articles, articles)),
        );
      }),
    );
  },
});

function idsIn(found: Json): string[] {
  const result = ownValue(found, 'esearchresult');
  const error = textAt(found, 'error') || textAt(result, 'ERROR');
  if (error !== '') throw toolFailed(quoteResponse(error));
  const ids = listAt(result, 'idlist');
  if (ids === undefined) throw toolFailed('the answer holds no list of articles');
  return ids.filter((id): id is string => typeof id === 'string' && /^\d+$/.test(id));
}

async function* articlesIn(xml: string, most: number) {
  if (!xml.includes('<PubmedArticleSet')) throw toolFailed('the answer is not a list of articles');
  let count = 0;
  for await (const $ of eachElement(xml, 'PubmedArticle')) {
    yield toArticle($);
    count += 1;
    if (count === most) return;
  }
}

function toArticle($: CheerioAPI) {
  const textOf = (path: string): string => lineOf($(path).first().text());
  const title = textOf('Article > ArticleTitle');
  const abstract = [...$('Article > Abstract > AbstractText')].map((part) => lineOf($(part).text()));
  const authors = authorsOf($);
  // Not any DOI, as those of cited papers are in the record too.
  const doi = textOf('PubmedData > ArticleIdList > ArticleId[IdType="doi"]');
  const lines = [
    `Title: ${title}`,
    `Authors: ${authors || 'Unknown Authors'}`,
    `Journal: ${textOf('Journal > Title') || 'Unknown Journal'}`,
    `Volume: ${textOf('JournalIssue > Volume') || '-'}`,
    `Issue: ${textOf('JournalIssue > Issue') || '-'}`,
    `Pages: ${textOf('Pagination > MedlinePgn') || '-'}`,
    `DOI: ${doi || '-'}`,
    `Abstract: ${abstract.join(' ').trim() || 'No abstract available'}`,
  ];
  const id = textOf('MedlineCitation > PMID');
  return { title, url: `https://pubmed.ncbi.nlm.nih.gov/${id}`, content: lines.join('\n') };
}

function authorsOf($: CheerioAPI): string {
  const all = [...$('Article > AuthorList > Author')];
  const names = all.slice(0, MAX_AUTHORS).map((author) => nameOf($, author));
  return [...names.filter(Boolean), ...(all.length > MAX_AUTHORS ? ['et al.'] : [])].join(', ');
}

/** A person, or a group that signs together. */
function nameOf($: CheerioAPI, author: Parameters<CheerioAPI>[0]): string {
  const part = (name: string): string => lineOf($(author).children(name).first().text());
  return [part('ForeName'), part('LastName')].filter(Boolean).join(' ') || part('CollectiveName');
}
