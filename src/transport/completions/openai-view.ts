/** A run in OpenAI's words: chunks of a stream, or one completion. */
import type { WireEvent } from '../../canvas/wire-event.js';
import { THINK_CLOSE, THINK_OPEN } from '../../components/speaking/think-text.js';
import { type EventFrame, wireOf } from '../../hosting/event-frame.js';
import type { Transcript } from '../../hosting/transcript.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import type { RunRecord } from '../../records/stores.js';
import type { RunView } from '../runs/answer-run.js';

/** Whose completion it is. */
export interface CompletionHeader {
  readonly sessionId: string;
  readonly agentId: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly promptTokens: number;
}

/** The events of a run as chunks, in OpenAI's framing. */
export function openaiView(header: CompletionHeader): RunView {
  const chunks = new Chunks(header);
  return { frames: (frame) => chunks.of(frame), closing: () => ['data: [DONE]\n\n'] };
}

class Chunks {
  readonly #header: CompletionHeader;
  /** Components whose last piece was reasoning. */
  readonly #thinking = new Set<unknown>();
  #completionTokens = 0;

  constructor(header: CompletionHeader) {
    this.#header = header;
  }

  of(frame: EventFrame): readonly string[] {
    const chunk = frame.event === 'error' ? this.#failed(frame) : this.#chunk(wireOf(frame));
    return chunk === undefined ? [] : [`id: ${frame.seq}\ndata: ${JSON.stringify(chunk)}\n\n`];
  }

  #chunk({ event, data }: WireEvent): JsonObject | undefined {
    switch (event) {
      case 'message':
        return this.#message(data);
      case 'message_end':
        return isJsonObject(data.reference) ? this.#delta({ content: '', reference: data.reference }) : undefined;
      case 'user_inputs':
        return this.#delta({ content: null, waiting_for_user: formOf(data) }, 'waiting_for_user');
      case 'workflow_finished':
        return {
          ...this.#delta({ content: null }, 'stop'),
          usage: usageOf(this.#header.promptTokens, this.#completionTokens),
        };
      default:
        return undefined;
    }
  }

  #message(data: JsonObject): JsonObject | undefined {
    if (data.start_to_think === true) this.#thinking.add(data.component_id);
    if (data.end_to_think === true) this.#thinking.delete(data.component_id);
    const content = typeof data.content === 'string' ? data.content : '';
    if (content === '') return undefined;
    this.#completionTokens += estimateTokens(content);
    return this.#delta(
      this.#thinking.has(data.component_id) ? { content: null, reasoning_content: content } : { content },
    );
  }

  /** The failure frame has no `data` of its own. */
  #failed(frame: EventFrame): JsonObject {
    const { message } = JSON.parse(frame.json) as { readonly message: string };
    return this.#delta({ content: null, error: { message, type: 'server_error' } }, 'error');
  }

  #delta(delta: JsonObject, finishReason: string | null = null): JsonObject {
    const { sessionId, agentId, created } = this.#header;
    const whole = { ...delta, role: 'assistant', function_call: null, tool_calls: null };
    return {
      id: sessionId,
      object: 'chat.completion.chunk',
      created,
      model: agentId,
      system_fingerprint: '',
      usage: null,
      choices: [{ delta: whole, finish_reason: finishReason, index: 0, logprobs: null }],
    };
  }
}

/** A completion, or an error of OpenAI's form with its HTTP status. */
export function openaiCompletion(
  { sessionId, agentId, created, promptTokens }: CompletionHeader,
  run: RunRecord,
  transcript: Transcript,
  failure: string | undefined,
): { readonly status: number; readonly body: JsonObject } {
  if (failure !== undefined) {
    return { status: 500, body: { error: { message: failure, type: 'server_error' } } };
  }
  if (run.status === 'waiting') {
    const form = formOf(transcript.userInputs?.data ?? {});
    const error = { message: 'The agent waits for input.', type: 'invalid_request_error', waiting_for_user: form };
    return { status: 409, body: { error, session_id: sessionId } };
  }
  const { reasoning, content } = splitReasoning(transcript.content);
  const message: JsonObject = {
    role: 'assistant',
    content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(Object.keys(transcript.reference).length === 0 ? {} : { reference: transcript.reference }),
  };
  return {
    status: 200,
    body: {
      id: sessionId,
      object: 'chat.completion',
      created,
      model: agentId,
      param: null,
      usage: usageOf(promptTokens, estimateTokens(transcript.content)),
      choices: [{ message, logprobs: null, finish_reason: 'stop', index: 0 }],
    },
  };
}

/** Without a closing mark, an opening one is text. */
function splitReasoning(text: string): { reasoning: string; content: string } {
  const thoughts: string[] = [];
  const content: string[] = [];
  let from = 0;
  for (;;) {
    const open = text.indexOf(THINK_OPEN, from);
    const close = open === -1 ? -1 : text.indexOf(THINK_CLOSE, open);
    if (close === -1) break;
    content.push(text.slice(from, open));
    thoughts.push(text.slice(open + THINK_OPEN.length, close));
    from = close + THINK_CLOSE.length;
  }
  return { reasoning: thoughts.join(''), content: content.join('') + text.slice(from) };
}

function formOf({ cpn_id, tips, inputs }: JsonObject): JsonObject {
  return { cpn_id: cpn_id ?? null, tips: tips ?? '', inputs: inputs ?? {} };
}

function usageOf(promptTokens: number, completionTokens: number): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  };
}
