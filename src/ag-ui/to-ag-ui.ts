/** The events of a run as those of AG-UI. */
import { Observable, type OperatorFunction } from 'rxjs';
import { shownMessage } from '../errors.js';
import type { AddressedQuestion, RunEvent } from '../graph/events.js';
import { isJsonObject } from '../json.js';
import { requireOptions } from '../operators/invalid-option.js';
import type { UiMessageChunk } from '../ui-messages/protocol.js';
import { readQuestionId } from '../ui-messages/question-ids.js';
import { UiMessageProjection, type UiMessagesOptions } from '../ui-messages/to-ui-messages.js';
import { spokenBy, type TurnEvent } from '../ui-messages/ui-message-stream.js';
import type { AgUiEvent, AgUiInterrupt, AgUiOutcome } from './protocol.js';

/** How events become those of AG-UI. */
export interface AgUiOptions extends Pick<UiMessagesOptions, 'plan' | 'speaks'> {
  /** The client's id of the conversation. @default the id of the run */
  readonly threadId?: string;
  /** The client's id of the run. @default the id of the run */
  readonly runId?: string;
}

/**
 * Projects a run's events to those of AG-UI, in order; each may become several.
 *
 * ```text
 * source    --S--s--d--d--e--E|      (run-started, node-started, two deltas, node-settled, run-settled)
 * result    --a-----b--c--d--e|      (RUN_STARTED; TEXT_MESSAGE_START, …_CONTENT; …_CONTENT; …_END; RUN_FINISHED)
 * ```
 *
 * Texts, thoughts and calls of tools are those of `toUiMessages`. Questions are the interrupts of the outcome, with their addresses as ids; notices
 * are events `CUSTOM`. A failed run ends with `RUN_ERROR`.
 *
 * Memory: as `toUiMessages`. Errors: those of the source.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function toAgUi(options: AgUiOptions = {}): OperatorFunction<RunEvent | TurnEvent, AgUiEvent> {
  requireOptions('toAgUi', options, ['plan', 'speaks', 'threadId', 'runId']);
  return (source) =>
    new Observable((subscriber) => {
      const projection = new AgUiProjection(options);
      return source.subscribe({
        next: (event) => {
          const told = runEventOf(event);
          if (told !== undefined) for (const one of projection.project(told)) subscriber.next(one);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}

/** What is told of an event of a runner: those of its runs, of whose results the text alone. */
function runEventOf(event: RunEvent | TurnEvent): RunEvent | undefined {
  switch (event.type) {
    case 'turn-started':
    case 'turn-ended':
    case 'input-accepted':
    case 'input-delivered':
    case 'input-dropped':
      return undefined;
    case 'run-settled':
      return isTurn(event.value) ? { ...event, value: spokenBy(event.value) } : event;
    default:
      return event;
  }
}

function isTurn(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value.end) && Array.isArray(value.heard);
}

/** The events of one run; a fold, so it must be given the events from the first one. */
export class AgUiProjection {
  readonly #options: AgUiOptions;
  readonly #chunks: UiMessageProjection;
  /** Calls whose arguments were begun and not ended. */
  readonly #written = new Set<string>();
  /** Questions that are answered in a form of a canvas. */
  readonly #asked = new Map<string, AgUiInterrupt>();
  #steps = 0;
  #hasBegun = false;

  constructor(options: AgUiOptions = {}) {
    const { threadId: _, runId: __, ...shown } = options;
    this.#options = options;
    this.#chunks = new UiMessageProjection(shown);
  }

