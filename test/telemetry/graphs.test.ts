import { expect, it, onTestFinished } from 'vitest';
import { countBuilds } from '../../src/cli/graph/count-builds.js';
import type { BuildRequest } from '../../src/knowledge/graph/build/build-options.js';
import type { KnowledgeGraphs } from '../../src/knowledge/graph/knowledge-graphs.js';
import { createGraphMeters } from '../../src/telemetry/graph-meters.js';
import { MetricRegistry, renderMetrics } from '../../src/telemetry/metric-registry.js';
import { openBuilds, scriptedModel, TEXTS } from '../ingestion/support/graph-builds.js';
import { TENANT } from '../knowledge/base/support/new-base.js';

/** A report with one finding, the first passage. */
const report = (_name: string, { passages }: { readonly passages: readonly { id: string; text: string }[] }) => ({
  ...{ title: 'About it', summary: 'Written.', rating: 70 },
  findings: passages.slice(0, 1).map(({ id, text }) => ({ summary: text, chunks: [id] })),
});

/** Builds whose ends are counted; one is over when its size is. */
async function openCounted(graphs?: Pick<KnowledgeGraphs, 'ask'>) {
  const kit = await openBuilds({ chat: scriptedModel(report).chat });
  const { builds, base, dataset, request } = kit;
  const registry = new MetricRegistry();
  const running = builds
    .run()
    .pipe(countBuilds(createGraphMeters(registry), graphs ?? base.graphs))
    .subscribe();
  onTestFinished(() => running.unsubscribe());
  const numbers = async (): Promise<ReadonlyMap<string, number>> => {
    const lines = (await renderMetrics(registry)).split('\n').filter((line) => line.startsWith('runnel_graph_'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };
  let ended = 0;
  const build = async (given: Partial<BuildRequest>, waitsFor = 'runnel_graph_stale_reports_count') => {
    ended += 1;
    await builds.start(TENANT, dataset, request(given));
    await expect.poll(async () => (await numbers()).get(waitsFor), { timeout: 30_000 }).toBe(ended);
  };
  return { ...kit, build, numbers };
}

it('counts builds, how large graphs are then, and the reports that are stale', async () => {
  const { build, numbers, ingest, base, dataset } = await openCounted();
  await build({ layers: ['links', 'rules'], reports: true });
  const { entities, relations } = await base.graphs.ask(TENANT, dataset, { kind: 'counts' });
  const first = await numbers();
  expect(Object.fromEntries([...first].filter(([name]) => !name.includes('bucket')))).toEqual({
    'runnel_graph_builds_total{outcome="complete"}': 1,
    'runnel_graph_size_count{of="entities"}': 1,
    'runnel_graph_size_sum{of="entities"}': entities,
    'runnel_graph_size_count{of="relations"}': 1,
    'runnel_graph_size_sum{of="relations"}': relations,
    'runnel_graph_size_count{of="passages"}': 1,
    'runnel_graph_size_sum{of="passages"}': Object.keys(TEXTS).length,
    runnel_graph_stale_reports_count: 1,
    runnel_graph_stale_reports_sum: 0,
  });
  await ingest(dataset, 'Vega.md', 'Vega replaces Orion. Orion uses Vega.');
  await build({ layers: ['links', 'rules'] });
  const { reports } = await base.graphs.ask(TENANT, dataset, { kind: 'reports', limit: 100 });
  const stale = reports.filter(({ isStale }) => isStale).length;
  expect(stale).toBeGreaterThan(0);
  const second = await numbers();
  expect(second.get('runnel_graph_stale_reports_sum')).toBe(stale);
  expect(second.get('runnel_graph_size_sum{of="passages"}')).toBe(2 * Object.keys(TEXTS).length + 1);
  await build({ layers: ['model'], reports: false, budget: { calls: 0 } });
  expect((await numbers()).get('runnel_graph_builds_total{outcome="partial"}')).toBe(1);
});

it('a graph that does not tell how large it is costs no build', async () => {
  const { build, numbers } = await openCounted({ ask: () => Promise.reject(new Error('no memory')) });
  const complete = 'runnel_graph_builds_total{outcome="complete"}';
  await build({ layers: ['links'] }, complete);
  await build({ layers: ['rules'] }, complete);
  expect([...(await numbers()).keys()]).toEqual([complete]);
});
