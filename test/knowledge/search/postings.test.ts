import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/knowledge/search/bytes.js';
import { compareKeys, createMemoryIndexStorage, sortKeys } from '../../../src/knowledge/search/memory-index-storage.js';
import {
  decodePostings,
  findTerm,
  renewedBlock,
  type TermPostings,
  termBlocks,
  termsOf,
} from '../../../src/knowledge/search/postings.js';
import { openSearchIndex } from '../../../src/knowledge/search/search-index.js';
import { ROWS } from '../../../src/knowledge/search/segment.js';
import type { IndexStorage } from '../../../src/records/index-storage.js';

const LARGEST = 2 ** 24 - 1;

/** A generator of whole numbers below a limit, the same for the same seed (mulberry32). */
function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
}

/** Terms that share beginnings of all lengths, with postings that are dense, rare, alone, in groups, or far apart. */
function termsWith(seed: number, count: number): TermPostings[] {
  const random = randomOf(seed);
  const letters = ['a', 'b', 'ab', 'é', '断', '路', '𠀀', 'x'.repeat(13), '断'.repeat(9)];
  const terms = new Set<string>();
  while (terms.size < count) {
    terms.add(Array.from({ length: 1 + random(4) }, () => letters[random(letters.length)]).join(''));
  }
  return [...terms].sort(compareKeys).map((term) => {
    const most = [1, 2, 40, 400][random(4)] as number;
    const spread = [1, 2, 30, 5_000][random(4)] as number;
    const ordinals: number[] = [];
    let ordinal = random(4) === 0 ? 0 : random(100_000);
    for (let at = 0; at < most && ordinal <= LARGEST; at += 1) {
      ordinals.push(ordinal);
      ordinal += 1 + (random(5) === 0 ? random(spread * 100) : random(spread));
    }
    return { term, ordinals, counts: ordinals.map(() => (random(3) === 0 ? 1 + random(70_000) : 1)) };
  });
}

const numbersOf = ({ term, ordinals, counts }: TermPostings) => ({
  term,
  ordinals: Array.from(ordinals),
  counts: Array.from(counts),
});

/** A block as the first version wrote it. */
function firstVersionBlock(terms: readonly TermPostings[]): Uint8Array {
  const block = new ByteWriter();
  for (const { term, ordinals, counts } of terms) {
    const postings = new ByteWriter();
    let last = -1;
    for (const [at, ordinal] of Array.from(ordinals).entries()) {
      const count = counts[at] as number;
      postings.number((ordinal - last - 1) * 2 + (count === 1 ? 1 : 0));
      if (count !== 1) postings.number(count);
      last = ordinal;
    }
    block.text(term);
    block.number(ordinals.length);
    block.number(postings.length);
    block.raw(postings.finish());
  }
  return block.finish();
}

