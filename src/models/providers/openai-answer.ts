import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatDelta } from '../chat-model.js';
import type { AssistantPart } from '../content-parts.js';
import { textOf, usageOf } from '../frame-values.js';
import type { TokenUsage } from '../messages.js';
import { type CallTarget, reportedError } from '../provider-error.js';
import { AnswerDecoder } from '../stream-answer.js';
import { createToolCallPieces } from './openai-tool-calls.js';
import { probabilitiesOf } from './token-probabilities.js';

/** A detail of reasoning, by the names of its fields. */
type Detail = Map<string, Json>;

/** Details of reasoning in one answer; more are left out. */
const MAX_DETAILS = 128;

/**
 * Decodes a chat completion: server-sent events, or one JSON object from servers that do not stream.
 *
 * The first character decides which it is, as content types are often wrong. Reasoning comes as `reasoning_content` or `reasoning`, and its
 * signatures in OpenRouter's `reasoning_details`; usage, also in frames without choices, is passed once, at the end; an answer that ends without a
 * `finish_reason` or `[DONE]` has the reason `unknown`. Sound has the type `soundType`, as the API does not say it.
 */
export function createAnswerDecoder(target: CallTarget, soundType = 'audio/pcm'): AnswerDecoder {
  const calls = createToolCallPieces(target);
  const parts = new MessageParts(soundType);
  let answerId = '';
  let finishReason = '';
  let usage: TokenUsage | undefined;

  const onMessage = (message: JsonObject, deltas: ChatDelta[]): void => {
    const thinking = textOf(message.reasoning_content) || textOf(message.reasoning) || thinkingParts(message.content);
    if (thinking !== '') deltas.push({ type: 'thinking', text: thinking });
    if (typeof message.reasoning_content === 'string') parts.hasReasoningContent = true;
    parts.addDetails(message.reasoning_details);
    const text = textOf(message.content) || textParts(message.content) || textOf(message.refusal);
    const called = Array.isArray(message.tool_calls) ? message.tool_calls : [];
    if (text !== '' || called.length > 0) parts.endDetails(deltas);
    if (called.length > 0) parts.endReasoningContent(deltas);
    if (text !== '') deltas.push({ type: 'text', text });
    parts.read(message, deltas);
    calls.add(called);
  };

  return new AnswerDecoder(target, {
    takesJson: true,
    lastData: '[DONE]',
    read(frame, deltas) {
      if (frame.error !== undefined && frame.error !== null) throw reportedError(target, frame.error);
      if (answerId === '') answerId = textOf(frame.id);
      if (isJsonObject(frame.usage)) usage = spent(frame.usage);
      const choice: unknown = Array.isArray(frame.choices) ? frame.choices[0] : undefined;
      if (!isJsonObject(choice)) return false;
      const message = choice.delta ?? choice.message;
      if (isJsonObject(message)) onMessage(message, deltas);
      const tokens = isJsonObject(choice.logprobs) ? probabilitiesOf(choice.logprobs.content) : [];
      if (tokens.length > 0) deltas.push({ type: 'log-probabilities', tokens });
      if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
      return false;
    },
    end: () => {
      const last: ChatDelta[] = [];
      parts.endDetails(last);
      return { calls: [...last, ...calls.finished(answerId)], usage, reason: finishReason, id: answerId };
    },
  });
}

/** What a message has beside text and calls: sound, images, citations, signatures. */
class MessageParts {
  /** Whether thoughts come as `reasoning_content`. */
  hasReasoningContent = false;
  readonly #soundType: string;
  #details: Detail[] = [];
  #signature = '';
  #isReturned = false;

  constructor(soundType: string) {
    this.#soundType = soundType;
  }

  read(message: JsonObject, deltas: ChatDelta[]): void {
    const { audio, images, annotations } = message;
    if (isJsonObject(audio)) this.#push(deltas, soundOf(audio, this.#soundType));
    if (Array.isArray(images)) for (const image of images) this.#push(deltas, imageOf(image));
    if (Array.isArray(annotations) && annotations.length > 0) {
      this.#push(deltas, { type: 'text', text: '', citations: annotations });
    }
  }

  /** Keeps what later requests must send back as it came. */
  addDetails(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (!isJsonObject(piece)) continue;
      const last = this.#details.at(-1);
      if (isSameDetail(last, piece)) addToDetail(last, piece);
      else if (this.#details.length < MAX_DETAILS) this.#details.push(new Map(Object.entries(piece)));
      this.#signature = textOf(piece.signature) || textOf(piece.data) || this.#signature;
    }
  }

  /** The details as a part, once: they end with the thoughts. */
  endDetails(deltas: ChatDelta[]): void {
    if (this.#details.length === 0) return;
    const extra = { reasoning_details: this.#details.map((detail) => Object.fromEntries(detail)) };
    this.#push(deltas, { type: 'reasoning', text: '', ...(this.#signature && { signature: this.#signature }), extra });
    this.#details = [];
    this.#signature = '';
  }

  /** A word that the thoughts must go back, once: DeepSeek refuses tool calls without them. */
  endReasoningContent(deltas: ChatDelta[]): void {
    if (!this.hasReasoningContent || this.#isReturned) return;
    this.#isReturned = true;
    this.#push(deltas, { type: 'reasoning', text: '', extra: { field: 'reasoning_content' } });
  }

  #push(deltas: ChatDelta[], part: AssistantPart | undefined): void {
    if (part !== undefined) deltas.push({ type: 'part', part });
  }
}

/** Whether a piece belongs to the detail before it. */
function isSameDetail(last: Detail | undefined, piece: JsonObject): last is Detail {
  return last !== undefined && last.get('type') === piece.type && last.get('index') === piece.index;
}

function addToDetail(detail: Detail, piece: JsonObject): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = detail.get(name);
    const isText = (name === 'text' || name === 'summary' || name === 'data') && typeof before === 'string';
    if (isText && typeof value === 'string') detail.set(name, before + value);
    else if (value !== null || before === undefined) detail.set(name, value);
  }
}

function soundOf(audio: JsonObject, mimeType: string): AssistantPart | undefined {
  const id = textOf(audio.id);
  const data = textOf(audio.data);
  const transcript = textOf(audio.transcript);
  if (id === '' && data === '' && transcript === '') return undefined;
  return { type: 'audio', data, mimeType, ...(id && { id }), ...(transcript && { transcript }) };
}

function imageOf(image: unknown): AssistantPart | undefined {
  const url = isJsonObject(image) && isJsonObject(image.image_url) ? textOf(image.image_url.url) : '';
  return url === '' ? undefined : { type: 'image', url };
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

function spent(usage: JsonObject): TokenUsage {
  const read = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const written = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return usageOf({
    prompt: usage.prompt_tokens,
    completion: usage.completion_tokens,
    total: usage.total_tokens,
    // The second name is DeepSeek's.
    cached: read.cached_tokens ?? usage.prompt_cache_hit_tokens,
    reasoning: written.reasoning_tokens,
  });
}