  /** The events of AG-UI for one of a run. */
  project(event: RunEvent): readonly AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const ids = { threadId: this.#options.threadId ?? event.run, runId: this.#options.runId ?? event.run };
    if (!this.#hasBegun) out.push({ type: 'RUN_STARTED', ...ids });
    this.#hasBegun = true;
    for (const chunk of this.#chunks.project(event)) this.#add(chunk, out);
    if (event.type === 'run-failed') {
      const { code, message } = event.error;
      out.push({ type: 'RUN_ERROR', message: shownMessage({ code, message }), code });
      return out;
    }
    const outcome = this.#outcomeOf(event);
    if (outcome === undefined) return out;
    const result = event.type === 'run-settled' && event.value !== undefined ? { result: event.value } : {};
    out.push({ type: 'RUN_FINISHED', ...ids, outcome, ...result });
    return out;
  }

  #add(chunk: UiMessageChunk, out: AgUiEvent[]): void {
    switch (chunk.type) {
      case 'start-step':
        this.#steps += 1;
        out.push({ type: 'STEP_STARTED', stepName: `step-${this.#steps}` });
        break;
      case 'finish-step':
        out.push({ type: 'STEP_FINISHED', stepName: `step-${this.#steps}` });
        break;
      case 'text-start':
        out.push({ type: 'TEXT_MESSAGE_START', messageId: chunk.id, role: 'assistant' });
        break;
      case 'text-delta':
        out.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: chunk.id, delta: chunk.delta });
        break;
      case 'text-end':
        out.push({ type: 'TEXT_MESSAGE_END', messageId: chunk.id });
        break;
      case 'reasoning-start':
        out.push({ type: 'REASONING_START', messageId: chunk.id });
        out.push({ type: 'REASONING_MESSAGE_START', messageId: chunk.id, role: 'reasoning' });
        break;
      case 'reasoning-delta':
        out.push({ type: 'REASONING_MESSAGE_CONTENT', messageId: chunk.id, delta: chunk.delta });
        break;
      case 'reasoning-end':
        out.push(
          { type: 'REASONING_MESSAGE_END', messageId: chunk.id },
          { type: 'REASONING_END', messageId: chunk.id },
        );
        break;
      default:
        this.#addCall(chunk, out);
    }
  }

  #addCall(chunk: UiMessageChunk, out: AgUiEvent[]): void {
    switch (chunk.type) {
      case 'tool-input-start':
        this.#written.add(chunk.toolCallId);
        out.push({ type: 'TOOL_CALL_START', toolCallId: chunk.toolCallId, toolCallName: chunk.toolName });
        break;
      case 'tool-input-delta':
        out.push({ type: 'TOOL_CALL_ARGS', toolCallId: chunk.toolCallId, delta: chunk.inputTextDelta });
        break;
      case 'tool-input-available':
        this.#whole(chunk, out);
        break;
      case 'tool-output-available':
        this.#result(chunk.toolCallId, textOf(chunk.output), out);
        break;
      case 'tool-output-error':
        this.#result(chunk.toolCallId, chunk.errorText, out);
        break;
      case 'tool-output-denied':
        this.#result(chunk.toolCallId, 'The user declined this call.', out);
        break;
      case 'source-url':
      case 'source-document':
      case 'file': {
        const { type, ...value } = chunk;
        out.push({ type: 'CUSTOM', name: type, value });
        break;
      }
      case 'tool-approval-request': {
        const { approvalId, toolCallId } = chunk;
        const { message } = this.#asked.get(toolCallId) ?? {};
        this.#asked.delete(toolCallId);
        this.#asked.set(approvalId, {
          id: approvalId,
          reason: 'approval_required',
          ...(message !== undefined && { message }),
          ...(readQuestionId(toolCallId) === undefined && { toolCallId }),
        });
        break;
      }
      default:
        if (chunk.type.startsWith('data-') && 'data' in chunk && chunk.type !== 'data-result') {
          out.push({ type: 'CUSTOM', name: chunk.type.slice('data-'.length), value: chunk.data });
        }
    }
  }

  #outcomeOf(event: RunEvent): AgUiOutcome | undefined {
    switch (event.type) {
      case 'run-settled':
        return { type: 'success' };
      case 'run-cancelled':
        return { type: 'cancelled' };
      case 'run-interrupted': {
        const { questions = [] } = event;
        const interrupts = questions.length > 0 ? questions.map(interruptOf) : [...this.#asked.values()];
        // A stop of the graph asks nothing of anyone, and the protocol knows no interrupt without a question.
        return interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' };
      }
      default:
        return undefined;
    }
  }

  /** Arguments that are whole. A question is no call: it is an interrupt of the outcome. */
  #whole(chunk: Extract<UiMessageChunk, { type: 'tool-input-available' }>, out: AgUiEvent[]): void {
    const { toolCallId, toolName, input } = chunk;
    if (readQuestionId(toolCallId) !== undefined) {
      this.#asked.set(toolCallId, { id: toolCallId, reason: 'input_required', message: textOf(questionIn(input)) });
      return;
    }
    if (!this.#written.delete(toolCallId)) {
      out.push({ type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName });
      out.push({ type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(input ?? {}) });
    }
    out.push({ type: 'TOOL_CALL_END', toolCallId });
  }

  #result(toolCallId: string, content: string, out: AgUiEvent[]): void {
    if (readQuestionId(toolCallId) !== undefined) return;
    if (this.#written.delete(toolCallId)) out.push({ type: 'TOOL_CALL_END', toolCallId });
    out.push({ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}-result`, toolCallId, content, role: 'tool' });
  }
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

/** What a person is asked, in the input of the call `ask`. */
function questionIn(input: unknown): unknown {
  if (!isJsonObject(input)) return input;
  return input.question ?? input.tips ?? input;
}

function interruptOf({ address, question, schema, expiresAt }: AddressedQuestion): AgUiInterrupt {
  const toolCallId = /#([^/#]+)/.exec(address)?.[1];
  const message = typeof question === 'string' ? question : JSON.stringify(question ?? null);
  return {
    id: address,
    reason: isApproval(schema) ? 'approval_required' : 'input_required',
    message,
    ...(toolCallId !== undefined && { toolCallId }),
    ...(schema !== undefined && { responseSchema: schema }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  };
}

function isApproval(schema: AddressedQuestion['schema']): boolean {
  if (schema?.type === 'boolean') return true;
  const { properties } = schema ?? {};
  return isJsonObject(properties) && isJsonObject(properties.approved) && properties.approved.type === 'boolean';
}
