import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { keenableSearch } from '../../src/tools/keenable-search.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const RESULTS = [
  { title: 'Agent search', url: 'https://k.example/1', description: 'older', snippet: 'Agents need\nfresh   pages' },
  { title: 'B', url: 'https://k.example/2', description: 'beta', snippet: '' },
];
const reply = { json: { results: RESULTS } };
const routes: Routes = { 'POST /v1/search/public': reply, 'POST /v1/search': reply };
const calling = { args: { query: 'agents' } };

itBehavesAsUpstreamTool({ tool: keenableSearch, calling, routes, attempts: 2 });

describe('keenable_search', () => {
  it('asks without a key where everyone may', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(keenableSearch, upstream.origin, { ...calling, params: { top_n: 1 } });
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = upstream.asked;
    expect(path).toBe('/v1/search/public');
    expect(headers).toMatchObject({ 'x-keenable-title': 'Runnel', 'user-agent': 'runnel' });
    expect(headers).not.toHaveProperty('x-api-key');
    expect(JSON.parse(body)).toEqual({ query: 'agents', mode: 'pro' });
    expect(found.outputs.json).toEqual([RESULTS[0]]);
    expect(found.text).toContain('URL: https://k.example/1\n└── Content:\nAgents need fresh pages');
  });

  it('asks with a key, a mode and a site', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(keenableSearch, upstream.origin, {
      args: { query: 'agents', site: ' k.example ' },
      params: { api_key: 'keen-secret', mode: 'realtime' },
    });
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = upstream.asked;
    expect(path).toBe('/v1/search');
    expect(headers).toMatchObject({ 'x-api-key': 'keen-secret' });
    expect(JSON.parse(body)).toEqual({ query: 'agents', mode: 'realtime', site: 'k.example' });
    expect(found.text).toContain('└── Content:\nbeta');
  });

  it('refuses the mode realtime without a key, in a document and in a call', async () => {
    const params = { api_key: '', mode: 'realtime', top_n: 10 } as const;
    expect(keenableSearch.check?.(params)).toEqual(['Keenable needs a key ("api_key") for the mode "realtime"']);
    expect(keenableSearch.check?.({ ...params, mode: 'pro' })).toEqual([]);
    const upstream = await startUpstream(routes);
    expect((await errorOf(keenableSearch, upstream.origin, { ...calling, params })).message).toContain('needs a key');
    expect(upstream.asked).toEqual([]);
  });

  it('goes where the environment says', async () => {
    const upstream = await startUpstream({ 'POST /keen/v1/search/public': reply });
    const environment = { KEENABLE_API_URL: `${upstream.origin}/keen/` };
    const services = { http: createEgressClient(), tools: { environment } };
    await resultOf(keenableSearch, '', { ...calling, services });
    expect(upstream.asked).toHaveLength(1);
  });

  it.each(['http://keen.example', 'ftp://localhost', 'https://keen.example/?x=1', 'https://keen.example/#a', 'keen'])(
    'takes no %s for an address of Keenable',
    async (url) => {
      const services = { http: createEgressClient(), tools: { environment: { KEENABLE_API_URL: url } } };
      const error = await errorOf(keenableSearch, '', { ...calling, services });
      expect(error.message).toContain('the environment variable KEENABLE_API_URL must be an https URL');
    },
  );

  it('fails with what Keenable says', async () => {
    const upstream = await startUpstream({ 'POST /v1/search/public': { json: { error: 'index is down' } } });
    expect((await errorOf(keenableSearch, upstream.origin, calling)).message).toBe(
      'KeenableSearch error: index is down',
    );
  });

  it('finds nothing in nothing', async () => {
    const upstream = await startUpstream({ 'POST /v1/search/public': { json: {} } });
    for (const query of ['x', ' ']) {
      const { outputs } = await resultOf(keenableSearch, upstream.origin, { args: { query } });
      expect(outputs).toEqual({ formalized_content: '', json: [] });
    }
    expect(upstream.asked).toHaveLength(1);
  });
});
