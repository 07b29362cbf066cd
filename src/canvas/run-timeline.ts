/**
 * What a run did, over time: when each node began and ended, what it said in between, and what that cost.
 *
 * Folded from events alone, the engine's or RAGFlow's, so that a timeline can be had of any run whose log is kept.
 */
import type { NodeFailed, NodeHeader, RunEvent } from '../graph/events.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { RunTimeline, TimelineEvent } from './timeline.js';
import { type NodeAt, TimelineNodes } from './timeline-nodes.js';
import { readCalls } from './wire-calls.js';
import type { WireEvent } from './wire-event.js';

export type { CallSummary as TimelineCall } from '../graph/calls.js';
export {
  type ActivationStatus,
  MAX_ACTIVATIONS,
  MAX_EMISSIONS,
  type RunTimeline,
  type TimelineActivation,
  type TimelineEmission,
  type TimelineEvent,
  type TimelineNode,
  type TimelineUsage,
} from './timeline.js';

/**
 * The timeline of a run, from its events in order; those of a run that goes on give what is known so far.
 *
 * Pure.
 */
export function timelineOf(events: Iterable<TimelineEvent>): RunTimeline {
  const fold = new TimelineFold();
  for (const event of events) fold.add(event);
  return fold.timeline;
}

/** {@link timelineOf} for events that come one by one. */
export class TimelineFold {
  readonly #nodes = new TimelineNodes();
  /** Nodes whose pieces are reasoning at the moment, in RAGFlow's words. */
  readonly #thinking = new Set<string>();
  #seq = 0;
  /** Time of the last event that has one. */
  #now = 0;
  #startedAtMs: number | undefined = undefined;
  #isExact = false;
  #end: Pick<RunTimeline, 'status' | 'error' | 'elapsedMs'> = { status: 'running' };

  /** What is known so far. */
  get timeline(): RunTimeline {
    const { elapsedMs, ...end } = this.#end;
    const startedAtMs = this.#startedAtMs;
    const parts = { lastSeq: this.#seq, ...this.#nodes.parts };
    if (startedAtMs === undefined) return { ...end, ...parts };
    if (end.status === 'running') return { ...end, startedAtMs, ...parts };
    const took = elapsedMs ?? this.#now - startedAtMs;
    return { ...end, startedAtMs, endedAtMs: startedAtMs + took, elapsedMs: took, ...parts };
  }

  add(event: TimelineEvent): void {
    this.#seq = event.seq ?? this.#seq + 1;
    if ('type' in event) this.#addEngine(event);
    else this.#addWire(event);
  }

  #at(ms: number): void {
    this.#now = ms;
    this.#startedAtMs ??= ms;
  }

  /** The first time of RAGFlow's words is in whole seconds: the first exact one is when the run began. */
  #atExactly(ms: number): void {
    if (!this.#isExact) this.#startedAtMs = ms;
    this.#isExact = true;
    this.#at(ms);
  }

