/** From the engine's events to RAGFlow's: the one place that knows both. */
import { Observable, type OperatorFunction } from 'rxjs';
import type {
  NodeDelta,
  NodeFailed,
  NodeHeader,
  NodeNotice,
  NodeStarted,
  RunEvent,
  RunStarted,
} from '../graph/events.js';
import { findNode, type Node, type Plan } from '../graph/plan.js';
import type { Json, JsonObject } from '../json.js';
import { readTurnInput } from './conversation.js';
import { mergeForms } from './merge-forms.js';
import { type WorkingNode, WorkingNodes } from './wire-calls.js';
import {
  eventOf,
  pieceEvent,
  type Speaker,
  speakerOf,
  type WireEvent,
  type WireEventName,
  type WireHeader,
} from './wire-event.js';
import type { WirePast } from './wire-past.js';

/** Whose events they are. */
export interface WireContext {
  readonly plan: Plan;
  /** One per turn. */
  readonly messageId: string;
  readonly sessionId: string;
  /** @default the session id */
  readonly taskId?: string;
  /** Given when a lost run goes on. */
  readonly past?: WirePast | undefined;
}

/** What RAGFlow puts into `outputs` of a cancelled run. */
export const CANCELLED = 'Task has been canceled';

/** Takes a run's events in RAGFlow's words. */
export interface WireSink {
  event(event: WireEvent): void;
  /** A piece of text: what most events are, so it comes in parts, for {@link pieceEvent} or a cheaper way. */
  piece(header: WireHeader, speaker: Speaker, text: string): void;
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
        piece: (header, speaker, text) => subscriber.next(pieceEvent(header, speaker, text)),
      });
      return source.subscribe({
        next: (event) => mapper.map(event),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}

/** A fold over the events of one run; {@link toWireEvents} as an object. */
export class WireMapper {
  readonly #context: WireContext;
  readonly #sink: WireSink;
  readonly #usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; calls: number };
  /** What nodes called that are still at work. */
  readonly #working = new WorkingNodes();
  /** Tokens whose last piece was reasoning. */
  readonly #thinking = new Set<number>();
  #inputs: JsonObject = {};
  #header: WireHeader;

  constructor(context: WireContext, sink: WireSink) {
    this.#context = context;
    this.#sink = sink;
    this.#header = headerOf(context, 0);
    const { promptTokens = 0, completionTokens = 0, totalTokens = 0, calls = 0 } = context.past?.usage ?? {};
    this.#usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: totalTokens,
      calls,
    };
  }

  /** What nodes called so far that are still at work; their ends will tell it. */
  get working(): readonly WorkingNode[] {
    return this.#working.list;
  }

  map(event: RunEvent): void {
    switch (event.type) {
      case 'run-started':
        this.#runStarted(event);
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
        this.#send('user_inputs', { ...mergeForms(event.pending), ...this.#working.takeRest(event.at) });
        return;
      case 'run-settled':
        this.#workflowFinished(event.outputs, event.at, event.elapsedMs);
        return;
      case 'run-cancelled':
        this.#workflowFinished(CANCELLED, event.at, event.elapsedMs);
        return;
      case 'run-failed':
        this.#send('error', { ...event.error, ...this.#working.takeRest(event.at) });
        return;
      case 'node-call':
        this.#working.call(event);
        return;
      case 'node-thinking':
      case 'node-progress':
      case 'node-streaming':
      case 'node-skipped':
      case 'node-interrupted':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return;
    }
  }

  #runStarted({ at, input, resumed }: RunStarted): void {
    const { past } = this.#context;
    this.#header = headerOf(this.#context, at);
    this.#inputs = readTurnInput(input).inputs;
    const isNew = past === undefined ? !resumed : !past.hasBegun;
    if (isNew) this.#send('workflow_started', { inputs: this.#inputs });
  }

  #started(event: NodeStarted): void {
    const start = this.#context.past?.takeStart(event.node, event.within);
    if (start !== undefined) {
      this.#send('node_restarted', { component_id: event.node, retract_from: start, ...placeOf(event) });
      return;
    }
    const node = this.#node(event);
    this.#send('node_started', {
      inputs: null,
      created_at: seconds(event.at),
      component_id: event.node,
      component_name: node?.name ?? event.node,
      component_type: node?.type ?? '',
      thoughts: node?.thoughts ?? '',
      ...placeOf(event),
    });
  }

  #delta(event: NodeDelta): void {
    if (this.#node(event)?.speaks !== true) return;
    if (event.port !== 'thinking') this.#endThinking(event);
    else if (!this.#thinking.has(event.token)) {
      this.#thinking.add(event.token);
      this.#send('message', { content: '', start_to_think: true, ...speakerOf(event) });
    }
    this.#sink.piece(this.#header, event, event.text);
  }

  #endThinking(event: NodeHeader): void {
    if (this.#thinking.size === 0 || !this.#thinking.delete(event.token)) return;
    this.#send('message', { content: '', end_to_think: true, ...speakerOf(event) });
  }

  #notice(event: NodeNotice): void {
    if (event.name === 'message-ended') {
      this.#endThinking(event);
      this.#send('message_end', { ...event.data, ...speakerOf(event) });
    } else if (event.name === 'audio') {
      this.#send('message', { content: '', ...event.data, ...speakerOf(event) });
    } else this.#working.notice(event);
  }

  #failed(event: NodeFailed): void {
    if (event.then === 'retry') {
      this.#working.retried(event);
      return;
    }
    this.#endThinking(event);
    this.#finished(event, event.outputs, event.error.message);
  }

  #finished(event: NodeHeader & { readonly elapsedMs: number }, outputs: JsonObject, error: string | null): void {
    const node = this.#node(event);
    this.#send('node_finished', {
      inputs: {},
      outputs,
      component_id: event.node,
      component_name: node?.name ?? event.node,
      component_type: node?.type ?? '',
      error,
      elapsed_time: event.elapsedMs / 1000,
      created_at: seconds(event.at),
      ...this.#working.take(event),
      ...placeOf(event),
    });
  }

  #workflowFinished(outputs: Json, at: number, ownMs: number): void {
    const { past } = this.#context;
    const elapsedMs = past === undefined ? ownMs : Math.max(0, at - past.startedAt);
    this.#send('workflow_finished', {
      inputs: this.#inputs,
      outputs,
      elapsed_time: elapsedMs / 1000,
      created_at: seconds(at),
      usage: { ...this.#usage },
      ...this.#working.takeRest(at),
    });
  }

  #node(event: NodeHeader): Node | undefined {
    return findNode(this.#context.plan, event.node);
  }

  #send(event: WireEventName, data: JsonObject): void {
    this.#sink.event(eventOf(this.#header, event, data));
  }
}

function headerOf({ messageId, sessionId, taskId, past }: WireContext, startedAt: number): WireHeader {
  return {
    message_id: messageId,
    created_at: past?.createdAt ?? seconds(startedAt),
    task_id: taskId ?? sessionId,
    session_id: sessionId,
  };
}

/** When and where something of a node happened: what the rest of RAGFlow's words does not tell. */
function placeOf({ at, token, within }: NodeHeader): JsonObject {
  return { at_ms: at, token, ...(within === undefined ? {} : { within }) };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
