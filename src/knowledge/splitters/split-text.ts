/** Cutting a text into pieces that fit, at the best of some separators. */
import { EngineError } from '../../errors.js';

/** A part of a text, in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Where a separator goes when a text is cut at it. */
export type SeparatorPlace = 'end' | 'start' | 'none';

/** How a text is cut. */
export interface TextCut {
  /** Longest chunk, as `lengthOf` measures it. */
  readonly size: number;
  /** Most of a chunk that the next one begins with, less than `size`. */
  readonly overlap: number;
  /** Tried in this order; the empty one cuts between any two characters. */
  readonly separators: readonly string[];
  readonly place: SeparatorPlace;
  readonly lengthOf: (text: string) => number;
  readonly maxChunks: number;
}

/** A piece that is not cut further. */
interface Piece extends TextRange {
  /** Pieces before it do not share a chunk with it, but for the overlap. */
  readonly isFirst: boolean;
}

/**
 * The chunks of a text, in order: each is a part of the text as it is, without white space at its ends, and none is empty.
 *
 * A part that is too long is cut at the first separator that occurs in it; pieces that are still too long are cut at the next one.
 * Neighbouring pieces of the same cut are joined as long as they fit. A chunk begins with the end of the one before: as much of it as `overlap`
 * allows, from a separator on, the first ones of the list preferred. A piece in which no separator is left stays whole, however long it is.
 * `lengthOf` must not shrink when a text grows.
 *
 * Source of the rule: the recursive character splitter that LangChain introduced; there pieces overlap only as wholes.
 *
 * @throws EngineError LIMIT_REACHED for more than `maxChunks` chunks.
 */
export function cutIntoChunks(text: string, cut: TextCut): TextRange[] {
  const pieces = piecesOf(text, cut);
  const chunks: TextRange[] = [];
  let start = pieces[0]?.start ?? 0;
  for (let next = 0; next < pieces.length; ) {
    const last = lastFitting(text, pieces, start, next, cut);
    const { end } = pieces[last] as Piece;
    const chunk = trimmed(text, start, end) ?? { start, end };
    chunks.push(chunk);
    if (chunks.length > cut.maxChunks) throw tooMany(cut.maxChunks);
    next = last + 1;
    const following = pieces[next];
    if (following !== undefined) start = overlapStart(text, chunk, following, cut);
  }
  return chunks;
}

/** The pieces of a text that hold something. */
function piecesOf(text: string, cut: TextCut): Piece[] {
  const pieces: Piece[] = [];
  let isBorder = true;
  const add = (range: TextRange, isFirst: boolean): void => {
    isBorder ||= isFirst;
    if (trimmed(text, range.start, range.end) === undefined) return;
    pieces.push({ ...range, isFirst: isBorder });
    isBorder = false;
  };
  collectPieces(text, { start: 0, end: text.length }, cut, 0, true, add);
  return pieces;
}

/** Cuts a range into pieces that fit, at the separators from number `from` on. */
function collectPieces(
  text: string,
  range: TextRange,
  cut: TextCut,
  from: number,
  isFirst: boolean,
  add: (range: TextRange, isFirst: boolean) => void,
): void {
  const { separators, lengthOf, size, overlap } = cut;
  const own = text.slice(range.start, range.end);
  const isShort = fits(text, range.start, range.end, cut);
  const at = isShort ? -1 : separators.findIndex((separator, index) => index >= from && own.includes(separator));
  const separator = separators[at];
  if (separator === undefined) {
    add(range, isFirst);
    return;
  }
  if (separator === '') {
    // Small enough that some of them can be the overlap.
    const step = overlap === 0 ? size : Math.max(1, Math.min(overlap, size - overlap));
    for (let start = range.start; start < range.end; ) {
      const end = longestFitting(text, start, range.end, (part) => lengthOf(part) <= step);
      add({ start, end }, isFirst && start === range.start);
      start = end;
    }
    return;
  }
  let isBorder = isFirst;
  for (const part of partsOf(text, range, separator, cut.place)) {
    const isLong = !fits(text, part.start, part.end, cut);
    if (isLong) collectPieces(text, part, cut, at + 1, true, add);
    else add(part, isBorder);
    isBorder = isLong;
  }
}