  #addEngine(event: RunEvent): void {
    this.#at(event.at);
    const { seq, at } = event;
    switch (event.type) {
      case 'run-started':
        return;
      case 'node-started':
        this.#nodes.start(nodeOf(event), { seq, at, attempt: event.attempt });
        return;
      case 'node-delta':
        this.#nodes.say(
          nodeOf(event),
          { seq, at, kind: event.port === 'thinking' ? 'thinking' : 'text' },
          event.text.length,
        );
        return;
      case 'node-call':
        this.#nodes.call(nodeOf(event), event.call, at);
        return;
      case 'node-notice': {
        const kind = event.name === 'message-ended' ? 'message_end' : event.name === 'audio' ? event.name : 'notice';
        this.#nodes.say(nodeOf(event), { seq, at, kind });
        return;
      }
      case 'node-usage':
        this.#nodes.say(nodeOf(event), { seq, at, kind: 'usage' });
        this.#nodes.count(nodeOf(event), event);
        return;
      case 'node-settled':
        this.#nodes.end(nodeOf(event), { seq, at, status: 'settled', elapsedMs: event.elapsedMs });
        return;
      case 'node-failed':
        this.#failed(event);
        return;
      case 'node-skipped':
        this.#nodes.end(nodeOf(event), { seq, at, status: 'skipped', elapsedMs: 0 });
        return;
      case 'node-interrupted':
        // A container whose body waits is at work.
        if (event.payload !== undefined) this.#nodes.end(nodeOf(event), { seq, at, status: 'waiting' });
        return;
      case 'run-interrupted':
        this.#end = { status: 'waiting', elapsedMs: event.elapsedMs };
        return;
      case 'run-settled':
        this.#end = { status: 'succeeded', elapsedMs: event.elapsedMs };
        return;
      case 'run-cancelled':
        this.#end = { status: 'cancelled', elapsedMs: event.elapsedMs };
        return;
      case 'run-failed': {
        const { code, message } = event.error;
        this.#end = { status: 'failed', error: { code, message }, elapsedMs: event.elapsedMs };
        return;
      }
      case 'node-thinking':
      case 'node-progress':
      case 'node-streaming':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return;
    }
  }

  #failed(event: NodeFailed): void {
    const { seq, at, elapsedMs, error, then } = event;
    const status = then === 'retry' ? 'retried' : 'failed';
    this.#nodes.end(nodeOf(event), { seq, at, status, elapsedMs, error: error.message });
  }

  #addWire({ event, data, created_at }: WireEvent): void {
    const seq = this.#seq;
    const of = wireNode(data);
    if (typeof data.at_ms === 'number') this.#atExactly(data.at_ms);
    else if (this.#startedAtMs === undefined) this.#at(created_at * 1000);
    const at = this.#now;
    switch (event) {
      case 'workflow_started':
        return;
      case 'node_started':
        this.#nodes.start(of, { seq, at });
        return;
      case 'node_restarted':
        this.#nodes.restart(of, numberOf(data.retract_from), { seq, at });
        return;
      case 'message':
        this.#message(of, data);
        return;
      case 'message_end':
        this.#nodes.say(of, { seq, at, kind: 'message_end' });
        return;
      case 'node_finished': {
        const error = typeof data.error === 'string' ? { error: data.error } : {};
        const status = typeof data.error === 'string' ? 'failed' : 'settled';
        this.#nodes.setCalls(of, readCalls(data.calls));
        const elapsedMs = Math.round(numberOf(data.elapsed_time) * 1000);
        this.#nodes.end(of, { seq, at, status, elapsedMs, messageEndedAt: at, ...error });
        return;
      }
      case 'user_inputs':
        this.#setRest(data);
        for (const form of Array.isArray(data.forms) ? data.forms : []) {
          if (isJsonObject(form))
            this.#nodes.end(wireNode({ ...form, component_id: form.cpn_id ?? '' }), { seq, at, status: 'waiting' });
        }
        this.#end = { status: 'waiting' };
        return;
      case 'workflow_finished': {
        // RAGFlow says a cancel in words; no node's outputs are a text.
        const status = typeof data.outputs === 'string' ? 'cancelled' : 'succeeded';
        this.#end = { status, elapsedMs: Math.round(numberOf(data.elapsed_time) * 1000) };
        this.#nodes.setUsage(usageOf(data.usage));
        this.#setRest(data);
        return;
      }
      case 'error':
        this.#end = { status: 'failed', error: { code: String(data.code), message: String(data.message) } };
        this.#setRest(data);
    }
  }

  /** What nodes called that the end of the run stopped. */
  #setRest({ calls }: JsonObject): void {
    for (const one of Array.isArray(calls) ? calls : []) {
      if (isJsonObject(one)) this.#nodes.setCalls(wireNode(one), readCalls([one]));
    }
  }

  #message(of: NodeAt, data: JsonObject): void {
    const at = { seq: this.#seq, at: this.#now };
    if (data.start_to_think === true) this.#thinking.add(of.node);
    else if (data.end_to_think === true) this.#thinking.delete(of.node);
    else if (data.audio_binary !== undefined) this.#nodes.say(of, { ...at, kind: 'audio' });
    else {
      const text = typeof data.content === 'string' ? data.content : '';
      this.#nodes.say(of, { ...at, kind: this.#thinking.has(of.node) ? 'thinking' : 'text' }, text.length);
    }
  }
}

function nodeOf({ node, within, token }: NodeHeader): NodeAt {
  return { node, token, ...(within === undefined ? {} : { within }) };
}

function wireNode(data: JsonObject): NodeAt {
  const { component_id, component_type, component_name, within, token } = data;
  return {
    node: String(component_id ?? ''),
    ...textAs('type', component_type),
    ...textAs('name', component_name),
    ...textAs('within', within),
    ...(typeof token === 'number' ? { token } : {}),
  };
}

/** A property, when there is a text for it. */
function textAs<K extends string>(key: K, value: unknown): { [P in K]?: string } {
  return typeof value === 'string' ? ({ [key]: value } as { [P in K]: string }) : {};
}

function usageOf(value: unknown) {
  const usage = isJsonObject(value) ? value : {};
  return {
    promptTokens: numberOf(usage.prompt_tokens),
    completionTokens: numberOf(usage.completion_tokens),
    totalTokens: numberOf(usage.total_tokens),
    calls: numberOf(usage.calls),
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
