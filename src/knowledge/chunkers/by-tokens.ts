import { groupBy } from '../../group-by.js';
import { invalidOption, requireObject, requireWhole } from '../../operators/invalid-option.js';
import {
  atMost,
  type ChunkDraft,
  type Chunker,
  type ChunkerOptions,
  type DraftFields,
  draftOf,
  type ParsedDocument,
  type Range,
} from './chunker.js';

/** How documents are cut by tokens. */
export interface ByTokensOptions extends ChunkerOptions {
  /** Most tokens of a chunk, at least 1. @default 512 */
  readonly size?: number;
  /** Most tokens of a chunk that the next one begins with: whole pieces, fewer than `size`. @default 0 */
  readonly overlap?: number;
  /** What ends a piece, which is never cut while it fits. @default those of {@link DELIMITERS} */
  readonly delimiters?: readonly string[];
  /** Every piece is a chunk of its own, however small. @default false: pieces are joined as long as they fit */
  readonly isOneEach?: boolean;
}

/** RAGFlow's delimiters: ends of lines and sentences, English and Chinese. */
export const DELIMITERS: readonly string[] = ['\n', '!', '?', '。', '；', '！', '？'];

/** Ends of sentences and lines: a dot ends one only before a space, so that `3.14` and `a.b` stay whole. */
export const SENTENCES: readonly string[] = ['\n', '. ', '! ', '? ', '。', '；', '！', '？', '…'];

/** A range with its tokens. */
interface Piece extends Range {
  readonly tokens: number;
}

/**
 * Cuts a document into chunks of at most `size` tokens. It is cut behind delimiters, and neighbouring pieces are joined as long as they fit; a
 * piece that is too long is cut between words, a word that is too long between characters.
 *
 * Source of the rule and of the defaults: RAGFlow's `naive_merge`, which may exceed the size by a piece.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks.
 */
export function byTokens(options: ByTokensOptions): Chunker {
  requireObject('byTokens', 'options', options, 'an object with "countTokens"');
  const { maxChunks } = options;
  const cut = tokenCut(options);
  return (document) => atMost(cut(document, { start: 0, end: document.text.length }, {}), maxChunks);
}

/** Cuts a range of a document by tokens; every draft gets the fields. For chunkers whose own parts may be too long. */
export function tokenCut(
  options: ByTokensOptions,
): (document: ParsedDocument, range: Range, fields: Omit<DraftFields, 'tokens'>) => Generator<ChunkDraft> {
  requireObject('byTokens', 'options', options, 'an object with "countTokens"');
  const { countTokens, size = 512, overlap = 0, delimiters = DELIMITERS, isOneEach = false } = options;
  requireWhole('byTokens', 'size', size, 1);
  requireWhole('byTokens', 'overlap', overlap, 0);
  if (overlap >= size) throw invalidOption('byTokens', 'overlap', `less than size (${size})`, overlap);
  const longestFirst = delimiters.filter((mark) => mark !== '').toSorted((left, right) => right.length - left.length);
  const marks = groupBy(longestFirst, (mark) => mark.charCodeAt(0));
  return function* (document, range, fields) {
    let held: Piece[] = [];
    let tokens = 0;
    /** Pieces at the head of `held` that the chunk before has, too. */
    let repeated = 0;
    const drafted = (): ChunkDraft | undefined => {
      const first = held[0];
      const last = held.at(-1);
      return first === undefined || last === undefined || held.length === repeated
        ? undefined
        : draftOf(document, { start: first.start, end: last.end }, { ...fields, tokens });
    };
    for (const piece of piecesOf(document.text, range, { countTokens, size, marks })) {
      if (held.length > repeated && (isOneEach || tokens + piece.tokens > size)) {
        const draft = drafted();
        if (draft !== undefined) yield draft;
        held = tailOf(held, Math.min(overlap, size - piece.tokens));
        repeated = held.length;
        tokens = sumOf(held);
      }
      held.push(piece);
      tokens += piece.tokens;
    }
    const draft = drafted();
    if (draft !== undefined) yield draft;
  };
}

interface PieceCut {
  readonly countTokens: (text: string) => number;
  readonly size: number;
  /** Delimiters by their first unit, the longest first. */
  readonly marks: ReadonlyMap<number, readonly string[]>;
}

/** The pieces of a range, each of which fits; together they are the range. */
function* piecesOf(text: string, { start, end }: Range, cut: PieceCut): Generator<Piece> {
  const { countTokens, size, marks } = cut;
  for (let at = start; at < end; ) {
    const next = behindMark(text, at, end, marks);
    const tokens = countTokens(text.slice(at, next));
    if (tokens <= size) yield { start: at, end: next, tokens };
    else yield* wordsOf(text, { start: at, end: next }, cut);
    at = next;
  }
}

/** The first position behind a delimiter, or the end. */
function behindMark(text: string, start: number, end: number, marks: PieceCut['marks']): number {
  for (let at = start; at < end; at += 1) {
    const mark = marks.get(text.charCodeAt(at))?.find((one) => text.startsWith(one, at) && at + one.length <= end);
    if (mark !== undefined) return at + mark.length;
  }
  return end;
}

/** Words with the space behind them; of Chinese, Japanese and Korean every character. */
const WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]\s*|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]+\s*|\s+/gu;

/** UTF-16 units of a word that are looked at together. */
const MAX_WORD = 64;

/** The words of a range that is too long; a word that is too long itself is cut between characters, each of which stays whole. */
function* wordsOf(text: string, { start, end }: Range, { countTokens, size }: PieceCut): Generator<Piece> {
  const own = text.slice(start, end);
  for (const { 0: word, index } of own.matchAll(WORD)) {
    for (let at = 0; at < word.length; ) {
      let length = lengthWithin(word, at, MAX_WORD);
      let tokens = countTokens(word.slice(at, at + length));
      while (tokens > size && length > 1) {
        const shorter = lengthWithin(word, at, length >> 1);
        if (shorter === length) break;
        length = shorter;
        tokens = countTokens(word.slice(at, at + length));
      }
      yield { start: start + index + at, end: start + index + at + length, tokens: Math.min(tokens, size) };
      at += length;
    }
  }
}

/** Units from `at` on, `wanted` at most, that end between two characters; at least one character. */
function lengthWithin(word: string, at: number, wanted: number): number {
  const end = Math.min(word.length, at + Math.max(1, wanted));
  const isHalf = end < word.length && (word.codePointAt(end - 1) ?? 0) > 0xffff;
  if (!isHalf) return end - at;
  return end - at === 1 ? 2 : end - at - 1;
}

/** The last pieces that have at most so many tokens together, and not all of them. */
function tailOf(pieces: readonly Piece[], most: number): Piece[] {
  let tokens = 0;
  let from = pieces.length;
  while (from > 1) {
    tokens += pieces[from - 1]?.tokens ?? 0;
    if (tokens > most) break;
    from -= 1;
  }
  return pieces.slice(from);
}

function sumOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}
