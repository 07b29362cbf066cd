/** The events of a run as chunks of the AI SDK's UI message stream. */
import { shownMessage } from '../errors.js';
import type {
  NodeChunk,
  NodeFailed,
  NodeHeader,
  NodeNotice,
  NodeSettled,
  NodeStarted,
  RunEvent,
  RunInterrupted,
  RunSettled,
  RunStarted,
  TerminalEvent,
} from '../graph/events.js';
import { findNode, type Plan } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import { CallParts } from './call-parts.js';
import { evidenceParts, mediaParts, providerCalls, toolMessagesIn } from './evidence-parts.js';
import type { UiMessage, UiMessageChunk } from './protocol.js';
import { RunQuestions } from './run-questions.js';
import { type SpokenKind, SpokenParts } from './spoken-parts.js';

/** How events become chunks. */
export interface UiMessagesOptions {
  /** Of a canvas: only the text of nodes that speak, such as Message, is shown. @default the text of all nodes */
  readonly plan?: Plan;
  /** Whether the text of a node is shown; given, it stands in for `plan`. */
  readonly speaks?: (node: NodeHeader) => boolean;
  /** The message of the assistant that goes on with this run: its last one, when the request of the page ends with it. @default a new message */
  readonly message?: UiMessage | undefined;
  /** Id of the new message. @default the id of the run */
  readonly messageId?: string;
  /** Beside `run`, in the metadata of the message. @default nothing */
  readonly metadata?: JsonObject;
  /** Names of notices that pages are told of once, and that are no part of the message. @default progress, sound, the stages of chats */
  readonly transient?: readonly string[];
}

type FinishReason = NonNullable<Extract<UiMessageChunk, { type: 'finish' }>['finishReason']>;

/** Notices that come often, or say nothing once the run is over. */
const TRANSIENT: readonly string[] = ['tool-progress', 'tool-partial', 'audio', 'chat'];

/** Characters of the newest text that are compared with the result. */
const MAX_COMPARED = 1_000_000;

/** Calls of providers that are remembered until their results come. */
const MAX_PROVIDER_CALLS = 1_000;

/** The events of one message as chunks; a fold, so it must be given the events from the first one. */
export class UiMessageProjection {
  readonly #options: UiMessagesOptions;
  readonly #spoken = new SpokenParts();
  readonly #calls = new CallParts();
  readonly #questions = new RunQuestions(this.#calls);
  readonly #providerCalls = new Set<string>();
  /** Numbers of the events with which tokens started that are at work. */
  readonly #starts = new Map<number, number>();
  #hasBegun = false;
  #isInStep = false;
  #hasResults = false;
  #newestText = '';
  #reason: FinishReason = 'stop';

  constructor(options: UiMessagesOptions = {}) {
    requireObject('UiMessageProjection', 'options', options);
    this.#options = options;
    if (options.message !== undefined) this.#questions.know(options.message);
  }

  /** The chunks of an event. */
  project(event: RunEvent): readonly UiMessageChunk[] {
    const out: UiMessageChunk[] = [];
    if (!this.#hasBegun) this.#begin(event.run, out);
    this.#add(event, out);
    this.#hasResults ||= this.#isInStep && out.some(isResult);
    return out;
  }

  #add(event: RunEvent, out: UiMessageChunk[]): void {
    switch (event.type) {
      case 'run-started':
        this.#runStarted(event, out);
        break;
      case 'node-started':
        this.#nodeStarted(event, out);
        break;
      case 'node-delta':
        this.#write(event.port === 'thinking' ? 'reasoning' : 'text', event, event.text, out);
        break;
      case 'node-thinking':
        if (event.phase === 'ended') this.#spoken.close(event.token, out);
        break;
      case 'node-chunk':
        this.#chunk(event, out);
        break;
      case 'node-notice':
        this.#notice(event, out);
        break;
      case 'node-call':
        if (event.call.type === 'started' && event.call.kind !== 'model') this.#step(out);
        this.#calls.report(event, event.call, out);
        break;
      case 'node-settled':
        this.#nodeSettled(event, out);
        break;
      case 'node-failed':
        this.#nodeFailed(event, out);
        break;
      case 'node-interrupted':
        this.#starts.delete(event.token);
        this.#spoken.close(event.token, out);
        break;
      case 'run-interrupted':
      case 'run-settled':
      case 'run-failed':
      case 'run-cancelled':
        this.#end(event, out);
        break;
      case 'node-usage':
      case 'node-progress':
      case 'node-streaming':
      case 'node-patched':
      case 'node-skipped':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        break;
      default:
        // Of a later version, or forged.
        event satisfies never;
    }
  }

