import { describe, expect, it } from 'vitest';
import { tushare } from '../../src/tools/tushare.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const FIELDS = ['datetime', 'content', 'title', 'channels'];
const ITEMS = [
  ['2025-11-20 09:00:00', '央行开展 | 逆回购 ABC', '', null],
  ['2025-11-20 09:01:00', '别的消息', '', null],
  ['2025-11-20 09:02:00', 'abc 第二', 't', null],
];
const routes: Routes = { 'POST /': { json: { code: 0, msg: '', data: { fields: FIELDS, items: ITEMS } } } };
const params = { token: 'tushare-secret' };
const calling = { args: { query: 'abc' }, params };

itBehavesAsUpstreamTool({ tool: tushare, calling, routes, attempts: 2 });

describe('tushare', () => {
  it('asks for news until now in Chinese time, and gives those with the keyword', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tushare, upstream.origin, calling);
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      api_name: 'news',
      token: 'tushare-secret',
      params: { src: 'eastmoney', start_date: '2024-01-01 09:00:00', end_date: '2026-11-21 20:00:00' },
    });
    expect(found.text).toBe(
      [
        '| datetime | content | title | channels |',
        '| --- | --- | --- | --- |',
        '| 2025-11-20 09:00:00 | 央行开展 \\| 逆回购 ABC |  |  |',
        '| 2025-11-20 09:02:00 | abc 第二 | t |  |',
      ].join('\n'),
    );
    expect(found.outputs).toMatchObject({
      formalized_content: found.text,
      json: [{ title: '', channels: null }, { content: 'abc 第二' }],
    });
  });

  it('prefers the keyword of the node, and takes it literally', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tushare, upstream.origin, { ...calling, params: { ...params, keyword: '.*' } });
    expect(found).toMatchObject({ text: '', outputs: { json: [] } });
  });

  it('gives no more than it may', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tushare, upstream.origin, { ...calling, params: { ...params, top_n: 1 } });
    expect(found.outputs.json).toHaveLength(1);
  });

  it('fails with what TuShare says, without the token', async () => {
    const json = { code: 40203, msg: 'token tushare-secret 每分钟最多访问该接口1次', data: null };
    const upstream = await startUpstream({ 'POST /': { json } });
    const { message } = await errorOf(tushare, upstream.origin, calling);
    expect(message).toBe('TuShare error: token [REDACTED] 每分钟最多访问该接口1次');
  });

  it('reports times that are none when the document is read', () => {
    const read = { token: '', src: 'sina', keyword: '', top_n: 1, end_date: '{begin@until}' } as const;
    expect(tushare.check?.({ ...read, start_date: '2024-01-01' })).toEqual([]);
    expect(tushare.check?.({ ...read, start_date: 'yesterday' })).toEqual([expect.stringContaining('"yesterday"')]);
  });

  it('needs a token, and nothing when it is asked nothing', async () => {
    const { message } = await errorOf(tushare, 'http://tushare.invalid', { args: calling.args });
    expect(message).toBe('TuShare error: there is no token; set "token"');
    expect(await resultOf(tushare, 'http://tushare.invalid', { args: { query: '' } })).toMatchObject({ text: '' });
  });
});