describe('blocks of postings', () => {
  it.each([1, 2, 3, 4, 5, 6])('give what was written into them (seed %i)', (seed) => {
    const terms = termsWith(seed, 300);
    const blocks = [...termBlocks(terms)];
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.flatMap(({ bytes }) => [...termsOf(bytes)]).map(numbersOf)).toEqual(terms.map(numbersOf));
  });

  it.each([7, 8, 9])('find every term that they hold, and no other (seed %i)', (seed) => {
    const terms = termsWith(seed, 200);
    const [block] = termBlocks(terms, Number.POSITIVE_INFINITY);
    const bytes = block?.bytes as Uint8Array;
    for (const { term, ordinals, counts } of terms) {
      const found = findTerm(bytes, term);
      expect(found?.count).toBe(ordinals.length);
      expect(found && numbersOf({ term, ...decodePostings(found) })).toEqual(numbersOf({ term, ordinals, counts }));
    }
    const held = new Set(terms.map(({ term }) => term));
    for (const { term } of [...termsWith(seed + 100, 200), ...terms.map(({ term }) => ({ term: `${term}a` }))]) {
      if (!held.has(term)) expect(findTerm(bytes, term)).toBeUndefined();
    }
    for (const term of ['', '\0', '￿', 'a'.repeat(500)]) expect(findTerm(bytes, term)).toBeUndefined();
  });

  it('hold the largest numbers there may be, and refuse larger ones', () => {
    const terms = [
      { term: 'alone', ordinals: [LARGEST], counts: [LARGEST] },
      { term: 'both', ordinals: [0, LARGEST], counts: [LARGEST, 1] },
      { term: 'dense', ordinals: [...Array(500).keys(), LARGEST], counts: [...Array(500).fill(1), 4_097] },
    ];
    const [block] = termBlocks(terms);
    expect([...termsOf(block?.bytes as Uint8Array)].map(numbersOf)).toEqual(terms.map(numbersOf));
    const beyond = { term: 'beyond', ordinals: [0, LARGEST + 1], counts: [1, 1] };
    expect(() => [...termBlocks([beyond])]).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  });

  it('of the first version are read, and written anew as one block', () => {
    const terms = termsWith(10, 400);
    const old = firstVersionBlock(terms);
    expect([...termsOf(old)].map(numbersOf)).toEqual(terms.map(numbersOf));
    const renewed = renewedBlock(old);
    expect(renewed[0]).toBe(0);
    expect(renewed.length).toBeLessThan(old.length);
    expect(renewedBlock(renewed)).toBe(renewed);
    for (const { term, ordinals } of terms) expect(findTerm(renewed, term)?.count).toBe(ordinals.length);
    expect(renewedBlock(new Uint8Array())).toHaveLength(0);
  });
});

it('keys are in one order, with letters beyond 16 bits and without', () => {
  const plain = ['b', 'a', 'ab', '\ue000', '断', 'é', ''];
  for (const keys of [plain, [...plain, '𠀀', '𠀀b', '\uffff']]) {
    const bytes = [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    expect(sortKeys([...keys])).toEqual(bytes);
  }
});

describe('an index with segments of the first version', () => {
  /** Stores blocks of terms as the first version did. */
  function olderStorage(storage: IndexStorage): IndexStorage {
    return {
      ...storage,
      write: (scope, segment, rows) =>
        storage.write(
          scope,
          segment,
          rows.map((row) =>
            row.kind === ROWS.terms ? { ...row, bytes: firstVersionBlock([...termsOf(row.bytes)]) } : row,
          ),
        ),
    };
  }

  const passages = Array.from({ length: 40 }, (_, at) => ({
    id: `p${at}`,
    documentId: 'd',
    title: `Part ${at}`,
    text: `a breaker opens ${'again '.repeat(at % 7)} when ${at % 3 === 0 ? 'targets' : 'calls'} fail, 断路器 ${at}`,
  }));
  const scope = { tenant: 't', dataset: 'd' };
  const questions = ['breaker targets', 'again and again', '断路器 7', 'part 12'];

  it('finds what it found before, and stores the form of today when segments are merged', async () => {
    const expected = openSearchIndex({ storage: createMemoryIndexStorage(), ...scope });
    await expected.add(passages);
    const storage = createMemoryIndexStorage();
    await openSearchIndex({ storage: olderStorage(storage), ...scope }).add(passages.slice(0, 10));
    const index = openSearchIndex({ storage, ...scope });
    await index.add(passages.slice(10));
    for (const question of questions)
      expect(await index.search({ question })).toEqual(await expected.search({ question }));
    for (const passage of passages) await index.add([passage]);
    await index.settled();
    for (const question of questions)
      expect(await index.search({ question })).toEqual(await expected.search({ question }));
    const { segments } = await storage.state(scope);
    for (const { id } of segments) {
      const rows = await storage.list(scope, id, ROWS.terms, { after: undefined, limit: 1_000 });
      for (const { bytes } of rows) expect(bytes[0]).toBe(0);
    }
  });
});
