/** How much of the metadata of several datasets one answer may hold. */
import { expect, it } from 'vitest';
import { createMetadata } from '../../../src/knowledge/base/metadata.js';
import type { BaseParts } from '../../../src/knowledge/base/parts.js';

/** Datasets of one document each, whose metadata is given. */
function metadataOf(datasets: Readonly<Record<string, object>>) {
  const store = {
    findDataset: async (_: string, id: string) => (id in datasets ? { id } : undefined),
    listDocuments: async (_: string, { datasetIds: [id] }: { datasetIds: readonly [string] }) => ({
      items: [{ id: `document of ${id}`, metadata: datasets[id] }],
      total: 1,
    }),
  };
  return createMetadata({ store } as unknown as BaseParts, { update: async () => undefined as never });
}

const values = (count: number, start: number) => Array.from({ length: count }, (_, at) => `v${start + at}`);

it('lists the documents of each value of several datasets', async () => {
  const metadata = metadataOf({ a: { color: ['red', 'blue'] }, b: { color: 'red', size: 'large' } });
  const found = await metadata.documentsByValue('t', ['a', 'b']);
  expect(Object.fromEntries([...found].map(([name, of]) => [name, Object.fromEntries(of)]))).toEqual({
    color: { red: ['document of a', 'document of b'], blue: ['document of a'] },
    size: { large: ['document of b'] },
  });
});

it('refuses more values than an answer holds, those of all datasets together', async () => {
  const metadata = metadataOf({ a: { n: values(60_000, 0) }, b: { n: values(60_000, 30_000) } });
  for (const one of ['a', 'b']) expect((await metadata.documentsByValue('t', [one])).get('n')?.size).toBe(60_000);
  await expect(metadata.documentsByValue('t', ['a', 'b'])).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
});

it('refuses values that are too long together, and counts one of several documents once', async () => {
  const long = 'x'.repeat(5_000_000);
  const metadata = metadataOf({ a: { n: long }, b: { n: long }, c: { n: `${long}y` } });
  expect((await metadata.documentsByValue('t', ['a', 'b'])).get('n')?.get(long)).toHaveLength(2);
  await expect(metadata.documentsByValue('t', ['a', 'c'])).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
});
