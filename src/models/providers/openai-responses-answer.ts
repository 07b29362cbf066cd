/** Answers of OpenAI's Responses API. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatDelta } from '../chat-model.js';
import type { AssistantPart, McpListedTool } from '../content-parts.js';
import { textOf, translated, usageOf } from '../frame-values.js';
import type { TokenUsage } from '../messages.js';
import { type CallTarget, reportedError } from '../provider-error.js';
import { AnswerDecoder, MAX_CALLS, tooManyCalls } from '../stream-answer.js';
import { probabilitiesOf } from './token-probabilities.js';

/** The statuses that errors inside a stream would have had as answers, by their code. */
const STATUSES: Readonly<Record<string, number>> = {
  server_error: 500,
  rate_limit_exceeded: 429,
  vector_store_timeout: 504,
};

/** Why an answer is not complete, in the words of {@link ChatDelta}. */
const REASONS: Readonly<Record<string, string>> = { max_output_tokens: 'length', content_filter: 'content_filter' };

/** Fields of an item that hold what a tool of the provider gave. */
const RESULTS = ['results', 'outputs', 'output'] as const;

/**
 * Decodes a response: server-sent events, or one JSON object from servers that do not stream.
 *
 * Texts and thoughts are passed while they come, everything else when its item is complete. The reason is `stop`, `tool_calls` when there are calls of
 * the caller's tools, or why the answer is not complete.
 */
export function createResponseDecoder(target: CallTarget): AnswerDecoder {
  const answer = new ItemReader(target);
  let response: JsonObject = {};

  const finish = (whole: JsonObject, deltas: ChatDelta[]): true => {
    if (isJsonObject(whole.error)) throw reportedError(target, whole.error, STATUSES);
    response = whole;
    // Of servers that do not stream, all; else what was not passed while it came.
    if (Array.isArray(whole.output))
      for (const [index, item] of whole.output.entries()) answer.end(index, item, deltas);
    return true;
  };

  return new AnswerDecoder(target, {
    takesJson: true,
    lastData: '[DONE]',
    read(event, deltas) {
      const type = textOf(event.type);
      const whole = isJsonObject(event.response) ? event.response : {};
      switch (type) {
        case 'response.created':
        case 'response.in_progress':
          response = whole;
          return false;
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          return finish(whole, deltas);
        case 'error':
          throw reportedError(target, isJsonObject(event.error) ? event.error : event, STATUSES);
        case '':
          if (isJsonObject(event.error)) throw reportedError(target, event.error, STATUSES);
          return event.object === 'response' && finish(event, deltas);
        default:
          answer.read(type, event, deltas);
          return false;
      }
    },
    end() {
      const calls = answer.unfinishedCalls();
      const usage = isJsonObject(response.usage) ? spent(response.usage) : undefined;
      return { calls, usage, reason: reasonOf(response, answer.callCount), id: textOf(response.id) };
    },
  });
}

function reasonOf({ status, incomplete_details: details }: JsonObject, calls: number): string {
  if (status === 'incomplete') {
    return translated(REASONS, isJsonObject(details) ? textOf(details.reason) : '');
  }
  if (status === 'completed') return calls > 0 ? 'tool_calls' : 'stop';
  // Until the end the status is "in_progress", which is no reason.
  return status === 'in_progress' ? '' : textOf(status);
}

/** An item that is still coming. */
interface OpenItem {
  readonly item: JsonObject;
  /** Arguments of a call, as far as they have come. */
  text: string;
}

/** Turns items into deltas. */
class ItemReader {
  /** Calls of the caller's tools. */
  callCount = 0;
  readonly #target: CallTarget;
  readonly #open = new Map<number, OpenItem>();
  /** Positions of items of which text or thoughts were passed while they came. */
  readonly #streamed = new Set<number>();
  readonly #ended = new Set<number>();

  constructor(target: CallTarget) {
    this.#target = target;
  }

