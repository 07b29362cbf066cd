import { createParser } from 'eventsource-parser';
import type { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ChatDelta, TokenUsage } from '../chat-model.js';
import { type CallTarget, reportedError, unusable } from '../provider-error.js';
import type { AnswerDecoder } from '../stream-answer.js';

/** Calls in one answer; more is taken for a broken server. */
const MAX_CALLS = 128;

/**
 * Decodes a chat completion: server-sent events, or one JSON object from servers that do not stream.
 *
 * The first character decides which it is, as content types are often wrong. Reasoning comes as `reasoning_content` or `reasoning`;
 * usage, also in frames without choices, is passed once, at the end; an answer that ends without a `finish_reason` or
 * `[DONE]` has the reason `unknown`.
 */
export function createAnswerDecoder(target: CallTarget): AnswerDecoder {
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
      failure = unusable(target, 'asked for too many tool calls in one answer');
    }
  };

  const onFrame = (frame: JsonObject): void => {
    if (frame.error !== undefined && frame.error !== null) {
      failure = reportedError(target, frame.error);
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
      failure = unusable(target, `sent a frame that is not a JSON object: "${data.slice(0, 100)}"`);
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
      if (!hasFrames) failure ??= noFrames(target, head);
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

function noFrames(target: CallTarget, head: string): EngineError {
  const what = head === '' ? 'answered nothing' : `answered neither events nor JSON; it began with "${head}"`;
  return unusable(target, `${what}; check the base URL`);
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

interface Draft {
  id: string;
  name: string;
  arguments: string;
}

/** Puts tool calls together from their pieces. */
interface ToolCallPieces {
  /** Takes the `tool_calls` array of one frame; false when it holds more calls than any answer may. */
  add(pieces: readonly unknown[]): boolean;
  /** Gives the calls, complete, in order. */
  take(answerId: string): ChatDelta[];
}

/**
 * Assembles streamed tool calls, keyed by `index`, the id and the name coming only once.
 *
 * Forgives what servers do: no index at all (a new id begins a new call), one index for several ids (the same), no ids
 * (`answerId` and the position make one), arguments as an object, and no arguments (an empty object).
 */
function createToolCallPieces(): ToolCallPieces {
  let drafts: Draft[] = [];
  let byIndex = new Map<number, Draft>();
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
    add(pieces) {
      for (const piece of pieces) {
        if (!isJsonObject(piece)) continue;
        const id = typeof piece.id === 'string' ? piece.id : '';
        current = draftOf(piece.index, id);
        if (current.id === '') current.id = id;
        const called = isJsonObject(piece.function) ? piece.function : {};
        if (current.name === '' && typeof called.name === 'string') current.name = called.name;
        if (typeof called.arguments === 'string') current.arguments += called.arguments;
        else if (isJsonObject(called.arguments)) current.arguments = JSON.stringify(called.arguments);
        if (drafts.length > MAX_CALLS) return false;
      }
      return true;
    },
    take(answerId) {
      const calls = drafts.map((draft, index): ChatDelta => {
        const id = draft.id || `call_${answerId}${answerId && '_'}${index}`;
        return { type: 'tool-call', index, id, name: draft.name, arguments: draft.arguments || '{}' };
      });
      drafts = [];
      byIndex = new Map();
      current = undefined;
      return calls;
    },
  };
}
