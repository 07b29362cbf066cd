import { isJsonObject, type JsonObject } from '../../json.js';
import type { ChatDelta, TokenUsage } from '../chat-model.js';
import { type CallTarget, reportedError } from '../provider-error.js';
import { AnswerDecoder, countOf, MAX_CALLS, textOf, tooManyCalls } from '../stream-answer.js';

/**
 * Decodes a chat completion: server-sent events, or one JSON object from servers that do not stream.
 *
 * The first character decides which it is, as content types are often wrong. Reasoning comes as `reasoning_content` or `reasoning`;
 * usage, also in frames without choices, is passed once, at the end; an answer that ends without a `finish_reason` or
 * `[DONE]` has the reason `unknown`.
 */
export function createAnswerDecoder(target: CallTarget): AnswerDecoder {
  const calls = createToolCallPieces(target);
  let answerId = '';
  let finishReason = '';
  let usage: TokenUsage | undefined;

  const onMessage = (message: JsonObject, deltas: ChatDelta[]): void => {
    const thinking = textOf(message.reasoning_content) || textOf(message.reasoning) || thinkingParts(message.content);
    if (thinking !== '') deltas.push({ type: 'thinking', text: thinking });
    const text = textOf(message.content) || textParts(message.content) || textOf(message.refusal);
    if (text !== '') deltas.push({ type: 'text', text });
    if (Array.isArray(message.tool_calls)) calls.add(message.tool_calls);
  };

  return new AnswerDecoder(target, {
    takesJson: true,
    lastData: '[DONE]',
    read(frame, deltas) {
      if (frame.error !== undefined && frame.error !== null) throw reportedError(target, frame.error);
      if (answerId === '') answerId = textOf(frame.id);
      if (isJsonObject(frame.usage)) usage = usageOf(frame.usage);
      const choice: unknown = Array.isArray(frame.choices) ? frame.choices[0] : undefined;
      if (!isJsonObject(choice)) return false;
      const message = choice.delta ?? choice.message;
      if (isJsonObject(message)) onMessage(message, deltas);
      if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
      return false;
    },
    end: () => ({ calls: calls.finished(answerId), usage, reason: finishReason }),
  });
}

function textParts(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (isJsonObject(part) ? textOf(part.text) : '')).join('');
}

/** Mistral's reasoning: parts of the type `thinking` with parts of text inside. */
function thinkingParts(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (isJsonObject(part) ? textParts(part.thinking) : '')).join('');
}

function usageOf(usage: JsonObject): TokenUsage {
  const promptTokens = countOf(usage.prompt_tokens);
  const completionTokens = countOf(usage.completion_tokens);
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  // The second name is DeepSeek's.
  const cached = details.cached_tokens ?? usage.prompt_cache_hit_tokens;
  return {
    promptTokens,
    completionTokens,
    totalTokens: countOf(usage.total_tokens) || promptTokens + completionTokens,
    ...(typeof cached === 'number' && { cachedTokens: countOf(cached) }),
  };
}

interface Draft {
  id: string;
  name: string;
  arguments: string;
}

/**
 * Assembles streamed tool calls, keyed by `index`, the id and the name coming only once.
 *
 * Forgives what servers do: no index at all (a new id begins a new call), one index for several ids (the same), no ids
 * (`answerId` and the position make one), arguments as an object, and no arguments (an empty object).
 */
function createToolCallPieces(target: CallTarget) {
  const drafts: Draft[] = [];
  const byIndex = new Map<number, Draft>();
  let current: Draft | undefined;

  const draftOf = (index: unknown, id: string): Draft => {
    const known = typeof index === 'number' ? byIndex.get(index) : current;
    const isOther = known !== undefined && id !== '' && known.id !== '' && known.id !== id;
    if (known !== undefined && !isOther) return known;
    const draft: Draft = { id, name: '', arguments: '' };
    drafts.push(draft);
    if (typeof index === 'number') byIndex.set(index, draft);
    return draft;
  };

  return {
    /** Takes the `tool_calls` of one frame. */
    add(pieces: readonly unknown[]): void {
      for (const piece of pieces) {
        if (!isJsonObject(piece)) continue;
        const id = textOf(piece.id);
        current = draftOf(piece.index, id);
        if (current.id === '') current.id = id;
        const called = isJsonObject(piece.function) ? piece.function : {};
        if (current.name === '') current.name = textOf(called.name);
        if (typeof called.arguments === 'string') current.arguments += called.arguments;
        else if (isJsonObject(called.arguments)) current.arguments = JSON.stringify(called.arguments);
        if (drafts.length > MAX_CALLS) throw tooManyCalls(target);
      }
    },
    /** The calls, complete, in order. */
    finished: (answerId: string) =>
      drafts.map((draft, index): ChatDelta => {
        const id = draft.id || `call_${answerId}${answerId && '_'}${index}`;
        return { type: 'tool-call', index, id, name: draft.name, arguments: draft.arguments || '{}' };
      }),
  };
}
