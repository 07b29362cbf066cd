/** Anthropic's Messages API, version 2023-06-01: chat with streaming, images, tools and thinking. */
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { ChatDelta, ChatMessage, ChatRequest, ContentPart, TokenUsage, ToolCall } from '../chat-model.js';
import { contentText } from '../chat-model.js';
import { defineProvider } from '../define-provider.js';
import { type CallTarget, reportedError } from '../provider-error.js';
import { AnswerDecoder, countOf, MAX_CALLS, streamAnswer, textOf, tooManyCalls } from '../stream-answer.js';

const CHAT_PATH = '/messages';

/** Tokens of an answer where a request does not say: the API has no default, and every model allows as many. */
const MAX_TOKENS = 4_096;

/** Tokens for thinking, on top of those of the answer, for models that take a budget. */
const THINKING_TOKENS = 4_096;

/** Models that take a budget for thinking; later ones decide themselves how much to think. */
const TAKES_BUDGET = /claude-3-7|claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|-v\d|@|$)/;

/** Reasons why an answer ended, in the words of {@link ChatDelta}. */
const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** `POST /messages`; the base URL is `https://api.anthropic.com/v1`. */
export const anthropic = defineProvider({
  kind: 'anthropic',
  chatPath: CHAT_PATH,
  headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey && { 'x-api-key': apiKey }) }),
  chat: (connection) => ({
    chat(request) {
      const { model, headers, ready } = request;
      const call = { path: CHAT_PATH, model, headers, ready, body: messagesBody(request) };
      return streamAnswer(connection, call, createDecoder);
    },
  }),
});

/** A chat request in the words of the API, always streaming. Penalties and templates, which it does not know, are left out. */
function messagesBody(request: ChatRequest): object {
  const { model, messages, sampling = {}, tools = [], jsonSchema, user } = request;
  const thinking = thinkingOf(request);
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const budget = typeof thinking?.budget_tokens === 'number' ? thinking.budget_tokens : 0;
  return {
    model,
    max_tokens: (sampling.maxTokens ?? MAX_TOKENS) + budget,
    system: systemOf(messages),
    messages: turnsOf(messages),
    stream: true,
    tools:
      tools.length > 0
        ? tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }))
        : undefined,
    // A choice needs tools, and a forced one excludes thinking.
    tool_choice: tools.length > 0 ? choiceOf(request.toolChoice, isThinking) : undefined,
    // Thinking excludes both.
    temperature: isThinking ? undefined : sampling.temperature,
    top_p: isThinking ? undefined : sampling.topP,
    thinking,
    output_config: jsonSchema && { format: { type: 'json_schema', schema: jsonSchema.schema } },
    metadata: user === undefined ? undefined : { user_id: user },
  };
}

/**
 * With a budget, none while results of tools are answered: the API then wants back the signed thinking of the message that called them,
 * which {@link ChatMessage} does not carry. Models that decide themselves do without.
 */
function thinkingOf({ thinking, model, messages }: ChatRequest): JsonObject | undefined {
  if (thinking !== 'enabled') return thinking && { type: thinking };
  if (!TAKES_BUDGET.test(model)) return { type: 'adaptive', display: 'summarized' };
  return messages.at(-1)?.role === 'tool' ? undefined : { type: 'enabled', budget_tokens: THINKING_TOKENS };
}

function choiceOf(choice: ChatRequest['toolChoice'], isThinking: boolean): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice === 'none') return { type: 'none' };
  if (choice === 'auto' || isThinking) return { type: 'auto' };
  if (choice === 'required') return { type: 'any' };
  if ('name' in choice) return { type: 'tool', name: choice.name };
  return { type: choice.mode === 'required' ? 'any' : 'auto' };
}

/** System messages stand outside the conversation. */
function systemOf(messages: readonly ChatMessage[]): string | undefined {
  const texts = messages.flatMap(({ role, content }) => (role === 'system' ? [contentText(content)] : []));
  return texts.join('\n\n') || undefined;
}

/** Messages of one role after another become one: results of several tools must stand in one message. */
function turnsOf(messages: readonly ChatMessage[]): JsonObject[] {
  const turns: { readonly role: 'user' | 'assistant'; readonly content: Json[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    if (blocks.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns.map(({ role, content }) => ({ role, content }));
}

function blocksOf(message: ChatMessage): JsonObject[] {
  const { content } = message;
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.toolCallId, content: contentText(content) }];
  }
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const blocks = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(blockOf);
  return message.role === 'assistant' ? [...blocks, ...(message.toolCalls ?? []).map(toolUse)] : blocks;
}

