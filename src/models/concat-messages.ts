/** Pieces of messages, joined. */
import { EngineError } from '../errors.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import type { AssistantPart, ContentPart, ToolCall, ToolOutputPart } from './content-parts.js';
import {
  base64,
  facts,
  type JoinRules,
  joinFields,
  largest,
  last,
  listOf,
  lists,
  type Piece,
  texts,
  textsOrLast,
  wrongKind,
} from './join-pieces.js';
import type { AssistantChunk, AssistantMessage, MessageChunk, PartChunk, ToolCallChunk } from './messages.js';

/** Fields of a part that are not the same in all its pieces. */
const PART_RULES: JoinRules = {
  text: texts,
  transcript: texts,
  data: base64,
  arguments: textsOrLast,
  content: last,
  signature: last,
  error: last,
  isError: last,
  citations: lists,
  tools: lists,
  extra: facts,
};

const CALL_RULES: JoinRules = { arguments: texts, extra: facts };

const MESSAGE_RULES: JoinRules = {
  content: joinContent,
  reasoning: texts,
  toolCalls: joinCalls,
  parts: joinParts,
  finishReason: last,
  usage: largest,
  logProbabilities: lists,
  isError: last,
  extra: facts,
};

/**
 * Joins the chunks of one message, field by field:
 *
 * - role, name, id and id of the call: equal, or empty
 * - content and reasoning: joined
 * - tool calls: those with one index are one call, with equal ids and names and their arguments joined; those without an index come first, in
 *   their order, the others by index
 * - parts: side by side. Pieces with one index are one part, and so are neighbours without an index that are text, reasoning or audio data.
 *   Texts and bytes are joined, the last signature stays
 * - token counts: the largest of each; reason of the end: the last; log probabilities: joined
 * - `extra`: name by name, texts joined, objects name by name, of everything else the last
 *
 * It does not matter which chunks are joined first, since indexes stay; {@link messageOf} takes them away. One chunk is given back as it is.
 * @throws EngineError `CHUNKS_INVALID` with the position of the chunk and the values that do not fit; also for no chunks.
 */
export function concatMessages<M extends MessageChunk>(chunks: readonly M[]): M {
  requireList('concatMessages', 'chunks', chunks, 'a list of chunks of messages');
  return concatAt(
    chunks.map((value, chunk) => ({ value, chunk })),
    '',
  );
}

/**
 * Joins lists of messages position by position; where a list has nothing for a position it has undefined there.
 *
 * @throws EngineError `CHUNKS_INVALID` for lists of different lengths, for no lists, and as {@link concatMessages}.
 */
export function concatMessageLists<M extends MessageChunk | undefined>(messages: readonly (readonly M[])[]): M[] {
  requireList('concatMessageLists', 'messages', messages, 'a list of lists of messages');
  const [first] = messages;
  if (first === undefined) throw noChunks();
  messages.forEach((list, chunk) => {
    if (Array.isArray(list) && list.length === first.length) return;
    throw wrongKind('', { value: list, chunk }, `a list of ${first.length} messages, as chunk 0`);
  });
  return first.map((_, at): M => {
    const pieces = messages
      .map((list, chunk): Piece<M> => ({ value: list[at] as M, chunk }))
      .filter((piece): piece is Piece<M & MessageChunk> => piece.value !== undefined);
    return pieces.length === 0 ? (undefined as M) : concatAt(pieces, `[${at}]`);
  });
}

/**
 * Joins lists of parts, such as pieces of what a tool gives: side by side, pieces of one part as {@link concatMessages} joins them.
 *
 * @throws EngineError `CHUNKS_INVALID` for pieces of one index that are not one part.
 */
export function concatParts<P extends PartChunk | ContentPart | ToolOutputPart>(parts: readonly (readonly P[])[]): P[] {
  requireList('concatParts', 'parts', parts, 'a list of lists of parts');
  return joinParts(
    parts.map((value, chunk) => ({ value, chunk })),
    'parts',
  ) as P[];
}

/** The message that a chunk is when nothing follows: with a content, and without indexes. */
export function messageOf(chunk: AssistantChunk): AssistantMessage {
  requireObject('messageOf', 'chunk', chunk, 'a chunk of a message');
  const { content = '', toolCalls, parts, ...rest } = chunk;
  return {
    ...rest,
    content,
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map(callOf) }),
    ...(parts !== undefined && { parts: parts.map(partOf) }),
  };
}

