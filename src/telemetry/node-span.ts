/** The span of a node with those of its calls, and the names of all attributes in one place: dashboards are built on them. */

import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { ErrorInfo } from '../graph/events.js';
import type { CallAttributes, CallEnd, CallKind, CallReport, CallStart } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';

/** Attributes and events of nodes, as RAGFlow names them, and ours. */
export const ATTRIBUTE = {
  componentName: 'eino.component.name',
  componentType: 'eino.component.type',
  inputSize: 'eino.input.size',
  outputSize: 'eino.output.size',
  errorMessage: 'eino.error.message',
  streamStart: 'eino.stream.output.start',
  streamEnd: 'eino.stream.output.end',
  streamSize: 'eino.stream.output.size',
  errorType: 'error.type',
  node: 'runnel.node.id',
  within: 'runnel.node.within',
  attempt: 'runnel.node.attempt',
  continuation: 'runnel.node.then',
  isStopped: 'runnel.stopped',
  run: 'runnel.run.id',
  parentRun: 'runnel.run.parent',
  outcome: 'runnel.run.outcome',
  tenant: 'runnel.tenant.id',
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  tool: 'gen_ai.tool.name',
  model: 'gen_ai.request.model',
  conversation: 'gen_ai.conversation.id',
  session: 'session.id',
  stage: 'runnel.chat.stage',
  stageStatus: 'runnel.chat.stage.status',
  shortcut: 'runnel.chat.shortcut',
  inputText: 'input.value',
  outputText: 'output.value',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
} as const;

/** What a kind of call is in the conventions for generative AI: its operation, and the attribute with its name. */
export const CALL: Readonly<Record<CallKind, { readonly operation: string; readonly name: string }>> = {
  model: { operation: 'chat', name: ATTRIBUTE.model },
  tool: { operation: 'execute_tool', name: ATTRIBUTE.tool },
  agent: { operation: 'invoke_agent', name: ATTRIBUTE.agentName },
};

/** Longest text of an attribute, in characters. */
const MAX_TEXT = 200;

/** Attributes that one call may bring along. */
const MAX_ATTRIBUTES = 32;

/** A text, cut to what an attribute may have. */
export function shortened(text: string, most = MAX_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Attributes that a component made, bounded. */
export function boundedAttributes(
  given: CallAttributes | undefined,
): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(given ?? {}).slice(0, MAX_ATTRIBUTES);
  return Object.fromEntries(entries.map(([name, value]) => [shortened(name), bounded(value)]));
}

function bounded(value: CallAttributes[string]): string | number | boolean | string[] {
  if (typeof value === 'string') return shortened(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.slice(0, MAX_ATTRIBUTES).map((item) => shortened(String(item))) : String(value);
}

/** Calls of one node that may be open at once; further ones have no span of their own. */
const MAX_OPEN_CALLS = 1_000;

/** Numbers of stages. */
const MAX_STAGES = 8;

/** Longest text of an error, in characters. */
const MAX_ERROR = 1_000;

/** When what is being handled happened, in milliseconds since 1970 with fractions. */
export interface Moment {
  at: number;
}

/** A call that has not ended. */
interface OpenCall {
  readonly span: Span;
  readonly context: Context;
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

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stages !== undefined) for (const span of this.#stages.values()) stopped(span, this.#moment);
    if (this.#inside !== undefined) for (const node of [...this.#inside]) node.stop();
    if (this.#calls !== undefined) for (const { span } of this.#calls.values()) stopped(span, this.#moment);
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
    const around = this.contextOf(parent);
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
    this.#calls.set(id, { span, context: trace.setSpan(around, span) });
  }

  #callFinished({ id, error, usage, attributes }: CallEnd): void {
    const span = this.#calls?.get(id)?.span;
    if (span === undefined) return;
    this.#calls?.delete(id);
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
