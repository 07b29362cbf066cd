import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { GroupWriter, type GroupWriterOptions } from '../../src/stores/group-writer.js';

/** A writer whose groups wait until they are let go. */
function createSubject(options: Partial<GroupWriterOptions<string>> = {}) {
  const groups: string[][] = [];
  const waiting: (() => void)[] = [];
  const writer = new GroupWriter<string>({
    write: async (items) => {
      groups.push([...items]);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return items.map((item) => (item === 'bad' ? new EngineError('CONFLICT', 'bad') : undefined));
    },
    bytesOf: (item) => item.length,
    keyOf: (item) => item,
    ...options,
  });
  const letGo = async (): Promise<void> => {
    while (waiting.length === 0) await nextTurn();
    waiting.shift()?.();
  };
  return { writer, groups, letGo };
}

describe('a group writer', () => {
  it('writes together what comes in one turn of the event loop, and what comes while it writes', async () => {
    const { writer, groups, letGo } = createSubject();
    const first = [writer.add('a'), writer.add('b')];
    while (groups.length === 0) await nextTurn();
    const second = [writer.add('c'), writer.add('d')];
    await letGo();
    await Promise.all(first);
    await letGo();
    await Promise.all(second);
    expect(groups).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('writes two items of one key in two groups, in their order', async () => {
    const { writer, groups, letGo } = createSubject({ keyOf: (item) => item[0] as string });
    const all = [writer.add('a1'), writer.add('b1'), writer.add('a2'), writer.add('c1')];
    await letGo();
    await letGo();
    await Promise.all(all);
    expect(groups).toEqual([
      ['a1', 'b1'],
      ['a2', 'c1'],
    ]);
  });

  it('writes small items before large ones, and one large one with each group', async () => {
    const large = (name: string) => name.padEnd(70_000, '.');
    const { writer, groups, letGo } = createSubject({
      keyOf: (item) => item.slice(0, 2),
      bytesOf: (item) => item.length,
      maxGroupBytes: 60_000,
    });
    const all = [writer.add('go')];
    while (groups.length === 0) await nextTurn();
    all.push(writer.add(large('A1')), writer.add(large('B1')), writer.add('A1, small'), writer.add('c1'));
    await letGo();
    while (groups.length === 1) await nextTurn();
    all.push(writer.add('d1'));
    for (let group = 0; group < 3; group += 1) await letGo();
    await Promise.all(all);
    const names = groups.map((group) => group.map((item) => item.replace(/\.+$/, '')));
    expect(names).toEqual([['go'], ['c1', 'A1'], ['d1', 'B1'], ['A1, small']]);
  });

  it('writes urgent items before others, and gives others half of a group', async () => {
    const { writer, groups, letGo } = createSubject({
      keyOf: (item) => item.slice(-1),
      isUrgent: (item) => item.startsWith('start'),
      bytesOf: () => 1,
      maxGroupBytes: 4,
    });
    const all = [writer.add('go 0')];
    while (groups.length === 0) await nextTurn();
    const items = ['more a', 'more b', 'more c', 'start d', 'start e', 'start f', 'more f', 'more g'];
    all.push(...items.map((item) => writer.add(item)));
    for (let group = 0; group < 4; group += 1) await letGo();
    await Promise.all(all);
    expect(groups).toEqual([
      ['go 0'],
      ['start d', 'start e', 'more a', 'more b'],
      ['start f', 'more c'],
      ['more f', 'more g'],
    ]);
  });

  it('writes a large item of a key behind the small ones that came before it', async () => {
    const { writer, groups, letGo } = createSubject({
      keyOf: (item) => item[0] as string,
      bytesOf: (item) => (item.endsWith('large') ? 70_000 : 1),
    });
    const all = [writer.add('go')];
    while (groups.length === 0) await nextTurn();
    all.push(...['a1', 'a2', 'b1', 'b2 large'].map((item) => writer.add(item)));
    for (let group = 0; group < 4; group += 1) await letGo();
    await Promise.all(all);
    expect(groups).toEqual([['go'], ['a1'], ['a2', 'b1'], ['b2 large']]);
  });

  it('says of each item what was wrong with it', async () => {
    const { writer, letGo } = createSubject();
    const all = Promise.allSettled([writer.add('a'), writer.add('bad'), writer.add('b')]);
    await letGo();
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('writes a group that fails as a whole again, item by item', async () => {
    const groups: string[][] = [];
    const writer = new GroupWriter<string>({
      write: async (items) => {
        groups.push([...items]);
        if (items.includes('poison')) throw new EngineError('BAD_REQUEST', 'poison');
        return items.map(() => undefined);
      },
      bytesOf: () => 1,
      keyOf: (item) => item,
    });
    const all = await Promise.allSettled([writer.add('a'), writer.add('poison'), writer.add('b')]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(groups).toEqual([['a', 'poison', 'b'], ['a'], ['poison'], ['b']]);
  });

  it('fails all at once when the database is away', async () => {
    let calls = 0;
    const writer = new GroupWriter<string>({
      write: async () => {
        calls += 1;
        throw new EngineError('INTERNAL', 'away', { retryable: true });
      },
      bytesOf: () => 1,
      keyOf: (item) => item,
    });
    const all = await Promise.allSettled([writer.add('a'), writer.add('b')]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(calls).toBe(1);
  });

  it('divides what is more than a group takes', async () => {
    const { writer, groups, letGo } = createSubject({ maxGroupBytes: 4 });
    const all = ['aa', 'bb', 'cc', 'dddddd', 'e'].map((item) => writer.add(item));
    for (let count = 0; count < 3; count += 1) await letGo();
    await Promise.all(all);
    expect(groups).toEqual([['aa', 'bb'], ['cc', 'dddddd'], ['e']]);
  });

  it('refuses what is more than may wait, but takes one item of any size', async () => {
    const { writer, letGo } = createSubject({ maxWaitingBytes: 5 });
    const first = writer.add('123456789');
    await expect(writer.add('x')).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await letGo();
    await first;
    const next = writer.add('x');
    await letGo();
    await next;
  });
});
