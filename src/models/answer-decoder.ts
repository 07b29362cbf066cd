import { createParser } from 'eventsource-parser';
import type { EngineError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { ChatDelta, TokenUsage } from './chat-model.js';
import { type Asked, reportedError, unusable } from './provider-error.js';
import { createToolCallPieces } from './tool-call-pieces.js';

/** Turns the text of an answer into deltas. */
export interface AnswerDecoder {
  /** Takes a piece of the body, cut anywhere, and gives the deltas it completes. */
  feed(text: string): ChatDelta[];
  /** Takes the end of the body and gives what is left. */
  end(): ChatDelta[];
  /** Whether the answer said that it is over; nothing after that is read. */
  readonly isDone: boolean;
  /** Why the answer cannot be used; the deltas before it are good. */
  readonly failure: EngineError | undefined;
}

/**
 * Decodes a chat completion: server-sent events, or one JSON object from servers that do not stream.
 *
 * Which one is seen from the first character, for content types lie. Reasoning comes as `reasoning_content` or `reasoning`;
 * usage, also in frames without choices, is passed once, at the end; an answer that just stops, without a `finish_reason` or
 * `[DONE]`, ends with the reason `unknown`.
 */
export function createAnswerDecoder(asked: Asked): AnswerDecoder {
  const calls = createToolCallPieces();
  let deltas: ChatDelta[] = [];
  let failure: EngineError | undefined;
  let isDone = false;
  let hasFrames = false;
  let json: string[] | undefined;
  let head = '';
  let answerId = '';
  let finishReason = '';
  let usage: TokenUsage | undefined;

  const take = (): ChatDelta[] => {
    const taken = deltas;
    deltas = [];
    return taken;
  };

  const finish = (): void => {
    if (isDone || failure) return;
    isDone = true;
    const toolCalls = calls.take(answerId);
    deltas.push(...toolCalls);
    if (usage) deltas.push({ type: 'usage', ...usage });
    deltas.push({ type: 'finish', reason: finishReason || 'unknown' });
  };

  const onMessage = (message: JsonObject): void => {
    const thinking = textOf(message.reasoning_content) || textOf(message.reasoning) || thinkingParts(message.content);
    if (thinking !== '') deltas.push({ type: 'thinking', text: thinking });
    const text = textOf(message.content) || textParts(message.content) || textOf(message.refusal);
    if (text !== '') deltas.push({ type: 'text', text });
    if (Array.isArray(message.tool_calls) && !calls.add(message.tool_calls)) {
      failure = unusable(asked, 'asked for too many tool calls in one answer');
    }
  };

  const onFrame = (frame: JsonObject): void => {
    if (frame.error !== undefined && frame.error !== null) {
      failure = reportedError(asked, frame.error);
      return;
    }
    if (answerId === '') answerId = textOf(frame.id);
    if (isJsonObject(frame.usage)) usage = usageOf(frame.usage);
    const choice: unknown = Array.isArray(frame.choices) ? frame.choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    const message = choice.delta ?? choice.message;
    if (isJsonObject(message)) onMessage(message);
    if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
  };

  const onData = (data: string): void => {
    if (isDone || failure) return;
    if (data === '[DONE]') {
      hasFrames = true;
      finish();
      return;
    }
    const frame = parse(data);
    if (!isJsonObject(frame)) {
      failure = unusable(asked, `sent a frame that is not a JSON object: "${data.slice(0, 100)}"`);
      return;
    }
    hasFrames = true;
    onFrame(frame);
  };

  const parser = createParser({ onEvent: (event) => onData(event.data) });

  return {
    feed(text) {
      if (json === undefined && head.length < 100) {
        head = (head + text).trimStart().slice(0, 100);
        if (!hasFrames && head.startsWith('{')) json = [];
      }
      if (json === undefined) parser.feed(text);
      else json.push(text);
      return take();
    },
    end() {
      if (json) onData(json.join(''));
      // Some servers leave out the last blank line.
      else if (!isDone && !failure) parser.feed('\n\n');
      if (!hasFrames) failure ??= noFrames(asked, head);
      finish();
      return take();
    },
    get isDone() {
      return isDone;
    },
    get failure() {
      return failure;
    },
  };
}

function noFrames(asked: Asked, head: string): EngineError {
  const what = head === '' ? 'answered nothing' : `answered neither events nor JSON; it began with "${head}"`;
  return unusable(asked, `${what}; check the base URL`);
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Text of a content that is a list of parts, as Mistral and some gateways send it. */
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
  const promptTokens = count(usage.prompt_tokens);
  const completionTokens = count(usage.completion_tokens);
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  // The second name is DeepSeek's.
  const cached = details.cached_tokens ?? usage.prompt_cache_hit_tokens;
  return {
    promptTokens,
    completionTokens,
    totalTokens: count(usage.total_tokens) || promptTokens + completionTokens,
    ...(typeof cached === 'number' && { cachedTokens: count(cached) }),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
