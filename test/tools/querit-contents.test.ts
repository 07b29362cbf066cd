import { describe, expect, it } from 'vitest';
import { queritContents } from '../../src/tools/querit-contents.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const ANSWER = {
  request_id: 'c-1',
  results: [{ url: 'https://a.example', title: 'A', content: '# A' }],
  statuses: [{ url: 'https://a.example', status: 'success' }],
};
const routes: Routes = { 'POST /v1/contents': { json: ANSWER } };
const params = { api_key: 'querit-secret' };
const calling = { args: { urls: ['https://a.example'] }, params };

itBehavesAsUpstreamTool({ tool: queritContents, calling, routes, attempts: 3 });

describe('querit_contents', () => {
  it('asks for pages as it was told, and gives the whole answer', async () => {
    const upstream = await startUpstream(routes);
    const args = { urls: 'https://a.example,https://b.example', format: 'html', crawl_timeout: 20, extras_meta: true };
    const found = await resultOf(queritContents, upstream.origin, { args, params });
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      urls: ['https://a.example', 'https://b.example'],
      format: 'html',
      crawlTimeout: 20,
      extrasMeta: true,
    });
    expect(found.outputs).toEqual({ json: ANSWER });
    expect(JSON.parse(found.text)).toEqual(ANSWER);
  });

  it('says that there is no URL only when it is called', async () => {
    const { message } = await errorOf(queritContents, 'http://querit.invalid', { args: { urls: [] }, params });
    expect(message).toBe('QueritContents error: there is no URL; give at least one in "urls"');
  });

  it('refuses more than ten URLs, and more than a minute', async () => {
    const urls = Array.from({ length: 11 }, (_, index) => `https://a.example/${index}`);
    const many = await errorOf(queritContents, 'http://querit.invalid', { args: { urls }, params });
    expect(many.message).toContain('at most 10');
    const args = { ...calling.args, crawl_timeout: 61 };
    const long = await errorOf(queritContents, 'http://querit.invalid', { args, params });
    expect(long).toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });

  it('refuses an answer of another form', async () => {
    const upstream = await startUpstream({ 'POST /v1/contents': { json: { results: [], statuses: 'fine' } } });
    expect((await errorOf(queritContents, upstream.origin, calling)).message).toContain('"statuses"');
  });
});
