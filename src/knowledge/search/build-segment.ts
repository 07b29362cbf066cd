/** Passages as a segment. */
import type { IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import type { TextWords, Words } from '../words/words.js';
import { encodeBody } from './body.js';
import { exampleIn } from './example-part.js';
import { sortKeys } from './memory-index-storage.js';
import { passageVector } from './ngrams.js';
import type { Passage } from './passage.js';
import { type TermPostings, termBlocks } from './postings.js';
import { HIDDEN, type StoredHead, type WorkSlices, writeSegment } from './segment.js';

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
  const { id } = await writeSegment(storage, scope, { heads, flags, bodies, blocks: termBlocks(terms) }, slices);
  return { id, flags };
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
