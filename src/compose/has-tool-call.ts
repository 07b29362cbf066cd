import { invalidOption, requireOptions } from '../operators/invalid-option.js';
import type { PrefixChooser } from './branch.js';

/** What {@link hasToolCall} reads of a message or a chunk of one. */
export interface CallingChunk {
  readonly toolCalls?: readonly unknown[] | undefined;
  readonly parts?: readonly { readonly type: string }[] | undefined;
  /** Text of the answer; read by `decideAt: 'text'` alone. */
  readonly content?: unknown;
}

/** How a tool call is looked for. */
export interface ToolCallOptions<T extends string = 'tools', E extends string = 'end'> {
  /** Label of the route for messages with a tool call. @default 'tools' */
  readonly tools?: T;
  /** Label of the route for messages without one. @default 'end' */
  readonly end?: E;
  /**
   * `end`: a message without a tool call is one that ended without it. `text`: the first text decides, for models that never speak before
   * they call; such an answer goes on while it is being written. @default 'end'
   */
  readonly decideAt?: 'end' | 'text';
}

/** The kind of part that asks for a tool of this process; tools of the provider run there. */
const TOOL_CALL = 'tool-call';

/**
 * Chooses by the chunks of a model's message: `tools` as soon as there is a tool call, `end` when the message ended without one.
 *
 * ```text
 * chunks    text--text--call--|        chunks    text--text--|
 * chosen    ------------tools          chosen    ------------end
 * ```
 *
 * Text alone decides nothing, since many models say what they are about to do and then call a tool. The text is live all the same: it is in
 * the events of the model's node as it comes, and only the route waits. With `decideAt: 'text'` the route does not wait either, at the
 * price that a call behind the text is not carried out.
 *
 * @throws EngineError OPTION_INVALID for another `decideAt`.
 */
export function hasToolCall<T extends string = 'tools', E extends string = 'end'>(
  options: ToolCallOptions<T, E> = {},
): PrefixChooser<CallingChunk, T | E> {
  requireOptions('hasToolCall', options, ['tools', 'end', 'decideAt']);
  const { tools = 'tools' as T, end = 'end' as E, decideAt = 'end' } = options;
  if (decideAt !== 'end' && decideAt !== 'text') {
    throw invalidOption('hasToolCall', 'decideAt', '"end" or "text"', decideAt);
  }
  return (chunks, isLast) => {
    // Earlier chunks were asked about before; the first and the last one are all that can be new.
    const newest = chunks.at(-1);
    if (isLast ? chunks.some(isCall) : newest !== undefined && isCall(newest)) return tools;
    const isDecided = isLast || (decideAt === 'text' && newest !== undefined && isText(newest));
    return isDecided ? end : undefined;
  };
}

function isCall({ toolCalls, parts }: CallingChunk): boolean {
  return (toolCalls?.length ?? 0) > 0 || (parts?.some(({ type }) => type === TOOL_CALL) ?? false);
}

function isText({ content, parts }: CallingChunk): boolean {
  return (typeof content === 'string' && content !== '') || (parts?.some(({ type }) => type === 'text') ?? false);
}
