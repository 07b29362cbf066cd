/** One run as one trace: a span for the run, one for each node, and within those one for each model, tool and agent called. */
import {
  type Attributes,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  isTerminal,
  type NodeFailed,
  type NodeHeader,
  type NodeNotice,
  type NodeSettled,
  type NodeStarted,
  pathOf,
  type RunEvent,
} from '../graph/events.js';
import { findNode, type Node } from '../graph/plan.js';
import { isJsonObject, type Json } from '../json.js';
import { readTraceContext, type TraceContext, type TraceSource } from '../trace-context.js';
import { CHAT_NOTICE } from './chat-meters.js';
import { NodeSpan, recordError } from './node-span.js';
import { RESEARCH_NOTICE } from './research-tally.js';
import type { RunWatch, WatchedRun } from './run-watch.js';
import { ATTRIBUTE, boundedAttributes, CALL, type Moment, shortened } from './span-attributes.js';

/** Starts the span of a run; `traceId` is wanted when no caller brings one. */
export type StartRoot = (name: string, attributes: Attributes, parent: Context, traceId: string) => Span;

/** Events that wait at most, and for how long: handled together they find code and data near, which is most of their cost. */
const MAX_PENDING = 128;
const MAX_DELAY_MS = 100;

/** Longest question or answer in a span, in characters. */
const MAX_TEXT = 10_000;

/**
 * Makes spans from the events of one run: a few events at a time, sooner when the trace context is read.
 *
 * A node's span is named by the node's id and lies in that of its container, or of the run. A run that the sampler leaves out
 * costs one span that records nothing.
 */
