/** A run in OpenAI's format: chunks of a stream, or one completion. */
import { mergeForms, type RagflowProjection } from '../../canvas/ragflow-events.js';
import { THINK_CLOSE, THINK_OPEN } from '../../components/speaking/think-text.js';
import { shownMessage } from '../../errors.js';
import type { RunEvent } from '../../graph/events.js';
import type { Transcript } from '../../hosting/transcript.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import type { RunRecord } from '../../records/runs.js';
import type { RunView } from '../runs/answer-run.js';
import { formQuestion } from '../runs/form-question.js';

/** Whose completion it is. */
export interface CompletionHeader {
  readonly sessionId: string;
  readonly agentId: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly promptTokens: number;
  /** What it calls its model. @default the agent */
  readonly model?: string;
  /** How it gives what an answer cites; nothing for undefined. @default as runs report it, where there is anything */
  readonly cite?: (reference: JsonObject) => Json | undefined;
}

/** The events of a run as chunks, in OpenAI's framing. */
export function openaiView(header: CompletionHeader): RunView {
  const chunks = new Chunks(header);
  return {
    frames: ({ seq, source, projection }) => {
      const chunk = chunks.of(source, projection);
      return chunk === undefined ? [] : [`id: ${seq}\ndata: ${JSON.stringify(chunk)}\n\n`];
    },
    closing: () => ['data: [DONE]\n\n'],
  };
}

class Chunks {
  readonly #header: CompletionHeader;
  #completionTokens = 0;

  constructor(header: CompletionHeader) {
    this.#header = header;
  }

  /** The chunk of an event; undefined when it has none. */
  of(event: RunEvent, projection: RagflowProjection): JsonObject | undefined {
    switch (event.type) {
      case 'node-delta':
        if (event.text === '' || !projection.speaks(event.node)) return undefined;
        this.#completionTokens += estimateTokens(event.text);
        return this.#delta(
          event.port === 'thinking' ? { content: null, reasoning_content: event.text } : { content: event.text },
        );
      case 'node-notice': {
        const { reference } = event.data;
        if (event.name !== 'message-ended' || !isJsonObject(reference)) return undefined;
        const { cite } = this.#header;
        const cited = cite === undefined ? reference : cite(reference);
        return cited === undefined ? undefined : this.#delta({ content: '', reference: cited });
      }
      case 'run-interrupted': {
        const form = formOf(mergeForms(event.pending));
        // Clients show `content` and nothing else.
        const content = `${this.#completionTokens === 0 ? '' : '\n\n'}${questionOf(form, this.#header.sessionId)}`;
        return this.#delta({ content, waiting_for_user: form }, 'waiting_for_user');
      }
      case 'run-settled':
      case 'run-cancelled':
        return {
          ...this.#delta({ content: null }, 'stop'),
          usage: usageOf(this.#header.promptTokens, this.#completionTokens),
        };
      case 'run-failed': {
        const error = { message: shownMessage(event.error), type: 'server_error' };
        // At the top, too: clients look for an error there alone, and take the answer for a finished one without it.
        return { ...this.#delta({ content: null, error }, 'error'), error };
      }
      case 'run-started':
      case 'node-started':
      case 'node-thinking':
      case 'node-call':
      case 'node-usage':
      case 'node-progress':
      case 'node-streaming':
      case 'node-chunk':
      case 'node-patched':
      case 'node-settled':
      case 'node-failed':
      case 'node-skipped':
      case 'node-interrupted':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return undefined;
      default:
        return event satisfies never;
    }
  }

  #delta(delta: JsonObject, finishReason: string | null = null): JsonObject {
    const { sessionId, agentId, created, model = agentId } = this.#header;
    const whole = { ...delta, role: 'assistant', function_call: null, tool_calls: null };
    return {
      id: sessionId,
      object: 'chat.completion.chunk',
      created,
      model,
      system_fingerprint: '',
      usage: null,
      choices: [{ delta: whole, finish_reason: finishReason, index: 0, logprobs: null }],
    };
  }
}

/** A completion, or an error of OpenAI's form with its HTTP status. */
export function openaiCompletion(
  header: CompletionHeader,
  run: RunRecord,
  transcript: Transcript,
): { readonly status: number; readonly body: JsonObject } {
  const { sessionId, agentId, created, promptTokens, model = agentId } = header;
  if (run.error !== undefined) {
    return { status: 500, body: { error: { message: shownMessage(run.error), type: 'server_error' } } };
  }
  if (run.status === 'waiting') {
    const form = formOf(transcript.userInputs?.data ?? {});
    const message = questionOf(form, sessionId);
    // Exceptions of clients hold `error` and nothing else of the body.
    const error = { message, type: 'invalid_request_error', session_id: sessionId, waiting_for_user: form };
    return { status: 409, body: { error, session_id: sessionId } };
  }
  const { reasoning, content } = splitReasoning(transcript.content);
  const { cite = asReported } = header;
  const cited = cite(transcript.reference);
  const message: JsonObject = {
    role: 'assistant',
    content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(cited !== undefined && { reference: cited }),
  };
  return {
    status: 200,
    body: {
      id: sessionId,
      object: 'chat.completion',
      created,
      model,
      param: null,
      usage: usageOf(promptTokens, estimateTokens(transcript.content)),
      choices: [{ message, logprobs: null, finish_reason: 'stop', index: 0 }],
    },
  };
}

function asReported(reference: JsonObject): JsonObject | undefined {
  return Object.keys(reference).length === 0 ? undefined : reference;
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

/** What a form asks for, as text. */
function questionOf(form: JsonObject, sessionId: string): string {
  return formQuestion(
    form,
    `Answer with a request that has "session_id": "${sessionId}" and "inputs": {…} beside its messages.`,
  );
}

function usageOf(promptTokens: number, completionTokens: number): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  };
}
