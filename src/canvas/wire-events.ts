/** From the engine's events to RAGFlow's: the one place that knows both. */
import { Observable, type OperatorFunction } from 'rxjs';
import type {
  NodeDelta,
  NodeFailed,
  NodeHeader,
  NodeNotice,
  NodeStarted,
  PendingQuestion,
  RunEvent,
} from '../graph/events.js';
import { findNode, type Node, type Plan } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { readTurnInput } from './conversation.js';

/** Names of RAGFlow's events. */
export type WireEventName =
  | 'workflow_started'
  | 'node_started'
  | 'message'
  | 'message_end'
  | 'node_finished'
  | 'user_inputs'
  | 'workflow_finished'
  | 'error';

/** What all events of a run share. */
export interface WireHeader {
  readonly message_id: string;
  /** Seconds since 1970, at the start of the run. */
  readonly created_at: number;
  readonly task_id: string;
  readonly session_id: string;
}

/** One event as RAGFlow's clients read it. */
export interface WireEvent extends WireHeader {
  readonly event: WireEventName;
  readonly data: JsonObject;
}

/** Whose events they are. */
export interface WireContext {
  readonly plan: Plan;
  /** One per turn. */
  readonly messageId: string;
  readonly sessionId: string;
  /** @default the session id */
  readonly taskId?: string;
}

/** What RAGFlow puts into `outputs` of a cancelled run. */
export const CANCELLED = 'Task has been canceled';

/** Takes a run's events in RAGFlow's words. */
export interface WireSink {
  event(event: WireEvent): void;
  /** A piece of text: what most events are, so it comes in parts, for {@link pieceEvent} or a cheaper way. */
  piece(header: WireHeader, component: string, text: string): void;
}

/**
 * Maps a run's events to RAGFlow's, in order; some engine events have no counterpart, some have two.
 *
 * ```text
 * source    --S--s--d--e--E|     (run-started, node-started, node-delta, node-settled, run-settled)
 * result    --W--s--m--f--F|     (workflow_started, node_started, message, node_finished, workflow_finished)
 * ```
 */
