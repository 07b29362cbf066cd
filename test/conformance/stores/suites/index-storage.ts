import { beforeEach, expect, it } from 'vitest';
import { openSearchIndex } from '../../../../src/knowledge/search/search-index.js';
import type { IndexScope, IndexStorage } from '../../../../src/records/index-storage.js';
import { newTenant } from '../../../stores/support/records.js';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const plain = (value: Uint8Array | undefined): number[] => [...(value ?? [])];
const row = (key: string, ...values: number[]) => ({ kind: 'k', key, bytes: bytes(...values) });

/** What every storage of search indexes does. */
export function describeIndexStorage(storageOf: () => IndexStorage): void {
  let storage: IndexStorage;
  let scope: IndexScope;
  beforeEach(() => {
    storage = storageOf();
    scope = { tenant: newTenant(), dataset: 'd' };
  });
  const rowsOf = async (segment = 's', where = scope): Promise<string[]> =>
    (await storage.list(where, segment, 'k', { limit: 100 })).map(({ key }) => key);

  it('has no segments and generation 0 before the first commit', async () => {
    expect(await storage.state(scope)).toEqual({ generation: 0, segments: [] });
    expect(await storage.generation(scope)).toBe(0);
  });

  it('gives rows by their keys and leaves out what is not there', async () => {
    await storage.write(scope, 's', [row('a', 1), row('b', 2, 0, 255), row('', 3)]);
    const found = await storage.read(scope, 's', 'k', ['b', '', 'none']);
    expect([...found].map(([key, value]) => [key, plain(value)]).sort()).toEqual([
      ['', [3]],
      ['b', [2, 0, 255]],
    ]);
    expect(await storage.read(scope, 's', 'other', ['a'])).toEqual(new Map());
    expect(await storage.read(scope, 's', 'k', [])).toEqual(new Map());
  });

  it('replaces a row that is written again', async () => {
    await storage.write(scope, 's', [row('a', 1)]);
    await storage.write(scope, 's', [row('a', 2)]);
    expect(plain((await storage.read(scope, 's', 'k', ['a'])).get('a'))).toEqual([2]);
  });

  it('lists rows in the order of the bytes of their keys, page by page', async () => {
    const keys = ['b', 'a', '数', 'Z', '𠀀', '', 'é'];
    await storage.write(
      scope,
      's',
      keys.map((key) => row(key, 1)),
    );
    const ordered = ['', 'Z', 'a', 'b', 'é', '数', '𠀀'];
    expect(await rowsOf()).toEqual(ordered);
    const page = await storage.list(scope, 's', 'k', { after: 'a', limit: 2 });
    expect(page.map(({ key }) => key)).toEqual(['b', 'é']);
  });

  it('copies rows from one segment to another under new keys, and leaves out what is not there', async () => {
    await storage.write(scope, 's', [row('a', 1), row('b', 2, 0, 255), row('', 3), { ...row('a', 4), kind: 'other' }]);
    await storage.write(scope, 't', [row('x', 9), row('z', 8)]);
    const elsewhere = { ...scope, dataset: 'e' };
    await storage.write(elsewhere, 's', [row('a', 7)]);
    const segments = { from: 's', to: 't' };
    await storage.copy(scope, segments, 'k', new Map(Object.entries({ a: 'b', b: 'x', '': '数"\\', none: 'y' })));
    const copied = (await storage.list(scope, 't', 'k', { limit: 100 })).map(({ key, bytes: own }) => [
      key,
      plain(own),
    ]);
    expect(copied).toEqual([
      ['b', [1]],
      ['x', [2, 0, 255]],
      ['z', [8]],
      ['数"\\', [3]],
    ]);
    expect(await rowsOf('s')).toEqual(['', 'a', 'b']);
    expect(await rowsOf('t', elsewhere)).toEqual([]);
    await storage.copy(scope, segments, 'k', new Map());
    await storage.copy(scope, { from: 'nothing', to: 'u' }, 'k', new Map([['a', 'b']]));
    expect(await rowsOf('u')).toEqual([]);
  });

  it('copies more rows than one statement takes', async () => {
    const keys = Array.from({ length: 150 }, (_, at) => `k${String(at).padStart(3, '0')}`);
    await storage.write(
      scope,
      's',
      keys.map((key, at) => row(key, at)),
    );
    await storage.copy(scope, { from: 's', to: 't' }, 'k', new Map(keys.map((key) => [key, `new-${key}`])));
    const copied = await storage.list(scope, 't', 'k', { limit: 1_000 });
    expect(copied.map(({ key, bytes: own }) => [key, plain(own)])).toEqual(keys.map((key, at) => [`new-${key}`, [at]]));
  });

  it('commits if nothing else was committed, and says so if not', async () => {
    expect(await storage.commit(scope, 0, { add: [{ id: 's1', flags: bytes(0, 1) }] })).toBe(true);
    expect(await storage.commit(scope, 0, { add: [{ id: 's2', flags: bytes() }] })).toBe(false);
    expect(
      await storage.commit(scope, 1, {
        add: [{ id: 's2', flags: bytes() }],
        flags: [{ id: 's1', flags: bytes(2, 2) }],
      }),
    ).toBe(true);
    const { generation, segments } = await storage.state(scope);
    expect(generation).toBe(2);
    expect(await storage.generation(scope)).toBe(2);
    expect(segments.map(({ id, flags }) => [id, plain(flags)])).toEqual([
      ['s1', [2, 2]],
      ['s2', []],
    ]);
  });

  it('lets one of two commits win that come at once', async () => {
    const results = await Promise.all(
      ['x', 'y'].map((id) => storage.commit(scope, 0, { add: [{ id, flags: bytes() }] })),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect((await storage.state(scope)).segments).toHaveLength(1);
  });

  it('deletes the rows of a segment that is dropped, and no others', async () => {
    await storage.write(
      scope,
      's',
      Array.from({ length: 450 }, (_, at) => row(`k${at}`, 1)),
    );
    await storage.write(scope, 't', [row('a', 1)]);
    await storage.commit(scope, 0, {
      add: [
        { id: 's', flags: bytes() },
        { id: 't', flags: bytes() },
      ],
    });
    await storage.commit(scope, 1, { drop: ['s'] });
    expect(await rowsOf('s')).toEqual([]);
    expect(await rowsOf('t')).toEqual(['a']);
    expect((await storage.state(scope)).segments.map(({ id }) => id)).toEqual(['t']);
  });

  it('erases rows by their keys, or a whole segment', async () => {
    await storage.write(scope, 's', [row('a', 1), row('b', 1)]);
    await storage.erase(scope, 's', { kind: 'k', keys: ['a', 'none'] });
    expect(await rowsOf()).toEqual(['b']);
    await storage.erase(scope, 's');
    expect(await rowsOf()).toEqual([]);
  });

  it('sweeps what no commit lists and was begun before a time', async () => {
    for (const id of ['s1', 's2', 's3', 'vectors']) await storage.write(scope, id, [row('a', 1)]);
    await storage.commit(scope, 0, { add: [{ id: 's1', flags: bytes() }] });
    await storage.sweep(scope, 's3');
    expect(await Promise.all(['s1', 's2', 's3', 'vectors'].map((id) => rowsOf(id)))).toEqual([['a'], [], ['a'], ['a']]);
  });

  it('keeps tenants and datasets apart, and clears one alone', async () => {
    const other = { ...scope, tenant: newTenant() };
    const beside = { ...scope, dataset: 'e' };
    for (const where of [scope, other, beside]) {
      await storage.write(where, 's', [row('a', 1)]);
      await storage.commit(where, 0, { add: [{ id: 's', flags: bytes() }] });
    }
    await storage.clear(scope);
    expect(await rowsOf('s', scope)).toEqual([]);
    expect((await storage.state(scope)).segments).toEqual([]);
    for (const where of [other, beside]) {
      expect(await rowsOf('s', where)).toEqual(['a']);
      expect((await storage.state(where)).segments).toHaveLength(1);
    }
  });

  it('has no generation again that it had before it was cleared', async () => {
    const seen = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      for (let commit = 0; commit < 2; commit += 1) {
        const before = await storage.generation(scope);
        await storage.commit(scope, before, { add: [{ id: `${round}-${commit}`, flags: bytes() }] });
        const { generation } = await storage.state(scope);
        expect(seen.has(generation)).toBe(false);
        seen.add(generation);
      }
      await storage.clear(scope);
      expect((await storage.state(scope)).segments).toEqual([]);
    }
  });

  it('shows no index that was cleared by another', async () => {
    const here = openSearchIndex({ storage, ...scope });
    const there = openSearchIndex({ storage, ...scope });
    const passage = (id: string, text: string) => ({ id, documentId: 'doc', title: '', text });
    await here.add([passage('old', 'a pump')]);
    expect(await there.search({ question: 'pump' })).toHaveLength(1);
    await here.clear();
    await here.add([passage('new', 'a valve')]);
    expect((await there.search({ question: 'pump valve' })).map(({ id }) => id)).toEqual(['new']);
  });

  it('holds an index that another one sees: added, found, taken out', async () => {
    const here = openSearchIndex({ storage, ...scope });
    const there = openSearchIndex({ storage, ...scope });
    const passages = Array.from({ length: 40 }, (_, at) => ({
      id: `p${at}`,
      documentId: 'doc',
      title: `Note ${at}`,
      text: `The circuit breaker of target ${at} opens. 断路器打开。`,
    }));
    await here.add(passages);
    const [hit] = await there.search({ question: 'target 7 breaker' });
    expect(hit?.id).toBe('p7');
    await there.remove(['p7']);
    expect((await here.search({ question: 'target 7 breaker', limit: 100 })).map(({ id }) => id)).not.toContain('p7');
    await Promise.all([here.settled(), there.settled()]);
    expect(await here.size()).toEqual({ passages: 39, available: 39, segments: 1 });
  });
}
