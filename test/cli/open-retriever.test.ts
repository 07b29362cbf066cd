import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { openRetriever } from '../../src/cli/open-retriever.js';
import { readSettings } from '../../src/settings/read-settings.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';

const never = new AbortController().signal;

/** A folder of datasets: paths and texts. */
async function open(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const retriever = openRetriever(
    readSettings({ RUNNEL_DATASETS_DIR: path.join(folder, 'datasets') }, 'nodes', 'stores'),
    createEgressClient(),
  );
  const search = async (tenant: string | undefined, dataset: string): Promise<readonly string[]> => {
    const own = tenant === undefined ? retriever : retriever.forTenant?.(tenant);
    const found = await own?.search(
      {
        question: 'pump',
        datasets: [dataset],
        topN: 8,
        topK: 100,
        similarityThreshold: 0,
        keywordWeight: 0.5,
        rerankId: '',
        crossLanguages: [],
        useGraph: false,
        useContents: false,
        filter: {},
      },
      never,
    );
    return (found ?? []).map(({ content }) => content);
  };
  return { search };
}

const FILES = {
  'datasets/manuals/pump.md': 'the pump of everybody without a name',
  'datasets/@ann/manuals/pump.md': 'the pump of Ann',
  'datasets/@bob/secrets/pump.md': 'the pump of Bob',
  'outside/pump.md': 'the pump outside',
};

describe('datasets in folders', () => {
  it('are those of the tenant alone, also where two have one of the same name', async () => {
    const { search } = await open(FILES);
    expect(await search(undefined, 'manuals')).toEqual([FILES['datasets/manuals/pump.md']]);
    expect(await search('local', 'manuals')).toEqual([FILES['datasets/manuals/pump.md']]);
    expect(await search('ann', 'manuals')).toEqual([FILES['datasets/@ann/manuals/pump.md']]);
    expect(await search('bob', 'secrets')).toEqual([FILES['datasets/@bob/secrets/pump.md']]);
  });

  it.each([
    ['ann', 'secrets', 'There are: manuals.'],
    ['bob', 'manuals', 'There are: secrets.'],
    ['eve', 'manuals', 'There are: none.'],
    ['local', 'secrets', 'There are: manuals.'],
    ['local', '@ann', 'There are: manuals.'],
    ['ann', '../@bob/secrets', 'There are: manuals.'],
    ['ann/../@bob', 'secrets', 'There are: none.'],
    ['/../../outside', 'pump.md', 'There are: none.'],
    ['', 'manuals', 'There are: none.'],
    ['..', 'outside', 'There are: none.'],
  ])('of others are not there for %j: %s', async (tenant, dataset, known) => {
    const { search } = await open(FILES);
    await expect(search(tenant, dataset)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `Dataset(${dataset}) does not exist. ${known} Put a folder of that name into RUNNEL_DATASETS_DIR, or set RAGFLOW_BASE_URL.`,
    });
  });
});
