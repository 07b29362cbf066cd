import { expect, it } from 'vitest';
import { readWithin } from '../../../src/knowledge/base/read-within.js';

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

async function reading(count: number, length: number, { missing = 0, maxSize = 1_000 } = {}) {
  const calls: number[] = [];
  const found = await readWithin<string>(idsOf(count), {
    read: async (ids) => {
      calls.push(ids.length);
      return ids.filter((id) => Number(id.slice(1)) >= missing);
    },
    sizeOf: () => length,
    maxSize,
    maxIds: 500,
  });
  return { calls, found };
}

it.each([
  ['nothing of nothing', 0, 1, [], 0],
  ['few at once', 30, 1, [30], 30],
  ['many short ones in few calls', 900, 1, [50, 500, 350], 900],
  ['no more calls than the bound allows', 900, 5, [50, 150], 200],
  ['long ones up to the bound, the last beyond it', 900, 300, [50], 50],
])('reads %s', async (_, count, length, calls, read) => {
  const result = await reading(count, length);
  expect(result.calls).toEqual(calls);
  expect(result.found).toEqual(idsOf(count).slice(0, read));
});

it('reads on behind those that are gone', async () => {
  const { calls, found } = await reading(600, 10, { missing: 60 });
  expect(calls.reduce((sum, ids) => sum + ids, 0)).toBeLessThanOrEqual(600);
  expect(found).toEqual(idsOf(600).slice(60, 60 + found.length));
  expect(found.length * 10).toBeGreaterThanOrEqual(1_000);
});

it('fails as the store does', async () => {
  const failing = { read: async () => Promise.reject(new Error('away')), sizeOf: () => 1, maxSize: 1, maxIds: 1 };
  await expect(readWithin(['c0'], failing)).rejects.toThrow('away');
});
