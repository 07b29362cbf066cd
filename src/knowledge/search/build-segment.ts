/** Passages as a segment, and several segments as one. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import type { TextWords, Words } from '../words/words.js';
import { encodeBody } from './body.js';
import { exampleIn } from './example-part.js';
import { compareKeys } from './memory-index-storage.js';
import { passageVector } from './ngrams.js';
import type { Passage } from './passage.js';
import { type TermPostings, termsOf } from './postings.js';
import { bodiesOf, bodyKey, GONE, HIDDEN, ROWS, type Segment, type StoredHead, writeSegment } from './segment.js';

/** Passages that are taken apart before other work of the process has its turn: a few milliseconds. */
const SLICE = 4;
/** Blocks of terms that are read in one step. */
const BLOCKS_A_STEP = 32;

/** Takes passages apart and writes them as a segment; see {@link writeSegment}. */
export async function buildSegment(
  storage: IndexStorage,
  scope: IndexScope,
  words: Words,
  passages: readonly Passage[],
  signal?: AbortSignal,
): Promise<SegmentEntry> {
  const heads: StoredHead[] = [];
  const bodies: Uint8Array[] = [];
  const lists = new Map<string, { readonly ordinals: number[]; readonly counts: number[] }>();
  for (let from = 0; from < passages.length; from += SLICE) {
    signal?.throwIfAborted();
    const slice = passages.slice(from, from + SLICE);
    const texts = await words.analyse(slice.flatMap(partsOf));
    for (const [at, passage] of slice.entries()) {
      const [text, ...rest] = texts.slice(PARTS * at, PARTS * (at + 1)) as [TextWords, ...TextWords[]];
      count(lists, heads.length, text.terms);
      heads.push(headOf(passage, text, rest, words.version));
      bodies.push(encodeBody(text.terms, text.places, passageVector(text.forms)));
    }
    await nextTurn();
  }
  const terms = [...lists.keys()].sort(compareKeys).map((term): TermPostings => {
    const { ordinals, counts } = lists.get(term) as { ordinals: number[]; counts: number[] };
    return { term, ordinals, counts };
  });
  const flags = Uint8Array.from(passages, ({ available = true }) => (available ? 0 : HIDDEN));
  return writeSegment(storage, scope, { heads, flags, bodies, terms });
}

/** All texts that a passage is found by, one behind the other. */
function textOf({ title, text, keywords = [], questions = [] }: Passage): string {
  return [title, text, ...keywords, ...questions].join('\n');
}

/** Texts of a passage that are taken apart. */
const PARTS = 5;

/** All of it, its title, its title without a bracketed end, what stands before a marked example, and that with the example. */
function partsOf(passage: Passage): readonly string[] {
  const { title } = passage;
  const text = textOf(passage);
  const example = exampleIn(text);
  return [
    text,
    title,
    title.replace(BRACKETED_END, ''),
    example === undefined ? '' : text.slice(0, example.from),
    example === undefined ? '' : text.slice(0, example.to),
  ];
}

const BRACKETED_END = /\s*[(（][^()（）]*[)）]\s*$/;

/** Longest name, in terms: a longer title is a sentence, which no other passage repeats. */
const MAX_NAME = 8;

function headOf(passage: Passage, text: TextWords, parts: readonly TextWords[], version: number): StoredHead {
  const [title, short, before, within] = parts as [TextWords, TextWords, TextWords, TextWords];
  const names = [title, short].filter(({ terms }) => terms.length > 0 && terms.length <= MAX_NAME);
  return {
    id: passage.id,
    documentId: passage.documentId,
    title: passage.title,
    titleTerms: [...new Set(title.terms)],
    names: [...new Set(names.map(({ terms }) => terms.join(' ')))],
    length: text.terms.length,
    version,
    metadata: passage.metadata ?? {},
    ...(within.terms.length > before.terms.length
      ? { example: [placeBehind(before), placeBehind(within)] as const }
      : {}),
  };
}

