import { defer, type OperatorFunction, reduce } from 'rxjs';
import type { ChatDelta, TokenUsage, ToolCall } from './chat-model.js';

/** A whole answer of a chat model. */
export interface ChatAnswer {
  readonly text: string;
  /** What the model thought before it answered; not part of `text`. */
  readonly thinking: string;
  readonly toolCalls: readonly ToolCall[];
  /** Undefined when the provider did not say. */
  readonly usage: TokenUsage | undefined;
  readonly finishReason: string;
}

/**
 * Gathers the deltas of one call into one answer.
 *
 * ```text
 * source    --t--t--c--u--f|        (text, text, tool call, usage, finish)
 * result    ---------------(a|)
 * ```
 *
 * A source that completes without any delta gives an empty answer. Holds no more than the adapter lets through.
 */
export function collectAnswer(): OperatorFunction<ChatDelta, ChatAnswer> {
  return (source) => defer(() => source.pipe(reduce(add, emptyAnswer())));
}

type Draft = { -readonly [K in keyof ChatAnswer]: ChatAnswer[K] } & { toolCalls: ToolCall[] };

function emptyAnswer(): Draft {
  return { text: '', thinking: '', toolCalls: [], usage: undefined, finishReason: 'unknown' };
}

function add(draft: Draft, delta: ChatDelta): Draft {
  switch (delta.type) {
    case 'text':
      draft.text += delta.text;
      break;
    case 'thinking':
      draft.thinking += delta.text;
      break;
    case 'tool-call':
      draft.toolCalls.push({ id: delta.id, name: delta.name, arguments: delta.arguments });
      break;
    case 'usage': {
      const { type: _, ...usage } = delta;
      draft.usage = usage;
      break;
    }
    case 'finish':
      draft.finishReason = delta.reason;
      break;
  }
  return draft;
}
