import { describe, expect, it } from 'vitest';
import { akshareStockNews } from '../../src/tools/akshare-stock-news.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const NEWS = {
  code: 0,
  msg: 'OK',
  result: {
    cmsArticleWebOld: [
      {
        date: '2025-11-18 20:31:07',
        code: '202511183567890123',
        title: '<em>贵州茅台</em>发布三季报',
        mediaName: '证券时报网',
        content: '\u3000公司(<em>600519</em>)\r\n营收同比增长',
      },
      { date: '2025-11-17', code: '2', title: 'B', mediaName: 'M', content: 'beta' },
    ],
  },
};
const routes: Routes = {
  'GET /search/jsonp': { text: `jQuery35_1732(${JSON.stringify(NEWS)})`, type: 'text/javascript' },
};
const calling = { args: { query: '600519' } };

itBehavesAsUpstreamTool({ tool: akshareStockNews, calling, routes, attempts: 3 });

describe('akshare_stock_news', () => {
  it('asks for the newest articles about a share and takes the marks out of them', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(akshareStockNews, upstream.origin, { args: { query: ' 600519 ' } });
    const { query, headers } = upstream.asked[0] ?? {};
    expect(query).toEqual({ cb: 'jQuery_1795262400000', param: expect.any(String), _: '1795262400000' });
    expect(JSON.parse(query?.param ?? '')).toEqual({
      uid: '',
      keyword: '600519',
      type: ['cmsArticleWebOld'],
      client: 'web',
      clientType: 'web',
      clientVersion: 'curr',
      param: {
        cmsArticleWebOld: {
          searchScope: 'default',
          sort: 'default',
          pageIndex: 1,
          pageSize: 10,
          preTag: '<em>',
          postTag: '</em>',
        },
      },
    });
    expect(headers?.referer).toBe('https://so.eastmoney.com/news/s?keyword=600519');
    expect(headers?.['user-agent']).toContain('Mozilla/5.0');
    const url = 'http://finance.eastmoney.com/a/202511183567890123.html';
    expect(found.text).toBe(
      `<a href="${url}">贵州茅台发布三季报</a>\n 新闻内容: 公司600519 营收同比增长 \n发布时间:2025-11-18 20:31:07 \n文章来源: 证券时报网` +
        '\n\n<a href="http://finance.eastmoney.com/a/2.html">B</a>\n 新闻内容: beta \n发布时间:2025-11-17 \n文章来源: M',
    );
    expect(found.outputs.formalized_content).toBe(found.text);
    expect(found.references).toBeUndefined();
    expect((found.outputs.json as unknown[])[0]).toEqual({
      title: '贵州茅台发布三季报',
      content: '公司600519 营收同比增长',
      published_at: '2025-11-18 20:31:07',
      source: '证券时报网',
      url,
    });
  });

  it('reads bare JSON, and no more articles than were asked for', async () => {
    const upstream = await startUpstream({ 'GET /search/jsonp': { json: NEWS } });
    const found = await resultOf(akshareStockNews, upstream.origin, { ...calling, params: { top_n: '1' } });
    expect(found.outputs.json).toHaveLength(1);
  });

  it.each([
    ['no articles', { code: 0, result: {} }, ''],
    ['none at all', { code: 0 }, ''],
  ])('finds nothing where there are %s', async (_, json, text) => {
    const upstream = await startUpstream({ 'GET /search/jsonp': { json } });
    expect(await resultOf(akshareStockNews, upstream.origin, calling)).toMatchObject({ text, outputs: { json: [] } });
  });

  it('says what East Money says', async () => {
    const upstream = await startUpstream({ 'GET /search/jsonp': { json: { code: -1, msg: 'keyword is too long' } } });
    const error = await errorOf(akshareStockNews, upstream.origin, calling);
    expect(error.message).toBe('AkShare error: keyword is too long');
  });

  it('asks nobody without a share', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(akshareStockNews, upstream.origin, { args: { query: ' ' } });
    expect(found).toMatchObject({ text: '', outputs: { formalized_content: '', json: [] } });
    expect(upstream.asked).toEqual([]);
  });
});