/** The parts between separators, which go to the place that is wanted. */
function partsOf(text: string, { start, end }: TextRange, separator: string, place: SeparatorPlace): TextRange[] {
  // Looked for in the range alone: behind it there may be a long text without any.
  const own = text.slice(start, end);
  const parts: TextRange[] = [];
  let from = 0;
  const add = (to: number): void => {
    if (to > from) parts.push({ start: start + from, end: start + to });
  };
  for (let at = own.indexOf(separator); at !== -1; at = own.indexOf(separator, at + separator.length)) {
    const after = at + separator.length;
    add(place === 'end' ? after : at);
    from = place === 'start' ? at : after;
  }
  add(own.length);
  return parts;
}

/** The last piece that a chunk from `start` on may have; it has piece number `next` at least. */
function lastFitting(text: string, pieces: readonly Piece[], start: number, next: number, cut: TextCut): number {
  const last = greatest(next, pieces.length, 1, (index) => fits(text, start, (pieces[index] as Piece).end, cut));
  for (let index = next + 1; index <= last; index += 1) if (pieces[index]?.isFirst) return index - 1;
  return last;
}

/** Where the chunk with the piece `next` begins: within the chunk before, or with the piece. */
function overlapStart(text: string, before: TextRange, next: Piece, cut: TextCut): number {
  const { overlap, separators, lengthOf } = cut;
  if (overlap === 0) return next.start;
  const isFine = (length: number): boolean => {
    const start = before.end - length;
    return lengthOf(text.slice(start, before.end)) <= overlap && fits(text, start, next.end, cut);
  };
  // Not all of the chunk again, which would then be a part of the next one.
  const length = greatest(0, before.end - before.start, 64, isFine);
  const first = before.end - length;
  for (const separator of separators) {
    if (separator === '') return length === 0 ? next.start : startOfCharacter(text, first);
    const found = text.slice(Math.max(before.start, first - separator.length), before.end).indexOf(separator);
    const start = found === -1 ? -1 : Math.max(before.start, first - separator.length) + found + separator.length;
    if (start >= first && start < before.end && trimmed(text, start, before.end) !== undefined) return start;
  }
  return next.start;
}

function startOfCharacter(text: string, at: number): number {
  const isSecondHalf = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isSecondHalf ? at + 1 : at;
}

/** The greatest number from `good` to below `bad` that is fine, found in growing steps and then by halves: asking may be dear. */
function greatest(good: number, bad: number, firstStep: number, isFine: (value: number) => boolean): number {
  let least = good;
  let most = bad;
  for (let step = firstStep; least + step < most; step *= 2) {
    if (!isFine(least + step)) {
      most = least + step;
      break;
    }
    least += step;
  }
  while (most - least > 1) {
    const middle = (least + most) >> 1;
    if (isFine(middle)) least = middle;
    else most = middle;
  }
  return least;
}

/** Whether a range fits without the white space at its ends, which no chunk has. */
function fits(text: string, start: number, end: number, { lengthOf, size }: TextCut): boolean {
  const range = trimmed(text, start, end);
  return range === undefined || lengthOf(text.slice(range.start, range.end)) <= size;
}

/** The end of the longest part from `start` on that is fine; at least one character, and never half of one. */
function longestFitting(text: string, start: number, limit: number, isFine: (part: string) => boolean): number {
  const first = Math.min(limit, nextCharacter(text, start));
  const end = greatest(first, limit + 1, 64, (value) => isFine(text.slice(start, value)));
  const isHalf = end < limit && end > first && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end - 1 : end;
}

function nextCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

const BLANK = /\s/;

/** A range without white space at its ends; undefined when nothing is left. */
export function trimmed(text: string, start: number, end: number): TextRange | undefined {
  let from = start;
  let to = end;
  while (from < to && BLANK.test(text.charAt(from))) from += 1;
  while (to > from && BLANK.test(text.charAt(to - 1))) to -= 1;
  return to > from ? { start: from, end: to } : undefined;
}

function tooMany(maxChunks: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `A document would be split into more than ${maxChunks} chunks. Choose larger chunks or a smaller overlap, or raise maxChunks.`,
  );
}