function callOf({ index, id, name = '', arguments: text, ...rest }: ToolCallChunk, at: number): ToolCall {
  // A call without an id could not be answered; one without arguments has none.
  return { ...rest, id: id || `call_${index ?? at}`, name, arguments: text || '{}' };
}

function partOf({ index: _, ...part }: PartChunk): AssistantPart {
  return part as AssistantPart;
}

function concatAt<M extends MessageChunk>(pieces: readonly Piece<M>[], place: string): M {
  const [first] = pieces;
  if (first === undefined) throw noChunks();
  for (const piece of pieces) {
    if (typeof piece.value !== 'object' || piece.value === null) throw wrongKind(place, piece, 'a message');
  }
  return pieces.length === 1 ? first.value : joinFields(pieces, MESSAGE_RULES, place);
}

/** Text, or text and parts. */
function joinContent(pieces: readonly Piece[], place: string): unknown {
  if (pieces.every(({ value }) => typeof value === 'string')) return texts(pieces, place);
  const parts = pieces
    .filter(({ value }) => value !== '')
    .map(({ value, chunk }) => {
      return { value: typeof value === 'string' ? [{ type: 'text', text: value }] : value, chunk };
    });
  return joinParts(parts, place);
}

function joinCalls(pieces: readonly Piece[], place: string): ToolCallChunk[] {
  const calls = flatten<ToolCallChunk>(pieces, place);
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) return [only.value];
  const byIndex = new Map<number, Piece<ToolCallChunk>[]>();
  for (const call of calls) {
    const { index } = call.value;
    if (index === undefined) continue;
    const known = byIndex.get(index);
    if (known === undefined) byIndex.set(index, [call]);
    else known.push(call);
  }
  const indexed = [...byIndex].sort(([a], [b]) => a - b);
  return [
    ...calls.filter(({ value }) => value.index === undefined).map(({ value }) => value),
    ...indexed.map(([index, of]) => joinGroup(of, CALL_RULES, `${place}[${index}]`)),
  ];
}

function joinParts(pieces: readonly Piece[], place: string): PartChunk[] {
  const groups: Piece<PartChunk>[][] = [];
  const byIndex = new Map<number, Piece<PartChunk>[]>();
  for (const part of flatten<PartChunk>(pieces, place)) {
    const { index } = part.value;
    const neighbour = groups.at(-1);
    const before =
      index !== undefined ? byIndex.get(index) : isOnePart(neighbour?.at(-1), part) ? neighbour : undefined;
    if (before !== undefined) {
      before.push(part);
      continue;
    }
    const group = [part];
    groups.push(group);
    if (index !== undefined) byIndex.set(index, group);
  }
  return groups.map((group, at) => joinGroup(group, PART_RULES, `${place}[${at}]`));
}

/** Whether neighbours without an index are pieces of one part; strict, so that it does not matter which of three are joined first. */
function isOnePart(before: Piece<PartChunk> | undefined, { value: next }: Piece<PartChunk>): boolean {
  const first = before?.value;
  if (first === undefined || first.index !== undefined) return false;
  if (first.type === 'text') return next.type === 'text';
  if (first.type === 'reasoning') {
    return next.type === 'reasoning' && first.id === next.id && first.isRedacted === next.isRedacted;
  }
  return (
    first.type === 'audio' &&
    next.type === 'audio' &&
    'data' in first &&
    'data' in next &&
    first.id === next.id &&
    first.mimeType === next.mimeType
  );
}

function flatten<T extends object>(pieces: readonly Piece[], place: string): Piece<T>[] {
  return pieces.flatMap((piece) =>
    listOf(piece, place).map((value): Piece<T> => {
      if (typeof value !== 'object' || value === null) throw wrongKind(place, { ...piece, value }, 'a list of objects');
      return { value: value as T, chunk: piece.chunk };
    }),
  );
}

function joinGroup<T extends object>(pieces: readonly Piece<T>[], rules: JoinRules, place: string): T {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first.value : joinFields(pieces, rules, place);
}

function noChunks(): EngineError {
  return new EngineError('CHUNKS_INVALID', 'Chunks cannot be joined: there are none. Join at least one.');
}
