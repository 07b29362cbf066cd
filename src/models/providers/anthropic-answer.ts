/** Answers of Anthropic's Messages API. */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { ChatDelta } from '../chat-model.js';
import type { AssistantPart } from '../content-parts.js';
import { countOf, textOf, translated, usageOf } from '../frame-values.js';
import type { TokenUsage } from '../messages.js';
import { type CallTarget, reportedError } from '../provider-error.js';
import { AnswerDecoder, MAX_CALLS, tooManyCalls } from '../stream-answer.js';

/** Reasons why an answer ended, in the words of {@link ChatDelta}. */
const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** The statuses that errors inside a stream would have had as answers, by their type. */
const STATUSES: Readonly<Record<string, number>> = {
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The end of the names of blocks with results of tools that the provider runs. */
const RESULT = '_tool_result';

/** A block whose pieces are still coming. */
interface OpenBlock {
  readonly block: JsonObject;
  /** The input of a call, in pieces of JSON. */
  json: string;
  signature: string;
  readonly citations: Json[];
}

/** Decodes the events of a streamed message. */
export function createDecoder(target: CallTarget): AnswerDecoder {
  const answer = new BlockReader(target);
  let reason = '';
  let id = '';
  let counts: JsonObject | undefined;

  return new AnswerDecoder(target, {
    takesJson: false,
    read(event, deltas) {
      const index = typeof event.index === 'number' ? event.index : 0;
      switch (event.type) {
        case 'message_start':
          if (!isJsonObject(event.message)) break;
          id = textOf(event.message.id);
          if (isJsonObject(event.message.usage)) counts = event.message.usage;
          break;
        case 'content_block_start':
          if (isJsonObject(event.content_block)) answer.open(index, event.content_block, deltas);
          break;
        case 'content_block_delta':
          if (isJsonObject(event.delta)) answer.add(index, event.delta, deltas);
          break;
        case 'content_block_stop':
          answer.close(index, deltas);
          break;
        case 'message_delta':
          // Counts are cumulative: later ones replace those of the start.
          if (isJsonObject(event.usage)) counts = { ...counts, ...event.usage };
          if (isJsonObject(event.delta)) reason = textOf(event.delta.stop_reason) || reason;
          break;
        case 'error':
          throw reportedError(target, event.error, STATUSES);
        // `ping` and what later versions add carry nothing for us.
      }
      return event.type === 'message_stop';
    },
    end: () => ({
      calls: answer.unfinishedCalls(),
      usage: counts && spent(counts),
      reason: translated(REASONS, reason),
      id,
    }),
  });
}

/** Turns blocks into deltas: text and thoughts at once, the rest when a block has ended. */
class BlockReader {
  readonly #target: CallTarget;
  readonly #open = new Map<number, OpenBlock>();
  /** Calls of tools in all, those of the provider included. */
  #count = 0;
  /** Calls of the caller's tools. */
  #toolCalls = 0;
  /** Name and server of MCP calls, which results do not repeat. */
  readonly #mcp = new Map<string, { readonly name: string; readonly server: string }>();

  constructor(target: CallTarget) {
    this.#target = target;
  }

  open(index: number, block: JsonObject, deltas: ChatDelta[]): void {
    if (block.type === 'text') push(deltas, 'text', block.text);
    if (block.type === 'thinking') push(deltas, 'thinking', block.thinking);
    if (textOf(block.type).endsWith('_use')) {
      this.#count += 1;
      if (this.#count > MAX_CALLS) throw tooManyCalls(this.#target);
    }
    const citations = Array.isArray(block.citations) ? [...block.citations] : [];
    this.#open.set(index, { block, json: '', signature: textOf(block.signature), citations });
  }

  add(index: number, delta: JsonObject, deltas: ChatDelta[]): void {
    const open = this.#open.get(index);
    switch (delta.type) {
      case 'text_delta':
        push(deltas, 'text', delta.text);
        break;
      case 'thinking_delta':
        push(deltas, 'thinking', delta.thinking);
        break;
      case 'input_json_delta':
        if (open !== undefined) open.json += textOf(delta.partial_json);
        break;
      case 'signature_delta':
        if (open !== undefined) open.signature += textOf(delta.signature);
        break;
      case 'citations_delta':
        if (delta.citation !== undefined) open?.citations.push(delta.citation);
        break;
    }
  }

  close(index: number, deltas: ChatDelta[]): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    if (open.block.type === 'tool_use') {
      deltas.push(toolCall(open, this.#toolCalls));
      this.#toolCalls += 1;
    } else {
      const part = this.#partOf(open);
      if (part !== undefined) deltas.push({ type: 'part', part });
    }
  }

  /** The calls of blocks that were cut off. */
  unfinishedCalls(): readonly ChatDelta[] {
    const deltas: ChatDelta[] = [];
    for (const [index, { block }] of this.#open) if (block.type === 'tool_use') this.close(index, deltas);
    return deltas;
  }

  #partOf(open: OpenBlock): AssistantPart | undefined {
    const { block, signature, citations } = open;
    switch (block.type) {
      case 'text':
        return citations.length === 0 ? undefined : { type: 'text', text: '', citations };
      case 'thinking':
        return signature === '' ? undefined : { type: 'reasoning', text: '', signature };
      case 'redacted_thinking':
        return { type: 'reasoning', text: '', signature: textOf(block.data), isRedacted: true };
      case 'server_tool_use':
        return {
          ...extraOf(block),
          type: 'server-tool-call',
          id: textOf(block.id),
          name: textOf(block.name),
          arguments: parseJson(inputOf(open)) ?? {},
        };
      case 'mcp_tool_use': {
        const called = { name: textOf(block.name), server: textOf(block.server_name) };
        this.#mcp.set(textOf(block.id), called);
        return { type: 'mcp-call', id: textOf(block.id), ...called, arguments: inputOf(open) };
      }
      case 'mcp_tool_result':
        return this.#mcpResult(block);
      default:
        return serverResult(block);
    }
  }

  #mcpResult(block: JsonObject): AssistantPart {
    const callId = textOf(block.tool_use_id);
    const { content = '' } = block;
    const failed = block.is_error === true && { error: readable(content) };
    return { type: 'mcp-result', callId, ...this.#mcp.get(callId), content, ...failed };
  }
}

function toolCall(open: OpenBlock, index: number): ChatDelta {
  const { block } = open;
  const call = { id: textOf(block.id), name: textOf(block.name), arguments: inputOf(open) };
  return { type: 'tool-call', index, ...call, ...extraOf(block) };
}

/** The input comes in pieces of JSON; servers that do not stream it send it whole, with the beginning of the block. */
function inputOf({ block, json }: OpenBlock): string {
  const whole = isJsonObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
  return whole + json || '{}';
}

/** What a tool gave that the provider ran; blocks that later versions add are left out. */
function serverResult(block: JsonObject): AssistantPart | undefined {
  const type = textOf(block.type);
  if (!type.endsWith(RESULT)) return undefined;
  const name = type.slice(0, -RESULT.length);
  const { content = null } = block;
  return { ...extraOf(block), type: 'server-tool-result', callId: textOf(block.tool_use_id), name, content };
}

function extraOf({ caller }: JsonObject): { readonly extra?: JsonObject } {
  return isJsonObject(caller) && caller.type !== 'direct' ? { extra: { caller } } : {};
}

/** The text of what an MCP server gave. */
function readable(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((one: Json) => (isJsonObject(one) ? textOf(one.text) : '')).join('\n');
}

function push(deltas: ChatDelta[], type: 'text' | 'thinking', text: unknown): void {
  if (typeof text === 'string' && text !== '') deltas.push({ type, text });
}

/** Input that was read from or written to the cache is not part of `input_tokens`. */
function spent(counts: JsonObject): TokenUsage {
  const cached = countOf(counts.cache_read_input_tokens);
  const details = isJsonObject(counts.output_tokens_details) ? counts.output_tokens_details : {};
  const reasoning = countOf(details.thinking_tokens);
  return usageOf({
    prompt: countOf(counts.input_tokens) + cached + countOf(counts.cache_creation_input_tokens),
    completion: counts.output_tokens,
    ...(cached > 0 && { cached }),
    ...(reasoning > 0 && { reasoning }),
  });
}
