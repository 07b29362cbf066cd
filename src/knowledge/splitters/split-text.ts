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
  /** Undefined: UTF-16 units. */
  readonly lengthOf: ((text: string) => number) | undefined;
  readonly maxChunks: number;
}

/** Pieces that are not cut further, in columns: a text of short words has one for every second character. */
interface Pieces {
  readonly starts: number[];
  readonly ends: number[];
  /** Whether pieces before it do not share a chunk with it, but for the overlap. */
  readonly firsts: boolean[];
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
  const { starts, ends } = pieces;
  const chunks: TextRange[] = [];
  let start = starts[0] ?? 0;
  for (let next = 0; next < starts.length; ) {
    const last = lastFitting(text, pieces, start, next, cut);
    const end = ends[last] as number;
    const chunk = trimmed(text, start, end) ?? { start, end };
    chunks.push(chunk);
    if (chunks.length > cut.maxChunks) throw tooMany(cut.maxChunks);
    next = last + 1;
    if (next < starts.length) start = overlapStart(text, chunk, starts[next] as number, ends[next] as number, cut);
  }
  return chunks;
}

/** The pieces of a text that hold something. */
function piecesOf(text: string, cut: TextCut): Pieces {
  const pieces: Pieces = { starts: [], ends: [], firsts: [] };
  let isBorder = true;
  const add: AddPiece = (start, end, isFirst) => {
    isBorder ||= isFirst;
    if (startOfText(text, start, end) === end) return;
    pieces.starts.push(start);
    pieces.ends.push(end);
    pieces.firsts.push(isBorder);
    isBorder = false;
  };
  collectPieces(text, { start: 0, end: text.length }, cut, 0, true, add);
  return pieces;
}

type AddPiece = (start: number, end: number, isFirst: boolean) => void;

/** Cuts a range into pieces that fit, at the separators from number `from` on. */
function collectPieces(
  text: string,
  { start, end }: TextRange,
  cut: TextCut,
  from: number,
  isFirst: boolean,
  add: AddPiece,
): void {
  const { separators, place } = cut;
  const own = text.slice(start, end);
  const isShort = fits(text, start, end, cut);
  const at = isShort ? -1 : separators.findIndex((separator, index) => index >= from && own.includes(separator));
  const separator = separators[at];
  if (separator === undefined) {
    add(start, end, isFirst);
    return;
  }
  if (separator === '') {
    cutAnywhere(text, { start, end }, cut, isFirst, add);
    return;
  }
  let isBorder = isFirst;
  forEachPart(own, separator, place, (first, last) => {
    const isLong = !fits(text, start + first, start + last, cut);
    if (isLong) collectPieces(text, { start: start + first, end: start + last }, cut, at + 1, true, add);
    else add(start + first, start + last, isBorder);
    isBorder = isLong;
  });
}

/** Cuts a range between any two characters. */
function cutAnywhere(text: string, range: TextRange, cut: TextCut, isFirst: boolean, add: AddPiece): void {
  const { size, overlap } = cut;
  // Small enough that some of them can be the overlap.
  const step = overlap === 0 ? size : Math.max(1, Math.min(overlap, size - overlap));
  for (let start = range.start; start < range.end; ) {
    const from = start;
    const end = longestFitting(text, from, range.end, (to) => lengthIn(text, from, to, cut) <= step);
    add(start, end, isFirst && start === range.start);
    start = end;
  }
}

/** The parts between separators, which go to the place that is wanted. */
function forEachPart(
  text: string,
  separator: string,
  place: SeparatorPlace,
  visit: (start: number, end: number) => void,
): void {
  let from = 0;
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + separator.length)) {
    const after = at + separator.length;
    const to = place === 'end' ? after : at;
    if (to > from) visit(from, to);
    from = place === 'start' ? at : after;
  }
  if (text.length > from) visit(from, text.length);
}

/** The last piece that a chunk from `start` on may have; it has piece number `next` at least. */
function lastFitting(text: string, { ends, firsts }: Pieces, start: number, next: number, cut: TextCut): number {
  const last = greatest(next, ends.length, 1, (index) => fits(text, start, ends[index] as number, cut));
  for (let index = next + 1; index <= last; index += 1) if (firsts[index] === true) return index - 1;
  return last;
}

/** Where the chunk with the piece from `start` to `end` begins: within the chunk before, or with the piece. */
function overlapStart(text: string, before: TextRange, start: number, end: number, cut: TextCut): number {
  const { overlap, separators } = cut;
  if (overlap === 0) return start;
  const isFine = (length: number): boolean => {
    const from = before.end - length;
    return lengthIn(text, from, before.end, cut) <= overlap && fits(text, from, end, cut);
  };
  // Not all of the chunk again, which would then be a part of the next one.
  const length = greatest(0, before.end - before.start, 64, isFine);
  const first = before.end - length;
  for (const separator of separators) {
    if (separator === '') return length === 0 ? start : startOfCharacter(text, first);
    const found = text.slice(Math.max(before.start, first - separator.length), before.end).indexOf(separator);
    const from = found === -1 ? -1 : Math.max(before.start, first - separator.length) + found + separator.length;
    if (from >= first && from < before.end && startOfText(text, from, before.end) < before.end) return from;
  }
  return start;
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
function fits(text: string, start: number, end: number, cut: TextCut): boolean {
  const from = startOfText(text, start, end);
  return from === end || lengthIn(text, from, endOfText(text, from, end), cut) <= cut.size;
}

function lengthIn(text: string, start: number, end: number, { lengthOf }: TextCut): number {
  return lengthOf === undefined ? end - start : lengthOf(text.slice(start, end));
}

/** The end of the longest part from `start` on that is fine; at least one character, and never half of one. */
function longestFitting(text: string, start: number, limit: number, isFine: (end: number) => boolean): number {
  const first = Math.min(limit, nextCharacter(text, start));
  const end = greatest(first, limit + 1, 64, isFine);
  const isHalf = end < limit && end > first && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end - 1 : end;
}

function nextCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** A range without white space at its ends; undefined when nothing is left. */
export function trimmed(text: string, start: number, end: number): TextRange | undefined {
  const from = startOfText(text, start, end);
  return from === end ? undefined : { start: from, end: endOfText(text, from, end) };
}

/** The first character of a range that is no white space, or its end. */
function startOfText(text: string, start: number, end: number): number {
  let from = start;
  while (from < end && isBlank(text.charCodeAt(from))) from += 1;
  return from;
}

/** The end of a range without the white space there; something is in it. */
function endOfText(text: string, start: number, end: number): number {
  let to = end;
  while (to > start && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return to;
}

const BLANK = /\s/;

/** White space as `\s` has it; the expression is asked for rare characters only, as it is dear. */
function isBlank(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return (code === 0xa0 || code >= 0x1680) && BLANK.test(String.fromCharCode(code));
}

function tooMany(maxChunks: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `A document would be split into more than ${maxChunks} chunks. Choose larger chunks or a smaller overlap, or raise maxChunks.`,
  );
}
