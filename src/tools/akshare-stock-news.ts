import { map, type Observable } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { BROWSER_HEADERS } from '../adapters/egress/request-headers.js';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { ownValue } from '../dsl/json-copy.js';
import type { Json } from '../json.js';
import { queryArgument, wholeNumber } from './fields.js';
import { defineSearch } from './results.js';
import { type ToolEvent, toolResult } from './tool.js';
import { ask, baseUrlOf, jsonOf, listAt, textAt } from './upstream.js';

const BASE_URL = 'https://search-api-web.eastmoney.com';

/** What East Money calls the kind of its articles. */
const ARTICLES = 'cmsArticleWebOld';

/** Gives East Money's news about one share. Errors: `TOOL_FAILED` with what East Money answers. */
export const akshareStockNews = defineSearch({
  component: 'AkShare',
  name: 'akshare_stock_news',
  summary: 'Gives recent news of East Money about one Chinese A-share.',
  advice: 'Pass the code of the share alone, such as 600519.',
  arguments: { query: queryArgument('Code of the share, such as 600519.') },
  params: { top_n: wholeNumber(10, 'Articles at most, 1 to 100; default 10.', { max: 100 }) },
  search({ query }, call): Observable<ToolEvent> {
    const symbol = query.trim();
    const { top_n: most } = call.params;
    return ask(akshareStockNews, call, {
      url: `${baseUrlOf(akshareStockNews, call.services, BASE_URL)}/search/jsonp`,
      query: { cb: `jQuery_${call.now()}`, param: JSON.stringify(searchOf(symbol, most)), _: call.now() },
      headers: {
        ...BROWSER_HEADERS,
        accept: '*/*',
        referer: `https://so.eastmoney.com/news/s?keyword=${encodeURIComponent(symbol)}`,
      },
      timeoutSeconds: 10,
      attempts: 3,
      maxBytes: 4 * 1024 * 1024,
    }).pipe(
      map((response) => {
        const articles = articlesIn(response).slice(0, most).map(toArticle);
        const text = articles.map(articleText).join('\n\n');
        return toolResult(text, { formalized_content: text, json: articles });
      }),
    );
  },
});

function searchOf(keyword: string, pageSize: number): Json {
  const tags = { preTag: '<em>', postTag: '</em>' };
  const articles = { searchScope: 'default', sort: 'default', pageIndex: 1, pageSize, ...tags };
  const client = { client: 'web', clientType: 'web', clientVersion: 'curr' };
  return { uid: '', keyword, type: [ARTICLES], ...client, param: { [ARTICLES]: articles } };
}

/** The articles of an answer, which is a call of a function around JSON, or JSON alone. */
function articlesIn(response: EgressResponse): readonly Json[] {
  const body = response.text().trim();
  const json = body.startsWith('{') ? body : body.slice(body.indexOf('(') + 1, body.lastIndexOf(')'));
  const answer = jsonOf({ text: () => json });
  const articles = listAt(ownValue(answer, 'result'), ARTICLES);
  if (articles === undefined && textAt(answer, 'code') !== '0') {
    throw toolFailed(
      quoteResponse(textAt(answer, 'msg') || textAt(answer, 'message')) || 'the answer holds no articles',
    );
  }
  return articles ?? [];
}

function toArticle(found: Json) {
  return {
    title: plain(textAt(found, 'title')),
    content: plain(textAt(found, 'content')),
    published_at: textAt(found, 'date'),
    source: textAt(found, 'mediaName'),
    url: `http://finance.eastmoney.com/a/${textAt(found, 'code').replace(/\W/g, '')}.html`,
  };
}

/** Without the marks around words that were searched for, which may stand in brackets. */
function plain(text: string): string {
  return text
    .replace(/\(<em>|<\/em>\)|<\/?em>|\u3000/g, '')
    .replace(/\r\n/g, ' ')
    .trim();
}

/** RAGFlow's form of an article, labels included: prompts in use refer to them. */
function articleText({ title, content, published_at: date, source, url }: ReturnType<typeof toArticle>): string {
  return `<a href="${url}">${title}</a>\n 新闻内容: ${content} \n发布时间:${date} \n文章来源: ${source}`;
}