function blockOf(part: ContentPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type !== 'image_url')
    throw new EngineError('MODEL_REQUEST', `A part of the type "${part.type}" cannot be sent.`);
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(part.url) ?? [];
  return {
    type: 'image',
    source:
      mediaType !== undefined && data !== undefined
        ? { type: 'base64', media_type: mediaType, data }
        : { type: 'url', url: part.url },
  };
}

function toolUse({ id, name, arguments: text }: ToolCall): JsonObject {
  const input = parseJson(text);
  return { type: 'tool_use', id, name, input: isJsonObject(input) ? input : {} };
}

/** Decodes the events of a streamed message. */
function createDecoder(target: CallTarget): AnswerDecoder {
  const calls = new Map<number, { readonly id: string; readonly name: string; json: string }>();
  let reason = '';
  let counts: JsonObject | undefined;

  const onBlock = (index: number, block: JsonObject, deltas: ChatDelta[]): void => {
    if (block.type === 'text') push(deltas, 'text', block.text);
    if (block.type === 'thinking') push(deltas, 'thinking', block.thinking);
    if (block.type !== 'tool_use') return;
    // The input comes in pieces of JSON; servers that do not stream it send it whole, here.
    const whole = isJsonObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
    calls.set(index, { id: textOf(block.id), name: textOf(block.name), json: whole });
    if (calls.size > MAX_CALLS) throw tooManyCalls(target);
  };

  const onDelta = (index: number, delta: JsonObject, deltas: ChatDelta[]): void => {
    if (delta.type === 'text_delta') push(deltas, 'text', delta.text);
    if (delta.type === 'thinking_delta') push(deltas, 'thinking', delta.thinking);
    const call = delta.type === 'input_json_delta' ? calls.get(index) : undefined;
    if (call !== undefined) call.json += textOf(delta.partial_json);
  };

  return new AnswerDecoder(target, {
    takesJson: false,
    read(event, deltas) {
      const index = typeof event.index === 'number' ? event.index : 0;
      switch (event.type) {
        case 'message_start':
          if (isJsonObject(event.message) && isJsonObject(event.message.usage)) counts = event.message.usage;
          break;
        case 'content_block_start':
          if (isJsonObject(event.content_block)) onBlock(index, event.content_block, deltas);
          break;
        case 'content_block_delta':
          if (isJsonObject(event.delta)) onDelta(index, event.delta, deltas);
          break;
        case 'message_delta':
          // Counts are cumulative: later ones replace those of the start.
          if (isJsonObject(event.usage)) counts = { ...counts, ...event.usage };
          if (isJsonObject(event.delta)) reason = textOf(event.delta.stop_reason) || reason;
          break;
        case 'error':
          throw reportedError(target, withStatus(event.error));
        // `ping`, the ends of blocks, and what later versions add carry nothing for us.
      }
      return event.type === 'message_stop';
    },
    end: () => ({
      calls: [...calls.values()].map(({ id, name, json }, index) => {
        return { type: 'tool-call', index, id, name, arguments: json || '{}' };
      }),
      usage: counts && usageOf(counts),
      reason: REASONS[reason] ?? reason,
    }),
  });
}

function push(deltas: ChatDelta[], type: 'text' | 'thinking', text: unknown): void {
  if (typeof text === 'string' && text !== '') deltas.push({ type, text });
}

/** An error inside a stream has the type that stands for the status it would have had as an answer. */
function withStatus(error: unknown): unknown {
  const statuses: Readonly<Record<string, number>> = {
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  };
  if (!isJsonObject(error)) return error;
  const status = statuses[textOf(error.type)];
  return status === undefined ? error : { ...error, status };
}

/** Input that was read from or written to the cache is not part of `input_tokens`. */
function usageOf(counts: JsonObject): TokenUsage {
  const cachedTokens = countOf(counts.cache_read_input_tokens);
  const promptTokens = countOf(counts.input_tokens) + cachedTokens + countOf(counts.cache_creation_input_tokens);
  const completionTokens = countOf(counts.output_tokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
  };
}