  read(type: string, event: JsonObject, deltas: ChatDelta[]): void {
    const index = typeof event.output_index === 'number' ? event.output_index : 0;
    switch (type) {
      case 'response.output_item.added':
        if (isJsonObject(event.item)) this.#begin(index, event.item);
        break;
      case 'response.output_text.delta':
        this.#stream(index, { type: 'text', text: textOf(event.delta) }, deltas);
        pushProbabilities(event.logprobs, deltas);
        break;
      case 'response.refusal.delta':
        this.#stream(index, { type: 'text', text: textOf(event.delta) }, deltas);
        break;
      case 'response.reasoning_summary_part.added':
        // The parts of a summary are paragraphs.
        if (this.#streamed.has(index)) deltas.push({ type: 'thinking', text: '\n\n' });
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#stream(index, { type: 'thinking', text: textOf(event.delta) }, deltas);
        break;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const open = this.#open.get(index);
        if (open !== undefined) open.text += textOf(event.delta);
        break;
      }
      case 'response.output_item.done':
        this.end(index, event.item, deltas);
        break;
      // Everything else is said again by the item when it is done.
    }
  }

  /** Takes a complete item, once. */
  end(index: number, item: unknown, deltas: ChatDelta[]): void {
    if (!isJsonObject(item) || this.#ended.has(index)) return;
    this.#ended.add(index);
    this.#open.delete(index);
    switch (item.type) {
      case 'message':
        this.#message(item, this.#streamed.has(index), deltas);
        break;
      case 'reasoning':
        reasoning(item, this.#streamed.has(index), deltas);
        break;
      case 'function_call':
      case 'custom_tool_call':
        deltas.push(this.#call(item, textOf(item.arguments) || textOf(item.input)));
        break;
      default:
        for (const part of partsOf(item)) deltas.push({ type: 'part', part });
    }
  }

  /** The calls of an answer that was cut off. */
  unfinishedCalls(): readonly ChatDelta[] {
    return [...this.#open.values()]
      .filter(({ item }) => isCall(item))
      .map(({ item, text }) => this.#call(item, text || textOf(item.arguments)));
  }

  #begin(index: number, item: JsonObject): void {
    this.#open.set(index, { item, text: '' });
    if (this.#open.size > MAX_CALLS) throw tooManyCalls(this.#target);
  }

  #stream(index: number, delta: ChatDelta & { readonly text: string }, deltas: ChatDelta[]): void {
    if (delta.text === '') return;
    this.#streamed.add(index);
    deltas.push(delta);
  }

  #call(item: JsonObject, text: string): ChatDelta {
    const index = this.callCount;
    this.callCount += 1;
    if (this.callCount > MAX_CALLS) throw tooManyCalls(this.#target);
    const isCustom = item.type === 'custom_tool_call';
    const extra: JsonObject = {
      ...(typeof item.namespace === 'string' && { namespace: item.namespace }),
      ...(isJsonObject(item.caller) && item.caller.type !== 'direct' && { caller: item.caller }),
    };
    return {
      type: 'tool-call',
      index,
      id: textOf(item.call_id) || textOf(item.id),
      name: textOf(item.name),
      arguments: text || (isCustom ? '' : '{}'),
      ...(isCustom && { kind: 'custom' }),
      ...(Object.keys(extra).length > 0 && { extra }),
    };
  }

  #message(item: JsonObject, isStreamed: boolean, deltas: ChatDelta[]): void {
    const content = Array.isArray(item.content) ? item.content.filter(isJsonObject) : [];
    for (const part of content) {
      const text = textOf(part.text) || textOf(part.refusal);
      if (isStreamed || text === '') continue;
      deltas.push({ type: 'text', text });
      pushProbabilities(part.logprobs, deltas);
    }
    const citations = content.flatMap(({ annotations }): readonly Json[] =>
      Array.isArray(annotations) ? annotations : [],
    );
    const phase = textOf(item.phase);
    if (citations.length === 0 && phase === '') return;
    deltas.push({
      type: 'part',
      part: {
        type: 'text',
        text: '',
        ...(citations.length > 0 && { citations }),
        ...(phase !== '' && { extra: { phase } }),
      },
    });
  }
}

function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function pushProbabilities(logprobs: unknown, deltas: ChatDelta[]): void {
  const tokens = probabilitiesOf(logprobs);
  if (tokens.length > 0) deltas.push({ type: 'log-probabilities', tokens });
}

/** Thoughts that were not passed while they came, and their signature. */
function reasoning(item: JsonObject, isStreamed: boolean, deltas: ChatDelta[]): void {
  const texts = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : []));
  const text = texts.map((one) => textOf(one.text)).join('\n\n');
  if (!isStreamed && text !== '') deltas.push({ type: 'thinking', text });
  const signature = textOf(item.encrypted_content);
  if (signature === '') return;
  deltas.push({ type: 'part', part: { type: 'reasoning', text: '', signature, id: textOf(item.id) } });
}

/** What the provider did itself. */
function partsOf(item: JsonObject): AssistantPart[] {
  const id = textOf(item.id);
  const server = textOf(item.server_label);
  const called = { server, name: textOf(item.name), arguments: textOf(item.arguments) };
  switch (item.type) {
    case 'mcp_list_tools': {
      const error = textOf(item.error);
      return [{ type: 'mcp-list', id, server, tools: listedTools(item.tools), ...(error !== '' && { error }) }];
    }
    case 'mcp_approval_request':
      return [{ type: 'mcp-approval-request', id, ...called }];
    case 'mcp_call':
      return mcpCall(item, { type: 'mcp-call', id, ...called });
    case 'image_generation_call': {
      const { result, ...rest } = item;
      const mimeType = `image/${textOf(item.output_format) || 'png'}`;
      return [{ type: 'image', data: textOf(result), mimeType, extra: { item: rest } }];
    }
    default:
      return serverTool(item, id);
  }
}

function mcpCall(item: JsonObject, call: AssistantPart & { readonly type: 'mcp-call' }): AssistantPart[] {
  const approvalRequestId = textOf(item.approval_request_id);
  const error = isJsonObject(item.error) ? JSON.stringify(item.error) : textOf(item.error);
  const made = approvalRequestId === '' ? call : { ...call, approvalRequestId };
  if (error === '' && typeof item.output !== 'string') return [made];
  const { server, name, id } = call;
  const content = textOf(item.output);
  return [made, { type: 'mcp-result', callId: id, server, name, content, ...(error !== '' && { error }) }];
}

function listedTools(tools: unknown): McpListedTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isJsonObject).map(({ name, description, input_schema }) => ({
    name: textOf(name),
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(input_schema) && { parameters: input_schema }),
  }));
}

