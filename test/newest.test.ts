import { describe, expect, it } from 'vitest';
import { Newest } from '../src/newest.js';
import { property } from './support/random.js';

describe('Newest', () => {
  it('drops what was put first when there are too many', () => {
    const newest = new Newest<number>({ maxCount: 2 });
    newest.put('a', 1);
    newest.put('b', 2);
    newest.put('c', 3);
    expect(['a', 'b', 'c'].map((key) => newest.get(key))).toEqual([undefined, 2, 3]);
    expect(newest.count).toBe(2);
  });

  it('makes what is put or touched again the newest, and what is got no newer', () => {
    const newest = new Newest<number>({ maxCount: 3 });
    newest.put('a', 1);
    newest.put('b', 2);
    newest.put('c', 3);
    newest.put('a', 4);
    expect(newest.touch('b')).toBe(2);
    newest.get('c');
    newest.put('d', 5);
    expect([...newest.values()]).toEqual([4, 2, 5]);
    expect(newest.touch('c')).toBeUndefined();
  });

  it('drops the oldest until the sizes fit', () => {
    const newest = new Newest<string>({ maxCount: 10, maxSize: 5, sizeOf: (text) => text.length });
    newest.put('a', 'aa');
    newest.put('b', 'bb');
    newest.put('c', 'cccc');
    expect([...newest.values()]).toEqual(['cccc']);
    newest.put('c', 'c');
    newest.put('d', 'dddd');
    expect([...newest.values()]).toEqual(['c', 'dddd']);
  });

  it('does not hold what is larger than all room, and drops nothing for it', () => {
    const newest = new Newest<string>({ maxCount: 10, maxSize: 5, sizeOf: (text) => text.length });
    newest.put('a', 'aa');
    newest.put('b', 'b');
    newest.put('b', 'bbbbbb');
    expect([...newest.values()]).toEqual(['aa']);
  });

  it('has its whole room again when it was cleared', () => {
    const newest = new Newest<string>({ maxCount: 10, maxSize: 2, sizeOf: (text) => text.length });
    newest.put('a', 'aa');
    newest.clear();
    expect(newest.count).toBe(0);
    newest.put('b', 'b');
    newest.put('c', 'c');
    expect(newest.count).toBe(2);
  });

  it('takes keys that every object has', () => {
    const newest = new Newest<number>({ maxCount: 2 });
    expect([newest.get('constructor'), newest.touch('__proto__')]).toEqual([undefined, undefined]);
    newest.put('__proto__', 1);
    expect(newest.get('__proto__')).toBe(1);
  });

  property('holds what a plain list would', 300, (random) => {
    const maxCount = 1 + random.int(6);
    const maxSize = 1 + random.int(30);
    const newest = new Newest<number>({ maxCount, maxSize, sizeOf: (value) => value });
    let list: { key: string; value: number }[] = [];
    for (let step = 0; step < 60; step += 1) {
      const key = random.pick(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
      const found = list.find((one) => one.key === key);
      const others = list.filter((one) => one !== found);
      const what = random.int(6);
      if (what === 0) {
        newest.delete(key);
        list = others;
      } else if (what === 1) {
        expect(newest.touch(key)).toBe(found?.value);
        list = found === undefined ? others : [...others, found];
      } else {
        const value = random.int(12);
        newest.put(key, value);
        list = value > maxSize ? others : [...others, { key, value }];
        while (list.length > maxCount || list.reduce((sum, one) => sum + one.value, 0) > maxSize) list = list.slice(1);
      }
      expect([...newest.values()]).toEqual(list.map((one) => one.value));
      expect(newest.get(key)).toBe(list.find((one) => one.key === key)?.value);
    }
  });
});
