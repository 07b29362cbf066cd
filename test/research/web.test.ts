import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { type Routes, startUpstream } from '../tools/support/upstream.js';

const CANVAS = {
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['search'], upstream: [] },
    search: { obj: { component_name: 'DeepSearch', params: {} }, downstream: [], upstream: ['begin'] },
  },
};

/** What a research by rules reports of its calls, with a search of the web that answers so. */
async function callsWith(routes: Routes) {
  const { origin, asked } = await startUpstream(routes);
  const services = {
    http: createEgressClient({ allowPrivateNetwork: true }),
    tools: { baseUrls: { SearXNG: `${origin}/` } },
  };
  const variables = { [RESEARCH_VARIABLE]: { web: true, depth: 'quick' } };
  const turn = { query: 'Who wrote The Salt Atlas?', variables };
  const events = await lastValueFrom(runTurn(loadCanvas(CANVAS), turn, { services, run: 'run' }).pipe(toArray()));
  const calls = events.flatMap((event) => (event.type === 'node-call' ? [event.call] : []));
  return { asked, calls, last: events.at(-1) };
}

it('reports a search of the web that fails from its beginning to its end, and goes on', async () => {
  const { asked, calls, last } = await callsWith({ 'GET /search': { status: 500, json: {} } });
  expect(asked.length).toBeGreaterThan(0);
  const begun = calls.filter(({ type }) => type === 'started');
  const ended = calls.filter(({ type }) => type === 'finished');
  expect(begun.length).toBeGreaterThan(0);
  expect(ended).toHaveLength(begun.length);
  for (const one of ended) expect(one).toMatchObject({ error: { message: expect.stringContaining('SearXNG') } });
  expect(last).toMatchObject({ type: 'run-settled' });
});

it('reports one that succeeds without an error', async () => {
  const text = 'Corwin Hale wrote The Salt Atlas.';
  const { calls } = await callsWith({
    'GET /search': ({ headers }) => {
      const results = [{ url: `http://${headers.host}/a`, title: 'A', content: text, score: 1 }];
      return { json: { query: 'q', results, suggestions: [] } };
    },
    'GET /a': { text },
  });
  expect(calls.map(({ type }) => type)).toEqual(expect.arrayContaining(['started', 'finished']));
  expect(calls.some((one) => 'error' in one && one.error !== undefined)).toBe(false);
});