/** A call of a tool of the provider, such as `web_search_call`, or what one gave, such as `tool_search_output`. The item goes back as it is. */
function serverTool(item: JsonObject, id: string): AssistantPart[] {
  const type = textOf(item.type);
  const [, name, kind] = /^(\w+)_(call|output)$/.exec(type) ?? [];
  if (name === undefined) return [];
  const callId = textOf(item.call_id) || id;
  const { type: _, id: __, call_id: ___, status: ____, ...said } = item;
  if (kind === 'output') return [{ type: 'server-tool-result', callId, name, content: said, extra: { item } }];
  const call: AssistantPart = { type: 'server-tool-call', id: callId, name, arguments: said, extra: { item } };
  const field = RESULTS.find((one) => said[one] !== undefined && said[one] !== null);
  if (field === undefined) return [call];
  const { [field]: content = null, ...asked } = said;
  const isInCall = { isInCall: true };
  return [
    { ...call, arguments: asked },
    { type: 'server-tool-result', callId, name, content, extra: isInCall },
  ];
}

function spent(usage: JsonObject): TokenUsage {
  const read = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const written = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return usageOf({
    prompt: usage.input_tokens,
    completion: usage.output_tokens,
    total: usage.total_tokens,
    cached: read.cached_tokens,
    reasoning: written.reasoning_tokens,
  });
}
