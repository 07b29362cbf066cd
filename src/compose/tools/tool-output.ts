/** What a tool's function gave, as the content of a message. */
import { concatMap, isObservable, map, type Observable, type OperatorFunction, of, reduce, takeWhile } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { ToolOutputPart } from '../../models/content-parts.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { Interrupt } from '../interrupt.js';
import type { ToolActivation, ToolContent, ToolReply } from './step-tool.js';

/** What a tool's function may give: one result, at once or later; a stream of pieces of it; or a question. */
export type ToolReturn<R> = R | PromiseLike<R | Interrupt> | Observable<R> | AsyncIterable<R> | Interrupt;

/** How a result, or a piece of one, becomes content: text, parts, or both. */
export type ToolOutputRule<R> = (result: R) => string | readonly ToolOutputPart[] | ToolContent;

/**
 * The replies of a call.
 *
 * ```text
 * text, object        (c|)               (one piece)
 * promise             ----(c|)
 * stream              --c--c--|          (a piece each)
 * interrupt           (i|)
 * ```
 *
 * An async iterable is asked for its next piece only while there is room for it. Errors: those of the function and of the rule; TOOL_FAILED for
 * a result that JSON cannot hold.
 */
export function repliesOf<R>(
  returned: ToolReturn<R>,
  call: Pick<ToolActivation, 'name' | 'ready'>,
  rule: ToolOutputRule<R> | undefined,
): Observable<ToolReply> {
  const read = (result: unknown): ToolReply => (result instanceof Interrupt ? result : contentOf(result, call, rule));
  if (isObservable(returned)) return returned.pipe(map(read));
  if (isAsyncIterable(returned)) return fromAbortable(() => returned, call.ready.bind(call)).pipe(map(read));
  if (isPromiseLike(returned)) {
    // A promise may bring a stream.
    return fromAbortable(() => returned).pipe(concatMap((result) => repliesOf(result as ToolReturn<R>, call, rule)));
  }
  return of(read(returned));
}

/** Texts and parts of several pieces as one content, `text` and all. */
export function joinContent(before: ToolContent, piece: ToolContent): ToolContent {
  const parts = [...partsOf(before), ...partsOf(piece)];
  const isPlain = before.parts === undefined && piece.parts === undefined;
  const isError = piece.isError ?? before.isError;
  return {
    text: before.text + piece.text,
    ...(!isPlain && { parts }),
    ...((before.extra ?? piece.extra) && { extra: { ...before.extra, ...piece.extra } }),
    ...(isError !== undefined && { isError }),
  };
}

/**
 * Makes one reply of all pieces of a call, for middlewares that look at the whole.
 *
 * ```text
 * replies    --a--b--|
 * result     --------(ab|)
 *
 * replies    --i|           (a question)
 * result     --(i|)
 * ```
 *
 * A call without a piece gives one without text.
 */
export function wholeReply(): OperatorFunction<ToolReply, ToolReply> {
  return (replies$) =>
    replies$.pipe(
      takeWhile((reply) => !(reply instanceof Interrupt), true),
      reduce((whole: ToolReply, reply): ToolReply => {
        return reply instanceof Interrupt || whole instanceof Interrupt ? reply : joinContent(whole, reply);
      }, NOTHING),
    );
}

const NOTHING: ToolContent = { text: '' };

/** The parts of a content; text without parts is one. */
export function partsOf({ text, parts }: ToolContent): readonly ToolOutputPart[] {
  return parts ?? (text === '' ? [] : [{ type: 'text', text }]);
}

/** What a rule, or a function that stands for a tool, gave. */
export function toContent(given: string | readonly ToolOutputPart[] | ToolContent): ToolContent {
  if (typeof given === 'string') return { text: given };
  if (!isParts(given)) {
    if (typeof given?.text === 'string') return given;
    throw new EngineError(
      'TOOL_FAILED',
      `The output of a tool must be text, a list of parts, or { text, parts }; received ${typeof given}.`,
    );
  }
  return { text: given.map((part) => (part.type === 'text' ? part.text : '')).join(''), parts: given };
}

function isParts(given: readonly ToolOutputPart[] | ToolContent): given is readonly ToolOutputPart[] {
  return Array.isArray(given);
}

function contentOf<R>(
  result: unknown,
  { name }: Pick<ToolActivation, 'name'>,
  rule: ToolOutputRule<R> | undefined,
): ToolContent {
  if (rule !== undefined) return toContent(rule(result as R));
  if (typeof result === 'string') return { text: result };
  return { text: result === undefined ? '' : jsonOf(name, result) };
}

function jsonOf(name: string, result: unknown): string {
  try {
    return JSON.stringify(result) ?? '';
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError(
      'TOOL_FAILED',
      `${name} gave a result that JSON cannot hold (${why}). Give the tool an "output" that makes text of it.`,
      { cause },
    );
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<never> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function isPromiseLike(value: unknown): value is PromiseLike<never> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
