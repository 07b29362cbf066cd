import { getHeapSpaceStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { PassingMap, PassingValues } from '../src/passing-values.js';

describe('PassingValues', () => {
  it('gives each value a place of its own, and an empty place to the next one', () => {
    const values = new PassingValues<{ readonly name: string }>();
    const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const [first, second] = [values.add(a), values.add(b)];
    expect([values.at(first), values.at(second), values.size]).toEqual([a, b, 2]);

    values.remove(first, a);
    expect([values.at(first), values.list(), values.size]).toEqual([undefined, [b], 1]);
    expect(values.add(c)).toBe(first);
    expect(values.list()).toEqual([c, b]);
  });

  it('leaves a place alone that another value has by now', () => {
    const values = new PassingValues<object>();
    const [a, b] = [{}, {}];
    const place = values.add(a);
    values.remove(place, a);
    values.remove(place, a);
    expect(values.add(b)).toBe(place);
    values.remove(place, a);
    expect([values.at(place), values.size]).toEqual([b, 1]);
    expect(values.add(a)).not.toBe(place);
  });

  it('lists what there was when it was asked', () => {
    const values = new PassingValues<{ place: number }>();
    for (let at = 0; at < 3; at += 1) {
      const value = { place: at };
      value.place = values.add(value);
    }
    let seen = 0;
    for (const value of values.list()) {
      seen += 1;
      values.remove(value.place, value);
      values.add({ place: -1 });
    }
    expect([seen, values.size]).toEqual([3, 3]);
  });
});

describe('PassingMap', () => {
  it('is a map', () => {
    const map = new PassingMap<{ readonly n: number }>();
    const like = new Map<string, { readonly n: number }>();
    // Keys come back after they were deleted, and places are used again.
    for (let n = 0; n < 1_000; n += 1) {
      const [set, deleted] = [`key ${(n * 7) % 31}`, `key ${(n * 11) % 37}`];
      map.set(set, { n });
      like.set(set, { n });
      expect(map.delete(deleted)).toBe(like.delete(deleted));
      expect(map.get(set)).toEqual(like.get(set));
      expect([map.size, map.has(deleted), map.get(deleted)]).toEqual([like.size, false, undefined]);
    }
    expect([...map.keys()].sort()).toEqual([...like.keys()].sort());
    const byNumber = (one: { readonly n: number }, other: { readonly n: number }): number => one.n - other.n;
    expect(map.list().sort(byNumber)).toEqual([...like.values()].sort(byNumber));
  });

  it('leaves little of what has passed in old space, where a Map leaves most of it', () => {
    const kept = mostKept(new PassingMap<readonly number[]>());
    const keptByMap = mostKept(new Map<string, readonly number[]>());
    expect(kept * 2).toBeLessThan(keptByMap);
  });
});

/** By how many bytes old space grows at most while 40 MB pass through a map, 64 values at a time. */
function mostKept(map: Pick<Map<string, readonly number[]>, 'delete' | 'size'> & Sets): number {
  // Tables that have been in use for a while are in old space, as are those that replace them.
  for (let at = 0; at < 64; at += 1) map.set(`key ${at - 64}`, []);
  for (let at = 0; at < 2_000; at += 1) waste.push(new Array(2_560).fill(at));
  const before = oldSpaceBytes();
  let most = 0;
  for (let at = 0; at < 2_000; at += 1) {
    map.set(`key ${at}`, new Array(2_560).fill(at));
    map.delete(`key ${at - 64}`);
    if (at % 100 === 0) most = Math.max(most, oldSpaceBytes() - before);
  }
  expect(map.size).toBe(64);
  return most;
}

/** Keeps what it is given from being optimised away, and nothing else. */
const waste = {
  last: [] as readonly number[],
  push(list: readonly number[]): void {
    this.last = list;
  },
};

interface Sets {
  readonly set: (key: string, value: readonly number[]) => unknown;
}

function oldSpaceBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  return old?.space_used_size ?? Number.NaN;
}