export function toWireEvents(context: WireContext): OperatorFunction<RunEvent, WireEvent> {
  return (source) =>
    new Observable((subscriber) => {
      const mapper = new WireMapper(context, {
        event: (event) => subscriber.next(event),
        piece: (header, component, text) => subscriber.next(pieceEvent(header, component, text)),
      });
      return source.subscribe({
        next: (event) => mapper.map(event),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}

/** The event of a piece of text. */
export function pieceEvent(header: WireHeader, component: string, text: string): WireEvent {
  return eventOf(header, 'message', { content: text, component_id: component });
}

/** A fold over the events of one run; {@link toWireEvents} as an object. */
export class WireMapper {
  readonly #context: WireContext;
  readonly #sink: WireSink;
  readonly #usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, calls: 0 };
  /** Tokens whose last piece was reasoning. */
  readonly #thinking = new Set<number>();
  #inputs: JsonObject = {};
  #header: WireHeader;

  constructor(context: WireContext, sink: WireSink) {
    this.#context = context;
    this.#sink = sink;
    this.#header = headerOf(context, 0);
  }

  map(event: RunEvent): void {
    switch (event.type) {
      case 'run-started':
        this.#header = headerOf(this.#context, event.at);
        this.#inputs = readTurnInput(event.input).inputs;
        if (!event.resumed) this.#send('workflow_started', { inputs: this.#inputs });
        return;
      case 'node-started':
        // RAGFlow reports a container once, however often its body waited for answers in between.
        if (event.resumed === true) return;
        this.#started(event);
        return;
      case 'node-delta':
        this.#delta(event);
        return;
      case 'node-notice':
        this.#notice(event);
        return;
      case 'node-usage':
        this.#usage.prompt_tokens += event.promptTokens;
        this.#usage.completion_tokens += event.completionTokens;
        this.#usage.total_tokens += event.totalTokens;
        this.#usage.calls += 1;
        return;
      case 'node-settled':
        this.#endThinking(event);
        this.#finished(event, event.outputs, null);
        return;
      case 'node-failed':
        this.#failed(event);
        return;
      case 'run-interrupted':
        this.#send('user_inputs', mergeForms(event.pending));
        return;
      case 'run-settled':
        this.#workflowFinished(event.outputs, event.at, event.elapsedMs);
        return;
      case 'run-cancelled':
        this.#workflowFinished(CANCELLED, event.at, event.elapsedMs);
        return;
      case 'run-failed':
        this.#send('error', { ...event.error });
        return;
      case 'node-skipped':
      case 'node-interrupted':
        return;
    }
  }

  #started(event: NodeStarted): void {
    const node = this.#node(event);
    this.#send('node_started', {
      inputs: null,
      created_at: seconds(event.at),
      component_id: event.node,
      component_name: node?.name ?? event.node,
      component_type: node?.type ?? '',
      thoughts: node?.thoughts ?? '',
    });
  }

  #delta(event: NodeDelta): void {
    if (this.#node(event)?.speaks !== true) return;
    if (event.port !== 'thinking') this.#endThinking(event);
    else if (!this.#thinking.has(event.token)) {
      this.#thinking.add(event.token);
      this.#send('message', { content: '', start_to_think: true, component_id: event.node });
    }
    this.#sink.piece(this.#header, event.node, event.text);
  }

  #endThinking(event: NodeHeader): void {
    if (this.#thinking.size === 0 || !this.#thinking.delete(event.token)) return;
    this.#send('message', { content: '', end_to_think: true, component_id: event.node });
  }

  #notice(event: NodeNotice): void {
    if (event.name === 'message_end') {
      this.#endThinking(event);
      this.#send('message_end', { ...event.data, component_id: event.node });
    } else if (event.name === 'audio') {
      this.#send('message', { content: '', ...event.data, component_id: event.node });
    }
  }

  #failed(event: NodeFailed): void {
    if (event.then === 'retry') return;
    this.#endThinking(event);
    this.#finished(event, event.outputs, event.error.message);
  }

  #finished(event: NodeHeader & { readonly elapsedMs: number }, outputs: JsonObject, error: string | null): void {
    const node = this.#node(event);
    const data = {
      inputs: {},
      outputs,
      component_id: event.node,
      component_name: node?.name ?? event.node,
      component_type: node?.type ?? '',
      error,
      elapsed_time: event.elapsedMs / 1000,
      created_at: seconds(event.at),
    };
    this.#send('node_finished', event.within === undefined ? data : { ...data, within: event.within });
  }

  #workflowFinished(outputs: Json, at: number, elapsedMs: number): void {
    this.#send('workflow_finished', {
      inputs: this.#inputs,
      outputs,
      elapsed_time: elapsedMs / 1000,
      created_at: seconds(at),
      usage: { ...this.#usage },
    });
  }

  #node(event: NodeHeader): Node | undefined {
    return findNode(this.#context.plan, event.node);
  }

  #send(event: WireEventName, data: JsonObject): void {
    this.#sink.event(eventOf(this.#header, event, data));
  }
}

function headerOf({ messageId, sessionId, taskId }: WireContext, startedAt: number): WireHeader {
  return {
    message_id: messageId,
    created_at: seconds(startedAt),
    task_id: taskId ?? sessionId,
    session_id: sessionId,
  };
}

/** Field by field: a spread costs several times as much. */
function eventOf(header: WireHeader, event: WireEventName, data: JsonObject): WireEvent {
  const { message_id, created_at, task_id, session_id } = header;
  return { event, message_id, created_at, task_id, session_id, data };
}

/**
 * All waiting forms as one: RAGFlow's clients show a single form, so fields are merged (the later form wins a name) and the
 * last tips are shown; `forms` keeps them apart for clients that can.
 */
function mergeForms(pending: readonly PendingQuestion[]): JsonObject {
  const forms = pending.map(({ node, payload }) => ({
    cpn_id: node,
    inputs: isJsonObject(payload.inputs) ? payload.inputs : {},
    tips: typeof payload.tips === 'string' ? payload.tips : '',
  }));
  const last = forms[forms.length - 1];
  return {
    inputs: Object.assign({}, ...forms.map(({ inputs }) => inputs)) as JsonObject,
    tips: forms.findLast(({ tips }) => tips !== '')?.tips ?? '',
    ...(last === undefined ? {} : { cpn_id: last.cpn_id }),
    forms,
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
