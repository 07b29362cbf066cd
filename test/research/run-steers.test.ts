import { Subject } from 'rxjs';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import type { SteerRecord, SteerStore } from '../../src/records/steers.js';
import { createRunSteers } from '../../src/research/service/run-steers.js';

/** A store whose reads are answered by hand, with what it had when each began. */
function slowStore() {
  const records: SteerRecord[] = [];
  const reads: (() => void)[] = [];
  const store: SteerStore = {
    insert: async (_, record) => void records.push(record),
    list: (_, { offset, limit }) => {
      const items = records.slice(offset, offset + limit);
      const total = records.length;
      // Of the writer, which only counts.
      if (limit === 1) return Promise.resolve({ items, total });
      return new Promise((resolve) => reads.push(() => resolve({ items, total })));
    },
  };
  return { store, reads };
}

function openSteers() {
  const { store, reads } = slowStore();
  const messages = new Subject<string>();
  const signals = { publish: async (_: string, text: string) => messages.next(text), messages: () => messages };
  const heard: (readonly JsonObject[])[] = [];
  const steers = createRunSteers({ store, signals, now: () => 0 }).forTenant('t');
  const subscription = steers.of('r').subscribe((changes) => heard.push(changes));
  onTestFinished(() => subscription.unsubscribe());
  return { steers, reads, heard };
}

it('looks again for a change that comes while it looks, and gives each once', async () => {
  const { steers, reads, heard } = openSteers();
  await steers.put('r', { n: 1 });
  await steers.put('r', { n: 2 });
  expect(reads).toHaveLength(3);
  for (const read of reads.splice(0)) read();
  await expect.poll(() => heard).toEqual([[{ n: 1 }, { n: 2 }]]);
  await steers.put('r', { n: 3 });
  reads.splice(0)[0]?.();
  await expect.poll(() => heard).toEqual([[{ n: 1 }, { n: 2 }], [{ n: 3 }]]);
});

it('waits for a look that takes longer than the time between two', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { reads, heard } = openSteers();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reads).toHaveLength(1);
  reads.splice(0)[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual([[]]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reads).toHaveLength(1);
});

it('refuses changes beyond a thousand of one run', async () => {
  const { steers } = openSteers();
  for (let n = 0; n < 1_000; n += 1) await steers.put('r', { n });
  await expect(steers.put('r', { n: 1_000 })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
});
