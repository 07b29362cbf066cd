import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { createRegistry } from '../../src/components/component.js';
import { components } from '../../src/components/index.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { type Routes, startUpstream, type Upstream } from '../tools/support/upstream.js';
import { activationOf, nodeOf, outputsOf } from './text-activation.js';

const registry = createRegistry(components);

/** What every tool of a stored canvas carries. */
const COMMON: JsonObject = {
  query: '{sys.query}',
  delay_after_error: 2,
  description: '',
  exception_default_value: null,
  exception_goto: null,
  exception_method: null,
  max_retries: 0,
  message_history_window_size: 22,
  outputs: { formalized_content: { type: 'string', value: '' }, json: { type: 'Array<Object>', value: [] } },
};

/** Runs a tool of a stored canvas for the question `rag`. */
async function run(component: string, params: JsonObject, upstream: Upstream): Promise<JsonObject> {
  const found = registry.get(component.toLowerCase());
  if (found === undefined) throw new Error(`there is no ${component}`);
  const node = nodeOf(found, { ...COMMON, ...params });
  const services = {
    http: createEgressClient({ allowPrivateNetwork: true }),
    tools: { baseUrls: { [component]: upstream.origin } },
  };
  const activation = activationOf({ variables: { 'sys.query': 'rag' }, services });
  return outputsOf(await lastValueFrom((node(activation) as Observable<NodeEvent>).pipe(toArray())));
}

describe('tools of stored canvases', () => {
  it('name their node when they fail, as a canvas may have several of a type', async () => {
    const node = nodeOf(registry.get('retrieval') as never, { ...COMMON, retrieval_from: 'dataset' });
    const activation = activationOf({ variables: { 'sys.query': 'rag' }, services: { retriever: {} } });
    const failed = lastValueFrom(node(activation) as Observable<NodeEvent>);
    await expect(failed).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      node: activation.node,
      message: `Node "${activation.node}": Retrieval error: No dataset is selected. Name one in \`dataset_ids\`.`,
    });
  });

  it.each<[string, JsonObject]>([
    ['AkShare', { top_n: 10 }],
    ['ArXiv', { top_n: 12, sort_by: 'submittedDate' }],
    ['BGPT', { top_n: '10', api_key: '', days_back: null }],
    ['Crawler', { proxy: null, extract_type: 'markdown' }],
    ['DeepL', { auth_key: 'xxx', source_lang: 'ZH', target_lang: 'EN-GB' }],
    ['DuckDuckGo', { top_n: 10, channel: 'text' }],
    ['GitHub', { top_n: 10 }],
    ['Google', { q: '{sys.query}', start: 0, num: 6, api_key: 'YOUR_API_KEY', country: 'cn', language: 'en' }],
    ['GoogleScholar', { top_n: 12, sort_by: 'relevance', year_low: null, year_high: null, patents: true }],
    ['Jin10', { type: 'flash', secret_key: 'xxx', flash_type: '1', contain: '', filter: '' }],
    ['KeenableSearch', { api_key: '', mode: 'pro', top_n: 10 }],
    ['PubMed', { top_n: 12, email: 'A.N.Other@example.com' }],
  ])('reads %s', (component, params) => {
    const found = registry.get(component.toLowerCase());
    expect(found?.type).toBe(component);
    const parsed = found?.params.safeParse({ ...COMMON, ...params });
    expect(parsed?.error?.issues ?? []).toEqual([]);
    expect(found?.check?.(parsed?.data as never, {} as never) ?? []).toEqual([]);
  });

  it('asks Google for the page that the document names', async () => {
    const routes: Routes = { 'GET /search.json': { json: { organic_results: [] } } };
    const upstream = await startUpstream(routes);
    await run('Google', { q: '{sys.query}', start: 12, num: '4', api_key: 'key' }, upstream);
    expect(upstream.asked[0]?.query).toMatchObject({ q: 'rag', start: '12', num: '4' });
  });

  it('asks DuckDuckGo in the channel that the document names', async () => {
    const upstream = await startUpstream({
      'GET /html/': { text: '<html></html>', type: 'text/html' },
      'GET /': { text: 'vqd="1"', type: 'text/html' },
      'GET /news.js': { json: { results: [] } },
    });
    for (const channel of ['text', 'news']) await run('DuckDuckGo', { channel }, upstream);
    expect(upstream.asked.map(({ path }) => path)).toEqual(['/html/', '/', '/news.js']);
  });

  it('takes everything from Jin10, whatever the question was', async () => {
    const upstream = await startUpstream({ 'GET /data-api/flash': { json: { status: 200, data: [] } } });
    const params = { query: '', secret_key: 'key' };
    expect(await run('Jin10', params, upstream)).toEqual({ formalized_content: '', json: [] });
    expect(upstream.asked[0]?.query).toEqual({ category: '1' });
  });
});
