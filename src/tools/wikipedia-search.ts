import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { ownValue } from '../dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { oneOf, queryArgument, wholeNumber, words } from './fields.js';
import { defineJsonSearch, passageBy } from './json-search.js';
import { numberAt, objectOf, textAt } from './upstream.js';

/** Codes of the Wikipedias that can be searched; each is a subdomain of wikipedia.org. */
const WIKIPEDIA_LANGUAGES = words(`
  af pl ar ast az bg nan bn be ca cs cy da de et el en es eo eu fa fr gl ko hy hi hr id it he ka lld la lv lt
  hu mk arz ms min my nl ja nb nn ce uz pt kk ro ru ceb sk sl sr sh fi sv ta tt th tg azb tr uk ur vi war zh
  yue
`);

/** Searches Wikipedia. Errors: `TOOL_FAILED` with what Wikipedia answers. */
export const wikipediaSearch = defineJsonSearch({
  component: 'Wikipedia',
  name: 'wikipedia_search',
  summary: 'Finds articles of the encyclopedia Wikipedia and gives how they begin.',
  advice: 'Ask for one thing at a time, in words that may be the title of an article.',
  arguments: { query: queryArgument('What the article is about; best its title.') },
  params: {
    top_n: wholeNumber(10, 'Articles at most, 1 to 50; default 10.', { max: 50 }),
    language: oneOf(WIKIPEDIA_LANGUAGES, 'en', 'Code of the Wikipedia to search; default en.'),
  },
  timeoutSeconds: 60,
  request: ({ query }, { params: { top_n: most, language } }) => ({
    base: `https://${language}.wikipedia.org`,
    path: '/w/api.php',
    query: {
      action: 'query',
      format: 'json',
      generator: 'search',
      gsrsearch: query,
      gsrlimit: most,
      prop: 'extracts|info',
      exintro: 1,
      explaintext: 1,
      // Without it only some of the articles carry a text.
      exlimit: 'max',
      inprop: 'url',
    },
    timeoutSeconds: 15,
    attempts: 2,
    most,
  }),
  results: (answer, { base }) =>
    articlesOf(answer).map((article) => ({
      title: textAt(article, 'title'),
      url: urlOf(article, base),
      content: textAt(article, 'extract'),
    })),
  passage: passageBy('content'),
});

/** Articles with a text, best first. */
function articlesOf(answer: Json): JsonObject[] {
  const { error, query } = objectOf(answer);
  if (error !== undefined) {
    throw toolFailed(quoteResponse(textAt(error, 'info') || textAt(error, 'code')) || 'Wikipedia reports an error');
  }
  const pages = ownValue(query, 'pages');
  const rankOf = (page: JsonObject): number => numberAt(page, 'index') ?? Number.MAX_SAFE_INTEGER;
  return Object.values(pages ?? {})
    .filter(isJsonObject)
    .filter((page) => textAt(page, 'extract').trim() !== '')
    .sort((a, b) => rankOf(a) - rankOf(b));
}

function urlOf(article: JsonObject, origin: string): string {
  const title = textAt(article, 'title').replaceAll(' ', '_');
  return textAt(article, 'fullurl') || `${origin}/wiki/${encodeURIComponent(title)}`;
}
