import { expect, it } from 'vitest';
import { SharedReads } from '../../src/operators/shared-reads.js';

/** Reads that end when the test says so; `begun` has the names of those that have begun. */
function setUp() {
  const reads = new SharedReads<string>();
  const begun: string[] = [];
  const ends: { resolve: (value: string) => void; reject: (error: unknown) => void }[] = [];
  const read = (key: string, name: string): Promise<string> =>
    reads.read(key, () => {
      begun.push(name);
      return new Promise((resolve, reject) => ends.push({ resolve, reject }));
    });
  const settled = async (): Promise<void> => {
    for (let at = 0; at < 20; at += 1) await Promise.resolve();
  };
  return { read, begun, ends, settled };
}

it('what is asked for while a read is under way shares the one behind it', async () => {
  const { read, begun, ends, settled } = setUp();
  const answers = [read('k', 'a'), read('k', 'b'), read('k', 'c')];
  expect(begun).toEqual(['a']);
  ends[0]?.resolve('old');
  await settled();
  expect(begun).toEqual(['a', 'b']);
  // The one behind has begun, and may have read what was before a change that comes now.
  answers.push(read('k', 'd'));
  ends[1]?.resolve('new');
  await settled();
  expect(begun).toEqual(['a', 'b', 'd']);
  ends[2]?.resolve('newest');
  expect(await Promise.all(answers)).toEqual(['old', 'new', 'new', 'newest']);
});

it('a read that comes alone begins at once, and other keys wait for nothing', async () => {
  const { read, begun, ends, settled } = setUp();
  const first = read('k', 'a');
  void read('l', 'b');
  expect(begun).toEqual(['a', 'b']);
  ends[0]?.resolve('1');
  expect(await first).toBe('1');
  await settled();
  void read('k', 'c');
  expect(begun).toEqual(['a', 'b', 'c']);
});

it('a failure is that of those who share it, and not of the next', async () => {
  const { read, ends, settled } = setUp();
  const first = read('k', 'a');
  const second = read('k', 'b');
  ends[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await settled();
  ends[1]?.resolve('back');
  expect(await second).toBe('back');
});