export class RunSpans implements RunWatch {
  readonly trace: TraceSource = { contextOf: (token, call) => this.#contextOf(token, call) };
  readonly #root: Span;
  readonly #context: Context;
  /** Nodes at work, by the number of their token. */
  readonly #nodes = new Map<number, NodeSpan>();
  readonly #showsTexts: boolean;
  /** Containers at work, by the path that their bodies' nodes have in `within`, without the round. */
  readonly #containers = new Map<string, NodeSpan>();
  /** Sizes of what nodes settled with, by index. */
  readonly #sizes = new Map<number, number>();
  readonly #isRecording: boolean;
  readonly #moment: Moment = { at: now() };
  #pending: RunEvent[] = [];
  #times: number[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  #inputSize = 0;
  #isOver = false;

  constructor(
    private readonly tracer: Tracer,
    startRoot: StartRoot,
    private readonly run: WatchedRun,
    { showsTexts = false }: { readonly showsTexts?: boolean } = {},
  ) {
    this.#showsTexts = showsTexts;
    const parent = withBaggage(propagation.extract(ROOT_CONTEXT, run.trace ?? {}), run);
    this.#root = startRoot(`invoke_agent ${run.agentId ?? 'canvas'}`, attributesOf(run), parent, run.id);
    this.#context = trace.setSpan(parent, this.#root);
    this.#isRecording = this.#root.isRecording();
  }

  /** Ids of the run's span. */
  get ids(): { readonly trace_id: string; readonly span_id: string } {
    const { traceId, spanId } = this.#root.spanContext();
    return { trace_id: traceId, span_id: spanId };
  }

  event(event: RunEvent): void {
    if (this.#isOver || !this.#isRecording) return;
    this.#pending.push(event);
    this.#times.push(now());
    if (this.#pending.length >= MAX_PENDING || isTerminal(event)) this.#drain();
    else this.#timer ??= setTimeout(this.#drainLate, MAX_DELAY_MS).unref();
  }

  readonly #drainLate = (): void => {
    try {
      this.#drain();
    } catch {
      // A timer has no caller to report to; the run continues without spans.
      this.#isOver = true;
    }
  };

  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [events, times] = [this.#pending, this.#times];
    this.#pending = [];
    this.#times = [];
    for (let at = 0; at < events.length; at += 1) {
      this.#moment.at = times[at] as number;
      this.#handle(events[at] as RunEvent);
    }
  }

  #handle(event: RunEvent): void {
    switch (event.type) {
      case 'run-started':
        this.#inputSize = sizeOf(event.input);
        this.#root.setAttribute(ATTRIBUTE.inputSize, this.#inputSize);
        this.#show(ATTRIBUTE.inputText, event.input, 'query');
        return;
      case 'node-started':
        this.#started(event);
        return;
      case 'node-delta':
        this.#nodes.get(event.token)?.streamed(event.text.length);
        return;
      case 'node-notice':
        this.#noticed(event);
        return;
      case 'node-call':
        this.#nodes.get(event.token)?.call(event.call);
        return;
      case 'node-usage':
        this.#nodes.get(event.token)?.used(event.promptTokens, event.completionTokens);
        return;
      case 'node-settled':
        this.#settled(event);
        return;
      case 'node-failed':
        this.#failed(event);
        return;
      case 'node-skipped':
        this.#root.addEvent('node_skipped', { [ATTRIBUTE.node]: shortened(event.node) }, this.#moment.at);
        return;
      case 'node-interrupted':
        // A container whose body waits is at work.
        if (event.payload === undefined) return;
        this.#root.addEvent('node_waiting', { [ATTRIBUTE.node]: shortened(event.node) }, this.#moment.at);
        this.#take(event)?.end();
        return;
      case 'run-settled':
        this.#show(ATTRIBUTE.outputText, event.outputs, 'content');
        this.#end('success');
        return;
      case 'run-interrupted':
        this.#end('waiting');
        return;
      case 'run-cancelled':
        this.#end('cancelled');
        return;
      case 'run-failed':
        recordError(this.#root, event.error, this.#moment);
        this.#end('error');
        return;
      case 'node-thinking':
      case 'node-progress':
      case 'node-streaming':
      case 'node-chunk':
      case 'node-patched':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return;
      default:
        event satisfies never;
    }
  }

  close(): void {
    this.#drain();
    this.#moment.at = now();
    this.#end('abandoned');
  }

  #contextOf(token: string, call: string | undefined): TraceContext {
    try {
      this.#drain();
      const node = this.#nodes.get(Number(token.slice(token.lastIndexOf('/') + 1)));
      const carrier: Record<string, string> = {};
      propagation.inject(node?.contextOf(call) ?? this.#context, carrier);
      return readTraceContext(carrier);
    } catch {
      // Called by a running node: an observer must never fail it.
      return {};
    }
  }

  #started(event: NodeStarted): void {
    const node = findNode(this.run.plan, event.node);
    const around = event.within === undefined ? undefined : this.#containers.get(parentOf(event.within));
    const parent = around?.context ?? this.#context;
    const span = this.tracer.startSpan(
      event.node,
      { kind: SpanKind.INTERNAL, startTime: this.#moment.at, attributes: this.#startAttributes(event, node) },
      parent,
    );
    const opened = new NodeSpan(this.tracer, this.#moment, span, parent, around);
    opened.isFedLive = node?.needs.some((needed) => !this.#sizes.has(needed)) === true;
    this.#nodes.set(event.token, opened);
    if (node?.isContainer === true) this.#containers.set(pathOf(event), opened);
  }

  #startAttributes(event: NodeStarted, node: Node | undefined): Attributes {
    const attributes: Attributes = {
      [ATTRIBUTE.componentName]: shortened(node?.name ?? event.node),
      [ATTRIBUTE.componentType]: node?.type ?? '',
      [ATTRIBUTE.inputSize]: this.#inputOf(node),
    };
    if (event.attempt > 1) attributes[ATTRIBUTE.attempt] = event.attempt;
    if (event.within !== undefined) attributes[ATTRIBUTE.within] = shortened(event.within);
    return attributes;
  }

  /** What a node reads of others; an entry reads the input of the run. */
  #inputOf(node: Node | undefined): number {
    if (node === undefined) return 0;
    if (node.predecessors.length === 0 && node.needs.length === 0) return this.#inputSize;
    let size = 0;
    for (const needed of node.needs) size += this.#sizes.get(needed) ?? 0;
    return size;
  }

  #noticed(event: NodeNotice): void {
    const node = this.#nodes.get(event.token);
    if (event.name === 'warning') {
      node?.span.addEvent('warning', { message: shortened(String(event.data.message ?? '')) }, this.#moment.at);
    } else if (event.name === CHAT_NOTICE) node?.chat(event.data);
    else if (event.name === RESEARCH_NOTICE) node?.research(event.data);
  }

  #settled(event: NodeSettled): void {
    const size = sizeOf(event.outputs);
    const known = findNode(this.run.plan, event.node);
    if (known !== undefined) this.#sizes.set(known.index, size);
    const node = this.#take(event);
    if (node === undefined) return;
    node.span.setAttribute(ATTRIBUTE.outputSize, size);
    // What came over a stream edge was not there yet when the node started.
    if (node.isFedLive) node.span.setAttribute(ATTRIBUTE.inputSize, this.#inputOf(known));
    // A default value stood in: the run continued, and yet there was an error.
    if (event.recovered !== undefined) recordError(node.span, event.recovered, this.#moment);
    node.settled(event.outputs);
  }

  #failed(event: NodeFailed): void {
    const node = this.#take(event);
    if (node === undefined) return;
    recordError(node.span, event.error, this.#moment);
    node.span.setAttribute(ATTRIBUTE.continuation, event.then);
    node.end();
  }

  /** The question or the answer of the run, where the operator wants texts in traces. */
  #show(attribute: string, value: Json, name: string): void {
    if (!this.#showsTexts || !isJsonObject(value) || !Object.hasOwn(value, name)) return;
    const text = value[name];
    if (typeof text === 'string') this.#root.setAttribute(attribute, shortened(text, MAX_TEXT));
  }

  /** The span of a node that is done. */
  #take(event: NodeHeader): NodeSpan | undefined {
    const node = this.#nodes.get(event.token);
    if (node === undefined) return undefined;
    this.#nodes.delete(event.token);
    const path = pathOf(event);
    if (this.#containers.get(path) === node) this.#containers.delete(path);
    return node;
  }

  #end(outcome: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const node of this.#nodes.values()) node.stop();
    this.#nodes.clear();
    this.#containers.clear();
    this.#root.setAttribute(ATTRIBUTE.outcome, outcome);
    this.#root.end(this.#moment.at);
  }
}

function attributesOf({ id, tenant, agentId, sessionId, parentRun }: WatchedRun): Attributes {
  return boundedAttributes({
    [ATTRIBUTE.operation]: CALL.agent.operation,
    [ATTRIBUTE.run]: id,
    ...(tenant !== undefined && { [ATTRIBUTE.tenant]: tenant }),
    ...(agentId !== undefined && { [ATTRIBUTE.agent]: agentId }),
    ...(sessionId !== undefined && { [ATTRIBUTE.conversation]: sessionId }),
    ...(parentRun !== undefined && { [ATTRIBUTE.parentRun]: parentRun }),
  });
}

/** The caller's baggage with tenant and session of the run, which the caller cannot set. */
function withBaggage(context: Context, { tenant, sessionId }: WatchedRun): Context {
  const own = {
    ...(tenant !== undefined && { [ATTRIBUTE.tenant]: { value: tenant } }),
    ...(sessionId !== undefined && { [ATTRIBUTE.session]: { value: sessionId } }),
  };
  // Ours first: a header has room for 180 entries, and a caller may send as many.
  let baggage = propagation.createBaggage(own);
  for (const [name, entry] of propagation.getBaggage(context)?.getAllEntries() ?? []) {
    if (!Object.hasOwn(own, name)) baggage = baggage.setEntry(name, entry);
  }
  return propagation.setBaggage(context, baggage);
}

/** `a/1/b/2` is the second round of `b`, which lies in the first round of `a`: its container is `a/1/b`. */
function parentOf(within: string): string {
  return within.slice(0, within.lastIndexOf('/'));
}

/** Milliseconds since 1970, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Values that are looked at; a larger value is given as what was seen of it. */
const MAX_VALUES = 1_000;

/** About how many characters a value has as JSON: exact for texts but their escapes, never more work than a thousand values. */
export function sizeOf(value: Json | undefined): number {
  let left = MAX_VALUES;
  let size = 0;
  const open: Json[] = value === undefined ? [] : [value];
  while (open.length > 0 && left > 0) {
    left -= 1;
    const next = open.pop() as Json;
    if (typeof next === 'string') size += next.length + 2;
    else if (Array.isArray(next)) size += 2 + push(open, next, left);
    else if (typeof next === 'object' && next !== null) size += 2 + pushFields(open, next as object, left);
    else size += String(next).length;
  }
  return size;
}

function push(open: Json[], items: readonly Json[], most: number): number {
  const count = Math.min(items.length, most);
  for (let at = 0; at < count; at += 1) open.push(items[at] as Json);
  return count;
}

function pushFields(open: Json[], fields: object, most: number): number {
  let size = 0;
  let count = 0;
  for (const name in fields) {
    if (count >= most) break;
    if (!Object.hasOwn(fields, name)) continue;
    count += 1;
    size += name.length + 4;
    open.push((fields as Record<string, Json>)[name] as Json);
  }
  return size;
}
