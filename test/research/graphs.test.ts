import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import { createKnowledgeSearch } from '../../src/knowledge/base/search-datasets.js';
import type { KnowledgeSearch } from '../../src/knowledge/knowledge-search.js';
import type { ResearchEvent } from '../../src/research/research-events.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { startDatasets } from '../transport/datasets/support/dataset-server.js';

const CANVAS = loadCanvas({
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['search'], upstream: [] },
    search: { obj: { component_name: 'DeepSearch', params: {} }, downstream: [], upstream: ['begin'] },
  },
});

/** A research over datasets of which some have graphs: what their graphs were asked, and what it told. */
async function researched(graphs: Pick<KnowledgeSearch, 'withGraph'>, settings: object = {}) {
  const asked: (readonly string[] | undefined)[] = [];
  const knowledge: KnowledgeSearch = {
    search: async () => ({ hits: [], total: 0, documents: [] }),
    graphSearch: async ({ datasetIds }) => {
      asked.push(datasetIds);
      return { hits: [], spent: { calls: 0, tokens: 0 } };
    },
    ...graphs,
  };
  const variables = { [RESEARCH_VARIABLE]: { depth: 'quick', dataset_ids: ['a', 'b'], ...settings } };
  const turn = { query: 'Who wrote The Salt Atlas?', variables };
  const events = await lastValueFrom(runTurn(CANVAS, turn, { services: { knowledge }, run: 'run' }).pipe(toArray()));
  expect(events.at(-1)).toMatchObject({ type: 'run-settled' });
  const told = events.flatMap((event): ResearchEvent[] =>
    event.type === 'node-notice' && event.name === 'research' ? [event.data as unknown as ResearchEvent] : [],
  );
  const places = new Set(told.flatMap((event) => (event.type === 'searched' ? [event.where] : [])));
  const tools = told.flatMap((event) => (event.type === 'plan' ? event.tools : []));
  return { asked, places: [...places].sort(), tools };
}

it('where no dataset has a graph, none is asked, and plans have no tools for one', async () => {
  const none = { withGraph: async () => [] };
  expect(await researched(none)).toMatchObject({ asked: [], places: ['kb'] });
  const { asked, tools } = await researched(none, { plan: true });
  expect(asked).toEqual([]);
  expect(tools).toContain('kb_search');
  expect(tools).not.toContain('local_search');
});

it('the graphs of those datasets are asked that have one', async () => {
  const { asked, places } = await researched({ withGraph: async (ids) => (ids ?? []).filter((id) => id === 'b') });
  expect(places).toEqual(['graph', 'kb']);
  expect(new Set(asked.map((ids) => ids?.join()))).toEqual(new Set(['b']));
  expect((await researched({ withGraph: async () => ['b'] }, { plan: true })).tools).toContain('local_search');
});

it('all are asked where it cannot be told which have one', async () => {
  const fails = async (): Promise<never> => {
    throw new Error('away');
  };
  expect((await researched({ withGraph: fails })).asked[0]).toEqual(['a', 'b']);
  expect((await researched({})).asked[0]).toEqual(['a', 'b']);
});

it('datasets with a graph are those in which one was built', { timeout: 60_000 }, async () => {
  const { base, ask, dataset, ingest } = await startDatasets();
  const [built, bare] = [await dataset('built'), await dataset('bare')];
  for (const id of [built, bare]) await ingest(id, 'Orion.md', 'Orion uses Kafka.');
  const { signal } = new AbortController();
  const search = createKnowledgeSearch(async () => base, 'acme');
  expect(await search.withGraph?.(undefined, signal)).toEqual([]);
  await ask('POST', `/datasets/${built}/graph`, {});
  const state = async () => (await ask('GET', `/datasets/${built}/graph/build`)).data.state;
  await expect.poll(state, { timeout: 60_000, interval: 20 }).toBe('DONE');
  expect(await search.withGraph?.(undefined, signal)).toEqual([built]);
  expect(await search.withGraph?.([bare, 'no-such-dataset'], signal)).toEqual([]);
  expect(await search.forTenant?.('other').withGraph?.([built], signal)).toEqual([]);
});
