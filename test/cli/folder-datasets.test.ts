import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createFolderDatasets } from '../../src/cli/folder-datasets.js';
import type { KnowledgeBase } from '../../src/knowledge/base/knowledge-base.js';
import { newBase } from '../knowledge/base/support/new-base.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';

const never = new AbortController().signal;

async function open(files: Readonly<Record<string, string>>, { isParsed = true } = {}) {
  const folder = await temporaryFolder();
  const write = async (name: string, content: string) => {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  };
  for (const [name, content] of Object.entries(files)) await write(name, content);
  const test = newBase();
  if (isParsed) test.start();
  const stop = new AbortController();
  const reading = { parsingMs: 600_000, signal: stop.signal };
  const retriever = createFolderDatasets({ open: async () => test.base, folder, ...reading });
  const search = async (dataset: string, tenant?: string): Promise<readonly string[]> => {
    const own = tenant === undefined ? retriever : retriever.forTenant?.(tenant);
    const options = { topN: 8, topK: 100, similarityThreshold: 0, keywordWeight: 1, rerankId: '', crossLanguages: [] };
    const request = {
      ...options,
      question: 'pump',
      datasets: [dataset],
      useGraph: false,
      useContents: false,
      filter: {},
    };
    return ((await own?.search(request, never)) ?? []).map(({ content }) => content);
  };
  return { ...test, folder, write, search, retriever, stop };
}

async function documentsOf({ datasets, documents }: KnowledgeBase) {
  const dataset = await datasets.findByName('local', 'manuals');
  if (dataset === undefined) return [];
  const query = { limit: 10, offset: 0, orderBy: 'createdAt', descending: false } as const;
  return (await documents.list('local', { ...query, datasetIds: [dataset.dataset.id] })).items;
}

describe('folders of datasets', () => {
  it('are searched with what they hold now', async () => {
    const { folder, write, search } = await open({
      'manuals/a.md': 'the first pump',
      'manuals/deep/b.md': 'a deep pump',
    });
    expect((await search('manuals')).toSorted()).toEqual(['a deep pump', 'the first pump']);
    await write('manuals/a.md', 'another, larger pump');
    await rm(path.join(folder, 'manuals/deep'), { recursive: true });
    expect(await search('manuals')).toEqual(['another, larger pump']);
  });

  it('are searched by all that ask meanwhile when their files are parsed', async () => {
    const { base, start, search } = await open({ 'manuals/a.md': 'the first pump' }, { isParsed: false });
    const first = search('manuals');
    await vi.waitFor(async () => expect(await documentsOf(base)).toMatchObject([{ run: 'RUNNING' }]), {
      timeout: 60_000,
    });
    const others = [search('manuals'), search('manuals')];
    // What has nothing to wait for is over by then.
    for (let turn = 0; turn < 50; turn += 1) await search('manuals', 'bob').catch(() => {});
    start();
    expect(await Promise.all([first, ...others])).toEqual([['the first pump'], ['the first pump'], ['the first pump']]);
  });

  it('are not waited for any more once reading is ended', async () => {
    const { base, stop, search } = await open({ 'manuals/a.md': 'the first pump' }, { isParsed: false });
    const found = search('manuals');
    await vi.waitFor(async () => expect(await documentsOf(base)).toMatchObject([{ run: 'RUNNING' }]), {
      timeout: 60_000,
    });
    stop.abort(new Error('closed'));
    await expect(found).rejects.toThrow('closed');
  });

  it('are named before and after they were searched, each once, to their tenant', async () => {
    const { retriever, search } = await open({ 'manuals/a.md': 'a pump', 'notes/b.md': 'b', '@ann/own/c.md': 'c' });
    expect((await retriever.datasets?.(never))?.toSorted()).toEqual(['manuals', 'notes']);
    await search('manuals');
    expect((await retriever.datasets?.(never))?.toSorted()).toEqual(['manuals', 'notes']);
    expect(await retriever.forTenant?.('ann').datasets?.(never)).toEqual(['own']);
    expect(await retriever.forTenant?.('bob').datasets?.(never)).toEqual([]);
  });

  it('are those of the tenant alone', async () => {
    const { search } = await open({
      'manuals/a.md': 'our pump',
      '@ann/manuals/a.md': 'the pump of Ann',
    });
    expect(await search('manuals')).toEqual(['our pump']);
    expect(await search('manuals', 'ann')).toEqual(['the pump of Ann']);
    for (const [dataset, tenant] of [
      ['manuals', 'bob'],
      ['@ann', 'local'],
      ['../x', 'local'],
      ['manuals', '../x'],
      ['a/b', 'local'],
    ]) {
      await expect(search(dataset as string, tenant)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it('leave a dataset alone that has their name', async () => {
    const { base, search, write } = await open({});
    await base.datasets.create('local', { name: 'manuals' });
    await write('manuals/a.md', 'the pump of the folder');
    expect(await search('manuals')).toEqual([]);
  });
});