  #begin(run: string, out: UiMessageChunk[]): void {
    this.#hasBegun = true;
    const { message, messageId, metadata } = this.#options;
    const id = messageId ?? message?.id ?? run;
    out.push({ type: 'start', messageId: id, messageMetadata: { ...metadata, run } });
  }

  #runStarted({ resumed, recovered, input }: RunStarted, out: UiMessageChunk[]): void {
    if (!resumed || recovered === true) return;
    this.#reason = 'stop';
    // Before a step begins: a page changes the parts of its newest step only.
    this.#questions.resume(input, out);
  }

  #nodeStarted(event: NodeStarted, out: UiMessageChunk[]): void {
    if (event.retractFrom !== undefined) this.#retract(event, event.retractFrom, 'its process was lost', out);
    this.#starts.set(event.token, event.seq);
  }

  #nodeSettled(event: NodeSettled, out: UiMessageChunk[]): void {
    this.#starts.delete(event.token);
    this.#spoken.close(event.token, out);
    for (const result of toolMessagesIn(event.value)) this.#calls.result(result, event, out);
    this.#calls.settle(event.token, out);
  }

  #nodeFailed(event: NodeFailed, out: UiMessageChunk[]): void {
    const { token, then } = event;
    this.#spoken.close(token, out);
    if (then === 'retry')
      this.#retract(event, this.#starts.get(token) ?? event.seq, 'it failed and is tried again', out);
    else this.#starts.delete(token);
    this.#calls.stop(token, out);
  }

  #retract(event: NodeHeader, fromSeq: number, why: string, out: UiMessageChunk[]): void {
    const parts = this.#spoken.retract(event, fromSeq, out);
    const before = out.length;
    this.#calls.stop(event.token, out);
    const toolCalls = out.slice(before).flatMap((one) => (one.type === 'tool-output-error' ? [one.toolCallId] : []));
    if (parts.length + toolCalls.length === 0) return;
    this.#newestText = '';
    out.push({ type: 'data-retracted', data: { node: event.node, parts, toolCalls, reason: why } });
  }

  /** A step ends when its calls have their results and something new begins. */
  #step(out: UiMessageChunk[]): void {
    if (this.#isInStep && this.#hasResults && !this.#spoken.areOpen && !this.#calls.areOpen) this.#endStep(out);
    if (this.#isInStep) return;
    this.#isInStep = true;
    out.push({ type: 'start-step' });
  }

  #endStep(out: UiMessageChunk[]): void {
    if (!this.#isInStep) return;
    this.#isInStep = false;
    this.#hasResults = false;
    out.push({ type: 'finish-step' });
  }

  #speaks(node: NodeHeader): boolean {
    const { plan, speaks } = this.#options;
    if (speaks !== undefined) return speaks(node);
    return plan === undefined || findNode(plan, node.node)?.speaks === true;
  }

  #write(kind: SpokenKind, header: NodeHeader, text: string, out: UiMessageChunk[]): void {
    if (text === '' || !this.#speaks(header)) return;
    if (!this.#spoken.continues(header.token, kind)) {
      this.#spoken.close(header.token, out);
      this.#step(out);
      if (kind === 'text') this.#newestText = '';
    }
    this.#spoken.write(kind, header, text, out);
    if (kind === 'text' && this.#newestText.length < MAX_COMPARED) this.#newestText += text;
  }

  /** Texts, pieces of a model's message, messages of tools; other values are no part of a message. */
  #chunk(event: NodeChunk, out: UiMessageChunk[]): void {
    const { value } = event;
    if (typeof value === 'string') this.#write('text', event, value, out);
    for (const result of toolMessagesIn(value)) this.#calls.result(result, event, out);
    if (!isJsonObject(value) || value.role !== 'assistant') return;
    const { reasoning, content, toolCalls, parts, finishReason } = value;
    if (typeof reasoning === 'string') this.#write('reasoning', event, reasoning, out);
    if (typeof content === 'string') this.#write('text', event, content, out);
    if (Array.isArray(toolCalls) && toolCalls.length > 0) {
      this.#spoken.close(event.token, out);
      this.#step(out);
      for (const piece of toolCalls) if (isJsonObject(piece)) this.#calls.write(event, piece, out);
    }
    if (Array.isArray(parts)) this.#media(parts, out);
    this.#reason = reasonOf(finishReason) ?? this.#reason;
  }

  #media(parts: readonly unknown[], out: UiMessageChunk[]): void {
    out.push(...mediaParts(parts));
    for (const chunk of providerCalls(parts)) {
      if (chunk.type === 'tool-input-available' && this.#providerCalls.size < MAX_PROVIDER_CALLS) {
        this.#step(out);
        this.#providerCalls.add(chunk.toolCallId);
        out.push(chunk);
      } else if (chunk.type === 'tool-output-available' && this.#providerCalls.delete(chunk.toolCallId)) {
        out.push(chunk);
      }
    }
  }

  #notice(event: NodeNotice, out: UiMessageChunk[]): void {
    const { name, data, token } = event;
    if (name === 'message-ended') {
      this.#spoken.close(token, out);
      if (this.#speaks(event)) out.push(...evidenceParts(data));
      return;
    }
    if (name === 'tool-called') {
      const { tool_name: tool, arguments: input = {}, result = null } = data;
      this.#calls.logged(token, String(tool), input, result, out);
      return;
    }
    if (name === 'chat' && data.type === 'retract') {
      this.#retract(event, this.#starts.get(token) ?? 0, String(data.reason), out);
      return;
    }
    const isTransient = (this.#options.transient ?? TRANSIENT).includes(name);
    const { id } = data;
    out.push({
      type: `data-${name}`,
      ...(typeof id === 'string' && { id }),
      data,
      ...(isTransient && { transient: true }),
    });
  }

  #end(event: TerminalEvent, out: UiMessageChunk[]): void {
    this.#spoken.closeAll(out);
    this.#starts.clear();
    if (event.type === 'run-interrupted') this.#interrupted(event, out);
    else if (event.type === 'run-settled') this.#result(event, out);
    else this.#calls.stopAll(out);
    this.#endStep(out);
    if (event.type === 'run-cancelled') {
      out.push({ type: 'abort', reason: 'The run was cancelled.' });
      return;
    }
    if (event.type === 'run-failed') out.push({ type: 'error', errorText: shownMessage(event.error) });
    const { usage, elapsedMs } = event;
    const messageMetadata = { usage: { ...usage }, elapsedMs };
    out.push({ type: 'finish', finishReason: this.#reasonOf(event), messageMetadata });
  }

  #interrupted(event: RunInterrupted, out: UiMessageChunk[]): void {
    this.#step(out);
    this.#questions.ask(event, out);
  }

  /** What a step gave, unless its text was just said. */
  #result(event: RunSettled, out: UiMessageChunk[]): void {
    const { value, run, seq } = event;
    if (value === undefined || value === null) return;
    const text = isJsonObject(value) && value.role === 'assistant' ? value.content : value;
    if (typeof text !== 'string') {
      out.push({ type: 'data-result', data: value });
      return;
    }
    if (text === '' || text === this.#newestText) return;
    this.#step(out);
    const id = `${run}-${seq}`;
    out.push({ type: 'text-start', id, providerMetadata: { runnel: { part: id } } });
    out.push({ type: 'text-delta', id, delta: text }, { type: 'text-end', id });
  }

  #reasonOf({ type }: TerminalEvent): FinishReason {
    if (type === 'run-failed') return 'error';
    return type === 'run-interrupted' || this.#calls.areOpen ? 'tool-calls' : this.#reason;
  }
}

/** The reason of a model as the protocol calls it. */
function reasonOf(reason: Json | undefined): FinishReason | undefined {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter' || reason === 'content-filter') return 'content-filter';
  return reason === 'stop' ? 'stop' : undefined;
}

function isResult({ type }: UiMessageChunk): boolean {
  return type === 'tool-output-available' || type === 'tool-output-error';
}
