/** Terms of a dataset over HTTP, and searches that find by them. */
import { describe, expect, it } from 'vitest';
import { startDatasets } from './support/dataset-server.js';

describe('the terms of a dataset', () => {
  it('are replaced and read', async () => {
    const { ask } = await startDatasets();
    const { data } = await ask('POST', '/datasets', { name: 'plant' });
    const path = `/datasets/${data.id}/terms`;
    expect((await ask('GET', path)).data).toEqual({ terms: [] });
    expect((await ask('PUT', path, { terms: [['泵 ', 'pump']] })).data).toEqual({ terms: [['泵', 'pump']] });
    expect((await ask('GET', path)).data).toEqual({ terms: [['泵', 'pump']] });
    expect((await ask('PUT', path, { terms: [] })).data).toEqual({ terms: [] });
  });

  it.each([
    ['no list', { terms: 'pump' }, 'pairs of terms'],
    ['no pair', { terms: [['pump']] }, 'at [0]'],
    ['another field', { terms: [], term: 1 }, 'Field: <term>'],
  ])('are refused: %s', async (_, body, said) => {
    const { ask } = await startDatasets();
    const { data } = await ask('POST', '/datasets', { name: 'plant' });
    const refused = await ask('PUT', `/datasets/${data.id}/terms`, body);
    expect(refused).toMatchObject({ code: 101, message: expect.stringContaining(said) });
    expect((await ask('GET', `/datasets/${data.id}/terms`)).data).toEqual({ terms: [] });
  });
});
