import { describe, expect, it } from 'vitest';
import { iwencai } from '../../src/tools/iwencai.js';
import { itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ 代码: `60000${index}`, 价格: index }));
const routes: Routes = { 'POST /': { json: rows(2) } };
const calling = { args: { query: '市盈率小于10' } };
const TABLE = '| 代码 | 价格 |\n| --- | --- |\n| 600000 | 0 |';

itBehavesAsUpstreamTool({ tool: iwencai, calling, routes, attempts: 2, refusesOtherShapes: false });

describe('iwencai', () => {
  it('is switched off without a base URL: an empty report, and no request', async () => {
    const services = { tools: { baseUrls: {} } };
    expect(await resultOf(iwencai, '', { ...calling, services })).toMatchObject({ text: '', outputs: { report: '' } });
  });

  it('asks the service of the operator', async () => {
    const upstream = await startUpstream(routes);
    const params = { top_n: 1, query_type: 'fund' };
    const { outputs } = await resultOf(iwencai, upstream.origin, { ...calling, params });
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      query: '市盈率小于10',
      query_type: 'fund',
      perpage: 1,
    });
    expect(outputs).toEqual({ report: TABLE });
  });

  it.each([
    ['tables and texts by name', { 表: rows(1), 说明: '文字' }, `表\n${TABLE}\n\n说明\n文字`],
    ['facts', { 概况: { 名称: 'A' } }, '概况\n| Name | Value |\n| --- | --- |\n| 名称 | A |'],
    ['what describes a page', { 图: { meta: {}, data: 1 }, 空: [], 数: 7 }, ''],
    ['pictures among rows', [{ image_url: 'x' }, ...rows(1)], TABLE],
    ['a text', '没有结果', '没有结果'],
    ['null', null, ''],
  ])('writes %s', async (_what, json, report) => {
    const upstream = await startUpstream({ 'POST /': { json } });
    expect((await resultOf(iwencai, upstream.origin, calling)).outputs).toEqual({ report });
  });
});