function placeBehind({ places }: TextWords): number {
  return (places.at(-1) ?? -1) + 1;
}

function count(
  lists: Map<string, { readonly ordinals: number[]; readonly counts: number[] }>,
  ordinal: number,
  terms: readonly string[],
): void {
  for (const term of terms) {
    const list = lists.get(term) ?? { ordinals: [], counts: [] };
    if (list.ordinals.length === 0) lists.set(term, list);
    const last = list.ordinals.length - 1;
    if (list.ordinals[last] === ordinal) list.counts[last] = (list.counts[last] as number) + 1;
    else {
      list.ordinals.push(ordinal);
      list.counts.push(1);
    }
  }
}

/**
 * Writes some segments as one, without the passages that are gone; gives undefined when none is left. The bytes are the same as if the passages that
 * are left had been added together, in this order.
 */
export async function mergeSegments(
  storage: IndexStorage,
  scope: IndexScope,
  segments: readonly Segment[],
): Promise<SegmentEntry | undefined> {
  const heads: StoredHead[] = [];
  const flags: number[] = [];
  const places = segments.map((segment) =>
    segment.heads.map((head, ordinal) => {
      const flag = segment.flags[ordinal] ?? 0;
      if ((flag & GONE) !== 0) return -1;
      flags.push(flag);
      return heads.push(head) - 1;
    }),
  );
  if (heads.length === 0) return undefined;
  return writeSegment(storage, scope, {
    heads,
    flags: Uint8Array.from(flags),
    bodies: mergedBodies(storage, scope, segments),
    terms: mergedTerms(storage, scope, segments, places),
  });
}

async function* mergedBodies(
  storage: IndexStorage,
  scope: IndexScope,
  segments: readonly Segment[],
): AsyncGenerator<Uint8Array> {
  for (const { id, flags } of segments) {
    const kept = new Set(Array.from(flags.keys()).flatMap((at) => ((flags[at] ?? 0) & GONE ? [] : [bodyKey(at)])));
    for await (const { key, bytes } of bodiesOf(storage, scope, id)) if (kept.has(key)) yield bytes;
  }
}

/** The terms of all segments, ascending; passages get their new places, which ascend with the segments. */
async function* mergedTerms(
  storage: IndexStorage,
  scope: IndexScope,
  segments: readonly Segment[],
  places: readonly (readonly number[])[],
): AsyncGenerator<TermPostings> {
  const readers = segments.map((segment) => segmentTerms(storage, scope, segment));
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    let least: string | undefined;
    for (const { done, value } of heads) {
      if (done !== true && (least === undefined || compareKeys(value.term, least) < 0)) least = value.term;
    }
    if (least === undefined) return;
    const ordinals: number[] = [];
    const counts: number[] = [];
    for (const [at, head] of heads.entries()) {
      if (head.done === true || head.value.term !== least) continue;
      const own = places[at] as readonly number[];
      for (let item = 0; item < head.value.ordinals.length; item += 1) {
        const place = own[head.value.ordinals[item] as number] ?? -1;
        if (place < 0) continue;
        ordinals.push(place);
        counts.push(head.value.counts[item] as number);
      }
      heads[at] = await (readers[at] as AsyncGenerator<TermPostings>).next();
    }
    if (ordinals.length > 0) yield { term: least, ordinals, counts };
  }
}

async function* segmentTerms(
  storage: IndexStorage,
  scope: IndexScope,
  { id, blocks }: Segment,
): AsyncGenerator<TermPostings> {
  for (let from = 0; from < blocks.length; from += BLOCKS_A_STEP) {
    const keys = blocks.slice(from, from + BLOCKS_A_STEP);
    const rows = await storage.read(scope, id, ROWS.terms, keys);
    for (const key of keys) yield* termsOf(rows.get(key) ?? new Uint8Array());
  }
}
