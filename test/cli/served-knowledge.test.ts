import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenStores } from '../../src/cli/open-stores.js';
import { docsSeed, folderSeeds } from '../../src/cli/seed-datasets.js';
import { serveKnowledge } from '../../src/cli/served-knowledge.js';
import { buildRequestSchema } from '../../src/knowledge/graph/build/build-options.js';
import { createMemoryIndexStorage } from '../../src/knowledge/search/memory-index-storage.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment, readSettings } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { createGraphMeters } from '../../src/telemetry/graph-meters.js';
import { MetricRegistry, renderMetrics } from '../../src/telemetry/metric-registry.js';
import { datasetRecord, documentRecord } from '../stores/support/knowledge-records.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { createLog } from '../stores/support/test-log.js';

const never = new AbortController().signal;

async function serve() {
  const stores = createMemoryStores();
  const storage = createMemoryIndexStorage();
  const folder = await temporaryFolder();
  let loaded = 0;
  const opened = {
    ...stores,
    openIndexStorage: async () => {
      loaded += 1;
      return storage;
    },
  } as unknown as OpenStores;
  const settings = readSettings({ RUNNEL_DATASETS_DIR: path.join(folder, 'datasets') }, 'nodes', 'stores');
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  onTestFinished(() => models.close());
  const log = createLog();
  const registry = new MetricRegistry();
  const graphMeters = createGraphMeters(registry);
  const knowledge = serveKnowledge(opened, { models }, { settings, log, graphMeters });
  onTestFinished(() => knowledge.close());
  const find = async (dataset: string, question: string) => {
    const options = {
      topN: 8,
      topK: 100,
      similarityThreshold: 0,
      keywordWeight: 0.5,
      rerankId: '',
      crossLanguages: [],
    };
    const request = { ...options, question, datasets: [dataset], useGraph: false, useContents: false, filter: {} };
    return (await knowledge.retriever.search(request, never)).map(({ documentName }) => documentName);
  };
  return { ...knowledge, chats: knowledge.search, stores, folder, search: find, log, registry, loads: () => loaded };
}

describe('the knowledge base of a server', () => {
  it('is loaded when it is first searched, with folders as datasets', async () => {
    const { resume, search, folder, loads } = await serve();
    await mkdir(path.join(folder, 'datasets/plant'), { recursive: true });
    await writeFile(path.join(folder, 'datasets/plant/pumps.md'), 'A pump moves water.');
    await resume();
    expect(loads()).toBe(0);
    expect(await search('plant', 'what moves water?')).toEqual(['pumps.md']);
    expect(loads()).toBe(1);
  });

  it('tells chats of all tenants whether their search is the first one', async () => {
    const { chats } = await serve();
    const ann = chats.forTenant?.('ann');
    expect([chats.isCold, ann?.isCold]).toEqual([true, true]);
    await expect(ann?.search({ question: 'what?', datasetIds: ['none'] }, never)).rejects.toThrow();
    expect(chats.isCold).toBe(true);
    await ann?.search({ question: 'what?' }, never);
    expect([chats.isCold, ann?.isCold]).toEqual([false, false]);
  });

  it('has the pages of the package once for each tenant, and again what changed of them', async () => {
    const { addSeeds, open, folder } = await serve();
    const docs = [docsSeed(folder)];
    await mkdir(path.join(folder, 'docs'));
    await writeFile(path.join(folder, 'README.md'), 'Runnel runs agents.');
    await writeFile(path.join(folder, 'docs/mcp.md'), 'Tools of servers.');
    await addSeeds(docs, []);
    await addSeeds(docs, ['local', 'ann']);
    await addSeeds(docs, ['local', 'ann']);
    await writeFile(path.join(folder, 'docs/mcp.md'), 'Tools of other servers.');
    await addSeeds(docs, ['local']);
    const { base } = await open();
    for (const [tenant, size] of [
      ['local', 23],
      ['ann', 17],
    ] as const) {
      const found = await base.datasets.findByName(tenant, 'runnel-docs');
      expect(found?.counts.documents).toBe(2);
      const query = {
        datasetIds: [found?.dataset.id as string],
        offset: 0,
        limit: 9,
        orderBy: 'name',
        descending: false,
      } as const;
      const { items } = await base.documents.list(tenant, query);
      expect(items.map((one) => [one.name, one.size])).toEqual([
        ['README.md', 19],
        ['mcp.md', size],
      ]);
    }
  });

  it('makes datasets of seed folders: for every tenant, for one, and not in place of what a user made', async () => {
    const { addSeeds, open, folder, log } = await serve();
    for (const [place, text] of [
      ['seeds/pumps/a.md', 'A pump moves water.'],
      ['seeds/pumps/deep/b.md', 'A valve holds it.'],
      ['seeds/@ann/secret/c.md', 'Only for Ann.'],
      ['seeds/taken/d.md', 'Not in place of a dataset.'],
      ['seeds/.hidden/e.md', 'Not read.'],
    ] as const) {
      await mkdir(path.dirname(path.join(folder, place)), { recursive: true });
      await writeFile(path.join(folder, place), text);
    }
    const { base } = await open();
    await base.datasets.create('bob', { name: 'taken' });
    const seeds = await folderSeeds([path.join(folder, 'seeds'), path.join(folder, 'missing')], log);
    await addSeeds(seeds, ['ann', 'bob']);
    await addSeeds(seeds, ['ann', 'bob']);
    const namesOf = async (tenant: string) => {
      const query = { offset: 0, limit: 9, orderBy: 'name', descending: false } as const;
      const { items } = await base.datasets.list(tenant, query);
      return items.map(({ dataset, counts }) => [dataset.name, counts.documents]);
    };
    expect(await namesOf('ann')).toEqual([
      ['pumps', 2],
      ['secret', 1],
      ['taken', 1],
    ]);
    expect(await namesOf('bob')).toEqual([
      ['pumps', 2],
      ['taken', 0],
    ]);
    expect(log.lines).toEqual(['RUNNEL_SEED_DIR names a folder that cannot be read']);
  });

  it('counts the builds of its graphs', async () => {
    const { open, registry } = await serve();
    const { base, builds } = await open();
    const { dataset } = await base.datasets.create('ann', { name: 'empty' });
    await builds.start('ann', dataset.id, buildRequestSchema.parse({}));
    await expect
      .poll(() => renderMetrics(registry))
      .toMatch(
        /^runnel_graph_builds_total\{outcome="complete"\} 1\n[\s\S]*^runnel_graph_size_count\{of="entities"\} 1\n/m,
      );
  });

  it('goes on with documents that were left', async () => {
    const { resume, waiting, stores, loads } = await serve();
    const store = await stores.openKnowledge();
    const dataset = datasetRecord();
    const document = documentRecord(dataset.id);
    await store.insertDataset('local', dataset);
    await store.insertDocuments('local', [document]);
    expect(await waiting()).toBe(0);
    await store.enqueue('local', [document.id]);
    expect(await waiting()).toBe(1);
    expect(loads()).toBe(0);
    await resume();
    expect(loads()).toBe(1);
    while ((await store.findDocument('local', document.id))?.run === 'RUNNING') await nextTurn();
    expect(await waiting()).toBe(0);
    expect(await store.findDocument('local', document.id)).toMatchObject({ run: 'DONE' });
  });
});
