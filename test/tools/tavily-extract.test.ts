import { describe, expect, it } from 'vitest';
import { tavilyExtract } from '../../src/tools/tavily-extract.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const PAGE = { url: 'https://a.example', raw_content: '# A', images: [] };
const LOST = { url: 'https://x.invalid', error: '404' };
const routes: Routes = { 'POST /extract': { json: { results: [PAGE], failed_results: [] } } };
const params = { api_key: 'tvly-secret' };
const calling = { args: { urls: ['https://a.example'] }, params };

itBehavesAsUpstreamTool({ tool: tavilyExtract, calling, routes, attempts: 2 });

describe('tavily_extract', () => {
  it.each([
    ['a list', ['https://a.example', 'https://b.example', 'https://a.example']],
    ['a text with commas', 'https://a.example, https://b.example,'],
  ])('takes %s of URLs', async (_what, urls) => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(tavilyExtract, upstream.origin, { args: { urls, format: 'text' }, params });
    expect(upstream.asked[0]?.headers.authorization).toBe('Bearer tvly-secret');
    expect(JSON.parse(upstream.asked[0]?.body ?? '')).toEqual({
      urls: ['https://a.example', 'https://b.example'],
      extract_depth: 'basic',
      format: 'text',
      include_images: false,
    });
    expect(found.outputs).toEqual({ json: [PAGE], failed: [] });
    expect(JSON.parse(found.text)).toEqual([PAGE]);
  });

  it('tells nodes and models which pages could not be read', async () => {
    const json = { results: [PAGE], failed_results: [LOST] };
    const upstream = await startUpstream({ 'POST /extract': { json } });
    const found = await resultOf(tavilyExtract, upstream.origin, calling);
    expect(found.outputs).toEqual({ json: [PAGE], failed: [LOST] });
    expect(JSON.parse(found.text)).toEqual({ results: [PAGE], failed: [LOST] });
  });

  it.each([
    ['no URL', ' , ', 'there is no URL'],
    ['another scheme', ['file:///etc/passwd'], 'is no URL'],
    ['a relative URL', ['/a'], 'is no URL'],
    ['21 URLs', Array.from({ length: 21 }, (_, index) => `https://a.example/${index}`), 'at most 20'],
  ])('asks nobody about %s', async (_what, urls, message) => {
    const upstream = await startUpstream(routes);
    expect((await errorOf(tavilyExtract, upstream.origin, { args: { urls }, params })).message).toContain(message);
    expect(upstream.asked).toEqual([]);
  });

  it('takes its key from the environment, and says when there is none', async () => {
    const upstream = await startUpstream(routes);
    const { args } = calling;
    await resultOf(tavilyExtract, upstream.origin, { args, environment: { TAVILY_API_KEY: 'from-env' } });
    expect(upstream.asked[0]?.headers.authorization).toBe('Bearer from-env');
    expect((await errorOf(tavilyExtract, upstream.origin, { args })).message).toContain('there is no key');
  });
});
