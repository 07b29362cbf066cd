/** Passages as a segment, and several segments as one. */
import type { LoopSlices } from '../../operators/loop-slices.js';
import type { IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import type { TextWords, Words } from '../words/words.js';
import { encodeBody } from './body.js';
import { exampleIn } from './example-part.js';
import { compareKeys, sortKeys } from './memory-index-storage.js';
import { passageVector } from './ngrams.js';
import type { Passage } from './passage.js';
import { type TermPostings, termsOf } from './postings.js';
import {
  bodiesOf,
  bodyKey,
  GONE,
  HIDDEN,
  ROWS,
  type Segment,
  type StoredHead,
  type WorkSlices,
  writeSegment,
} from './segment.js';

/** Terms that are merged between two looks at the clock. */
const TERMS_A_LOOK = 32;
/** Blocks of terms that are read in one step. */
const BLOCKS_A_STEP = 8;

/** What segments are made with. */
export interface BuildOptions {
  readonly words: Words;
  /** Turns that the work takes. */
  readonly slices: WorkSlices;
  readonly signal?: AbortSignal | undefined;
}

/** Takes passages apart and writes them as a segment; see {@link writeSegment}. */
export async function buildSegment(
  storage: Pick<IndexStorage, 'write'>,
  scope: IndexScope,
  passages: readonly Passage[],
  { words, slices, signal }: BuildOptions,
): Promise<SegmentEntry> {
  const heads: StoredHead[] = [];
  const bodies: Uint8Array[] = [];
  const lists = new Map<string, { readonly ordinals: number[]; readonly counts: number[] }>();
  for (const [at, passage] of passages.entries()) {
    if (slices.isOver) {
      await slices.next();
      signal?.throwIfAborted();
    }
    const [text, ...rest] = (await words.analyse(partsOf(passage))) as [TextWords, ...TextWords[]];
    count(lists, at, text.terms);
    heads.push(headOf(passage, text, rest, words.version));
    bodies.push(encodeBody(text.terms, text.places, passageVector(text.forms)));
  }
  await slices.next();
  const terms = sortKeys([...lists.keys()]).map((term): TermPostings => {
    const { ordinals, counts } = lists.get(term) as { ordinals: number[]; counts: number[] };
    return { term, ordinals, counts };
  });
  const flags = Uint8Array.from(passages, ({ available = true }) => (available ? 0 : HIDDEN));
  return writeSegment(storage, scope, { heads, flags, bodies, terms }, slices);
}

/** All texts that a passage is found by, one behind the other. */
function textOf({ title, text, keywords = [], questions = [] }: Passage): string {
  return [title, text, ...keywords, ...questions].join('\n');
}

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
  slices: LoopSlices,
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
  const terms = mergedTerms(
    segments.map((segment) => segmentTerms(storage, scope, segment)),
    places,
    slices,
  );
  const bodies = mergedBodies(storage, scope, segments);
  return writeSegment(storage, scope, { heads, flags: Uint8Array.from(flags), bodies, terms }, slices);
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
  readers: readonly AsyncGenerator<TermPostings>[],
  places: readonly (readonly number[])[],
  slices: LoopSlices,
): AsyncGenerator<TermPostings> {
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (let read = 1; ; read += 1) {
    if (read % TERMS_A_LOOK === 0 && slices.isOver) await slices.next();
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
