/** Several segments as one: what it holds, where it is made, and what is read for it. */
import { describe, expect } from 'vitest';
import { buildSegment } from '../../../src/knowledge/search/build-segment.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { mergeSegments } from '../../../src/knowledge/search/merge-segments.js';
import { mergeTermPortion, type TermPortion } from '../../../src/knowledge/search/merge-terms.js';
import type { Passage } from '../../../src/knowledge/search/passage.js';
import { termsOf } from '../../../src/knowledge/search/postings.js';
import { GONE, HIDDEN, loadSegment, ROWS, type Segment } from '../../../src/knowledge/search/segment.js';
import { openWords } from '../../../src/knowledge/words/words.js';
import { LoopSlices } from '../../../src/operators/loop-slices.js';
import type { IndexStorage } from '../../../src/records/index-storage.js';
import { property, type Random } from '../../support/random.js';

const SCOPE = { tenant: 't', dataset: 'd' };
const words = openWords();
const slices = new LoopSlices();
/** So many that their blocks are more than one portion. */
const MANY_WORDS = 60_000;

function passagesOf(random: Random, count: number, name: string, vocabulary: number, length: number): Passage[] {
  return Array.from({ length: count }, (_, at) => {
    const text = Array.from({ length: 1 + random.int(length) }, () => `w${random.int(vocabulary).toString(36)}`);
    return {
      ...{ id: `${name}-${at}`, documentId: name, title: `Part ${at % 3} of ${name} 泵`, text: text.join(' ') },
      ...{ available: !random.chance(0.1), metadata: { at } },
    };
  });
}

async function segmentOf(storage: IndexStorage, passages: readonly Passage[]): Promise<Segment> {
  return loadSegment(storage, SCOPE, await buildSegment(storage, SCOPE, passages, { words, slices }));
}

/** All that a segment holds, by the ids of its passages. */
async function contentOf(storage: IndexStorage, segment: Segment) {
  const { heads, flags, blocks, ordinals } = segment;
  const rows = await storage.read(SCOPE, segment.id, ROWS.terms, blocks);
  const terms = blocks.flatMap((block) =>
    [...termsOf(rows.get(block) as Uint8Array)].map(({ term, ordinals: places, counts }) => {
      return [term, Array.from(places), Array.from(counts)] as const;
    }),
  );
  const bodies = await storage.list(SCOPE, segment.id, ROWS.bodies, { limit: heads.length + 1 });
  return {
    heads,
    flags: [...flags],
    ordinals: [...ordinals],
    terms,
    bodies: bodies.map(({ key, bytes }) => [key, Buffer.from(bytes).toString('base64')]),
  };
}

/** Segments with passages of which some are gone, and the segment of those that are left. */
async function cases(random: Random, { segments = 4, count = 12, vocabulary = 200, length = 40 } = {}) {
  const storage = createMemoryIndexStorage();
  const parts = Array.from({ length: segments }, (_, at) =>
    passagesOf(random, 1 + random.int(count), `doc${at}`, vocabulary, length),
  );
  const left: Passage[] = [];
  const due: Segment[] = [];
  for (const passages of parts) {
    const segment = await segmentOf(storage, passages);
    const flags = segment.flags.map((flag, at) => {
      if (random.chance(0.2)) return flag | GONE;
      left.push({ ...(passages[at] as Passage), available: (flag & HIDDEN) === 0 });
      return flag;
    });
    due.push({ ...segment, flags });
  }
  return { storage, due, left };
}

describe('segments that are merged', () => {
  property('hold what one segment of the passages that are left would hold', 40, async (random) => {
    const { storage, due, left } = await cases(random);
    const merged = await mergeSegments(storage, SCOPE, due, { slices });
    if (left.length === 0) {
      expect(merged).toBeUndefined();
      return;
    }
    expect(await contentOf(storage, merged as Segment)).toEqual(
      await contentOf(storage, await segmentOf(storage, left)),
    );
  });

  property('are in memory what is read of them', 20, async (random) => {
    const { storage, due } = await cases(random);
    const merged = await mergeSegments(storage, SCOPE, due, { slices });
    if (merged === undefined) return;
    expect(await loadSegment(storage, SCOPE, merged)).toEqual(merged);
  });

  property('have their terms merged elsewhere to the same, portion by portion', 1, async (random) => {
    const { storage, due } = await cases(random, { count: 300, vocabulary: MANY_WORDS, length: 600 });
    const portions: TermPortion[] = [];
    const elsewhere = await mergeSegments(storage, SCOPE, due, {
      slices,
      mergeTerms: async (portion) => {
        portions.push(portion);
        // As a message that goes to a thread and back.
        return structuredClone(mergeTermPortion(structuredClone(portion)));
      },
    });
    const here = await mergeSegments(storage, SCOPE, due, { slices });
    expect(await contentOf(storage, elsewhere as Segment)).toEqual(await contentOf(storage, here as Segment));
    expect(portions.length).toBeGreaterThan(1);
    expect(portions[0]?.from).toBe('');
    expect(portions.map(({ below }) => below)).toEqual([...portions.slice(1).map(({ from }) => from), undefined]);
    // No portion has all: memory has a bound.
    const bytes = portions.map(({ segments }) => segments.reduce((sum, { bytes: { length } }) => sum + length, 0));
    expect(Math.max(...bytes)).toBeLessThan(64 * 3 * 8_192);
  });

  property('are merged in slices where nothing else can do it', 5, async (random) => {
    const { storage, due } = await cases(random, { count: 100, vocabulary: 5_000, length: 300 });
    let asked = 0;
    const mergeTerms = async () => {
      asked += 1;
      return undefined;
    };
    const refused = await mergeSegments(storage, SCOPE, due, { slices, mergeTerms });
    const here = await mergeSegments(storage, SCOPE, due, { slices });
    expect(asked).toBeGreaterThan(0);
    expect(await contentOf(storage, refused as Segment)).toEqual(await contentOf(storage, here as Segment));
  });
});
