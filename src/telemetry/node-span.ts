/** The span of a node with those of its calls. */

import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { ErrorInfo } from '../graph/events.js';
import type { CallEnd, CallReport, CallStart } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import { type ResearchPart, ResearchSpans } from './research-spans.js';
import { ATTRIBUTE, boundedAttributes, CALL, type Moment, shortened } from './span-attributes.js';

/** Calls of one node that may be open at once; further ones have no span of their own. */
const MAX_OPEN_CALLS = 1_000;

/** Numbers of stages. */
const MAX_STAGES = 8;

/** Longest text of an error, in characters. */
const MAX_ERROR = 1_000;

/** A call that has not ended. */
interface OpenCall {
  readonly span: Span;
  readonly context: Context;
  /** What of a research it is part of. */
  readonly part: ResearchPart | undefined;
}

/** The span of one activation, with those of its calls. */
export class NodeSpan {
  readonly span: Span;
  /** Whether it reads text of a node that is still at work. */
  isFedLive = false;
  readonly #tracer: Tracer;
  readonly #moment: Moment;
  readonly #around: NodeSpan | undefined;
  readonly #parent: Context;
  /** Made on first use: most nodes make no calls. */
  #context: Context | undefined = undefined;
  /** Nodes of its body that are running: leaving a body early stops them without an event. */
  #inside: Set<NodeSpan> | undefined = undefined;
  #calls: Map<string, OpenCall> | undefined = undefined;
  /** Stages of a chat at work, by their numbers. */
  #stages: Map<number, Span> | undefined = undefined;
  #research: ResearchSpans | undefined = undefined;
  #hasCalled = false;
  #streamed = 0;
  #isOver = false;

  constructor(tracer: Tracer, moment: Moment, span: Span, parent: Context, around: NodeSpan | undefined) {
    this.#tracer = tracer;
    this.#moment = moment;
    this.span = span;
    this.#parent = parent;
    this.#around = around;
    if (around !== undefined) around.#takeIn(this);
  }

  /** What lies within it is started in this. */
  get context(): Context {
    this.#context ??= trace.setSpan(this.#parent, this.span);
    return this.#context;
  }

  /** The context of one of its calls, its own when there is no such call. */
  contextOf(call: string | undefined): Context {
    return (call === undefined ? undefined : this.#calls?.get(call)?.context) ?? this.context;
  }

  /** A piece of text came. */
  streamed(characters: number): void {
    if (this.#streamed === 0) this.span.addEvent(ATTRIBUTE.streamStart, this.#moment.at);
    this.#streamed += characters;
  }

  /** Tokens of a model; with a span for the call they stand there, and would be counted twice. */
  used(promptTokens: number, completionTokens: number): void {
    if (this.#hasCalled) return;
    this.span.setAttributes({ [ATTRIBUTE.inputTokens]: promptTokens, [ATTRIBUTE.outputTokens]: completionTokens });
  }

  call(report: CallReport): void {
    if (report.type === 'started') this.#callStarted(report);
    else if (report.type === 'finished') this.#callFinished(report);
    else {
      const span = this.#calls?.get(report.id)?.span ?? this.span;
      span.addEvent(shortened(report.name), boundedAttributes(report.attributes), this.#moment.at);
    }
  }

  /** A chat tells of its stages; other events have no span. */
  chat({ type, stage, name, status, kind }: JsonObject): void {
    if (type === 'shortcut') this.span.setAttribute(ATTRIBUTE.shortcut, shortened(String(kind)));
    if (typeof stage !== 'number' || stage < 1 || stage > MAX_STAGES) return;
    if (type === 'stage_start') {
      this.#stages ??= new Map();
      if (this.#stages.has(stage)) return;
      const attributes = { [ATTRIBUTE.stage]: stage };
      const about = { startTime: this.#moment.at, kind: SpanKind.INTERNAL, attributes };
      this.#stages.set(stage, this.#tracer.startSpan(`stage ${shortened(String(name))}`, about, this.context));
    } else if (type === 'stage_end') {
      const span = this.#stages?.get(stage);
      span?.setAttribute(ATTRIBUTE.stageStatus, shortened(String(status)));
      span?.end(this.#moment.at);
      this.#stages?.delete(stage);
    }
  }

  /** A research tells what happens. */
  research(event: JsonObject): void {
    this.#research ??= new ResearchSpans(this.#tracer, this.#moment, this);
    this.#research.told(event);
  }

  /** The node has settled. */
  settled(outputs: JsonObject): void {
    this.#research?.settled(outputs);
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stages !== undefined) for (const span of this.#stages.values()) stopped(span, this.#moment);
    if (this.#inside !== undefined) for (const node of [...this.#inside]) node.stop();
    if (this.#calls !== undefined) for (const { span } of this.#calls.values()) stopped(span, this.#moment);
    this.#research?.end();
    if (this.#streamed > 0)
      this.span.addEvent(ATTRIBUTE.streamEnd, { [ATTRIBUTE.streamSize]: this.#streamed }, this.#moment.at);
    if (this.#around !== undefined) this.#around.#inside?.delete(this);
    this.span.end(this.#moment.at);
  }

  /** Ends the span of a node that was stopped: its run was, or its body was left. */
  stop(): void {
    if (this.#isOver) return;
    this.span.setAttribute(ATTRIBUTE.isStopped, true);
    this.end();
  }

  #takeIn(node: NodeSpan): void {
    this.#inside ??= new Set();
    this.#inside.add(node);
  }

  #callStarted({ id, kind, name, parent, attributes }: CallStart): void {
    this.#hasCalled = true;
    this.#calls ??= new Map();
    if (this.#calls.size >= MAX_OPEN_CALLS || this.#calls.has(id)) return;
    const part = parent === undefined ? this.#research?.partOf(attributes) : undefined;
    const around = part?.context ?? this.contextOf(parent);
    const { operation, name: nameAttribute } = CALL[kind];
    const shown = shortened(name);
    const span = this.#tracer.startSpan(
      `${operation} ${shown}`,
      {
        startTime: this.#moment.at,
        kind: kind === 'model' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        attributes: {
          [ATTRIBUTE.operation]: operation,
          [nameAttribute]: shown,
          ...boundedAttributes(attributes),
        },
      },
      around,
    );
    this.#calls.set(id, { span, context: trace.setSpan(around, span), part });
  }

  #callFinished(end: CallEnd): void {
    const { id, error, usage, attributes } = end;
    const open = this.#calls?.get(id);
    if (open === undefined) return;
    const { span, part } = open;
    this.#calls?.delete(id);
    if (part !== undefined) this.#research?.took(part, end);
    span.setAttributes(boundedAttributes(attributes));
    if (usage !== undefined) {
      span.setAttribute(ATTRIBUTE.inputTokens, usage.promptTokens);
      span.setAttribute(ATTRIBUTE.outputTokens, usage.completionTokens);
    }
    if (error !== undefined) recordError(span, error, this.#moment);
    span.end(this.#moment.at);
  }
}

/** Marks a span as failed, with the error as one of its events. */
export function recordError(span: Span, { code, message }: Pick<ErrorInfo, 'code' | 'message'>, { at }: Moment): void {
  const text = shortened(message, MAX_ERROR);
  span.recordException({ name: code, message: text }, at);
  span.setAttributes({ [ATTRIBUTE.errorType]: code, [ATTRIBUTE.errorMessage]: text });
  span.setStatus({ code: SpanStatusCode.ERROR, message: text });
}

function stopped(span: Span, { at }: Moment): void {
  span.setAttribute(ATTRIBUTE.isStopped, true);
  span.end(at);
}
