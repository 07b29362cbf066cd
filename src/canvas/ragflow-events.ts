/**
 * RAGFlow's events as a projection of the engine's. With `read-ragflow-events.ts`, which reads them back, the only file that knows
 * their names.
 *
 * What an engine event becomes depends on that event and the constants of its run alone, so a client can start at any event of a log.
 * An engine event becomes at most one event of RAGFlow's, under the same number; those without a counterpart leave gaps.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import { shownMessage } from '../errors.js';
import type { CallSummary } from '../graph/calls.js';
import type {
  CallsOfNode,
  NodeDelta,
  NodeFailed,
  NodeHeader,
  NodeNotice,
  NodeSettled,
  NodeStarted,
  PendingQuestion,
  RunEndFields,
  RunEvent,
  RunFailed,
  RunStarted,
  RunUsage,
} from '../graph/events.js';
import { findNode, type Node, type Plan } from '../graph/plan.js';
import { escapeJson, isJsonObject, type Json, type JsonObject } from '../json.js';
import { readTurnInput } from './conversation.js';

/** Names of RAGFlow's events, and one of ours: a node starts anew because its process was lost. */
export type WireEventName =
  | 'workflow_started'
  | 'node_started'
  | 'message'
  | 'message_end'
  | 'node_finished'
  | 'node_restarted'
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

/** The constants of a run that its events do not carry. */
export interface WireContext {
  /** Undefined when it is not known any more: nodes then have no names but their ids, and all text belongs to the answer. */
  readonly plan: Plan | undefined;
  /** One per turn. */
  readonly messageId: string;
  readonly sessionId: string;
  /** @default the session id */
  readonly taskId?: string;
  /** Milliseconds since 1970, at the first start of the run. */
  readonly startedAt: number;
  /** The run resumes an earlier one; matters only when its first event was lost with its process. @default false */
  readonly resumes?: boolean;
}

/** What RAGFlow puts into `outputs` of a cancelled run. */
export const CANCELLED = 'Task has been canceled';

/** What the end of a message is called, also in timelines. */
export const MESSAGE_END = 'message_end' satisfies WireEventName;

/**
 * Projects a run's events to RAGFlow's, in order.
 *
 * ```text
 * source    --S--s--d--u--e--E|     (run-started, node-started, node-delta, node-usage, node-settled, run-settled)
 * result    --W--s--m-----f--F|     (workflow_started, node_started, message, node_finished, workflow_finished)
 * ```
 */
export function toWireEvents(
  context: Omit<WireContext, 'startedAt'> & { readonly startedAt?: number },
): OperatorFunction<RunEvent, WireEvent> {
  return (source) =>
    new Observable((subscriber) => {
      let projection: RagflowProjection | undefined;
      return source.subscribe({
        next: (event) => {
          projection ??= new RagflowProjection({ startedAt: event.at, ...context });
          const wire = projection.project(event);
          if (wire !== undefined) subscriber.next(wire);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}

/** The events of one run in RAGFlow's format, as objects and as JSON. Stateless but for text that many events share. */
export class RagflowProjection {
  readonly #plan: Plan | undefined;
  readonly #resumes: boolean;
  readonly #header: WireHeader;
  /** The header as JSON, without braces. */
  readonly #headerText: string;
  /** Of nodes outside of bodies. */
  readonly #shapes = new Map<string, PieceShape>();
  /** Of the last piece: most follow one of the same node. */
  #shape: PieceShape | undefined = undefined;

  constructor({ plan, messageId, sessionId, taskId = sessionId, startedAt, resumes = false }: WireContext) {
    this.#plan = plan;
    this.#resumes = resumes;
    this.#header = {
      message_id: messageId,
      created_at: seconds(startedAt),
      task_id: taskId,
      session_id: sessionId,
    };
    this.#headerText = JSON.stringify(this.#header).slice(1, -1);
  }

  /** Whether the text of a node belongs to the answer. */
  speaks(node: string): boolean {
    return this.#plan === undefined || findNode(this.#plan, node)?.speaks === true;
  }

  /** Type and name of a node; undefined for one that is not in the plan. */
  describe(node: string): { readonly type: string; readonly name: string } | undefined {
    const found = this.#find(node);
    return found && { type: found.type, name: found.name };
  }

  /** RAGFlow's event; undefined when it has none. */
  project(event: RunEvent): WireEvent | undefined {
    switch (event.type) {
      case 'run-started':
        return this.#continues(event)
          ? undefined
          : this.#event('workflow_started', { inputs: readTurnInput(event.input).inputs });
      case 'node-started':
        return this.#started(event);
      case 'node-delta':
        return this.speaks(event.node)
          ? this.#event('message', { content: event.text, ...speakerOf(event) })
          : undefined;
      case 'node-thinking': {
        if (!this.speaks(event.node)) return undefined;
        const mark = event.phase === 'started' ? { start_to_think: true } : { end_to_think: true };
        return this.#event('message', { content: '', ...mark, ...speakerOf(event) });
      }
      case 'node-notice':
        return this.#notice(event);
      case 'node-settled':
        return this.#finished(event, null);
      case 'node-failed':
        return event.then === 'retry' ? undefined : this.#finished(event, event.error.message);
      case 'run-interrupted':
        return this.#event('user_inputs', { ...mergeForms(event.pending), ...openCallsOf(event) });
      case 'run-settled':
        return this.#workflowFinished(event, event.outputs);
      case 'run-cancelled':
        return this.#workflowFinished(event, CANCELLED);
      case 'run-failed':
        return this.#event('error', { ...event.error, ...openCallsOf(event) });
      case 'node-call':
      case 'node-usage':
      case 'node-progress':
      case 'node-streaming':
      case 'node-chunk':
      case 'node-patched':
      case 'node-skipped':
      case 'node-interrupted':
      case 'body-opened':
      case 'body-resumed':
      case 'body-closed':
        return undefined;
      default:
        // Of a later version, or forged.
        event satisfies never;
        return undefined;
    }
  }

  /** {@link project} as JSON without line ends; the failure of a run is RAGFlow's code-500 frame. */
  write(event: RunEvent): string | undefined {
    if (event.type === 'node-delta') return this.writeText(event, event.text);
    if (event.type === 'run-failed') return JSON.stringify(this.#failureFrame(event));
    const wire = this.project(event);
    return wire && `{"event":"${wire.event}",${this.#headerText},"data":${JSON.stringify(wire.data)}}`;
  }

  /** A run that resumes an earlier one, or was recovered after its first event was stored, continues a workflow. */
  #continues({ resumed, recovered, seq }: RunStarted): boolean {
    return recovered === true ? this.#resumes || seq > 1 : resumed;
  }

  #started(event: NodeStarted): WireEvent | undefined {
    // RAGFlow reports a container once, however often its body waited for answers in between.
    if (event.resumed === true) return undefined;
    const { node: component_id, retractFrom } = event;
    if (retractFrom !== undefined) {
      return this.#event('node_restarted', { component_id, retract_from: retractFrom, ...placeOf(event) });
    }
    const node = this.#find(component_id);
    return this.#event('node_started', {
      inputs: null,
      created_at: seconds(event.at),
      component_id,
      component_name: node?.name ?? component_id,
      component_type: node?.type ?? '',
      thoughts: node?.thoughts ?? '',
      ...placeOf(event),
    });
  }

  #notice(event: NodeNotice): WireEvent | undefined {
    if (event.name === 'message-ended') return this.#event(MESSAGE_END, { ...event.data, ...speakerOf(event) });
    if (event.name === 'audio') return this.#event('message', { content: '', ...event.data, ...speakerOf(event) });
    return undefined;
  }

  #finished(event: NodeSettled | NodeFailed, error: string | null): WireEvent {
    const { node: component_id, outputs, elapsedMs, at } = event;
    const node = this.#find(component_id);
    return this.#event('node_finished', {
      inputs: {},
      outputs,
      component_id,
      component_name: node?.name ?? component_id,
      component_type: node?.type ?? '',
      error,
      elapsed_time: elapsedMs / 1000,
      created_at: seconds(at),
      ...callsOf(event),
      ...placeOf(event),
    });
  }

  #workflowFinished(event: RunEndFields & { readonly at: number }, outputs: Json): WireEvent {
    return this.#event('workflow_finished', {
      inputs: readTurnInput(event.input).inputs,
      outputs,
      elapsed_time: event.elapsedMs / 1000,
      created_at: seconds(event.at),
      usage: { ...tokensOf(event.usage), calls: event.usage.calls },
      ...openCallsOf(event),
    });
  }

  /** RAGFlow's frame for a run that failed; `error` names the code, `calls` what nodes were calling then. */
  #failureFrame(event: RunFailed): JsonObject {
    const { task_id, session_id } = this.#header;
    return {
      code: 500,
      message: shownMessage(event.error),
      data: false,
      task_id,
      session_id,
      error: event.error.code,
      ...openCallsOf(event),
    };
  }

  /** As {@link write} for a piece of text of a node; most events are, so they take two concatenations each. */
  writeText({ node, within }: Pick<NodeDelta, 'node' | 'within'>, text: string): string | undefined {
    let shape = this.#shape;
    if (shape?.node !== node || shape.within !== within) {
      shape = (within === undefined ? this.#shapes.get(node) : undefined) ?? this.#createShape(node, within);
      this.#shape = shape;
    }
    return shape.isSilent ? undefined : shape.before + escapeJson(text) + shape.after;
  }

  #createShape(node: string, within: string | undefined): PieceShape {
    const speaker = within === undefined ? { node } : { node, within };
    const tail = `","component_id":${JSON.stringify(node)}${within === undefined ? '' : `,"within":${JSON.stringify(within)}`}}}`;
    const shape: PieceShape = {
      ...speaker,
      within,
      isSilent: !this.speaks(node),
      before: `{"event":"message",${this.#headerText},"data":{"content":"`,
      after: tail,
    };
    if (within === undefined) this.#shapes.set(node, shape);
    return shape;
  }

  #find(node: string): Node | undefined {
    return this.#plan && findNode(this.#plan, node);
  }

  /** Field by field: a spread costs several times as much. */
  #event(event: WireEventName, data: JsonObject): WireEvent {
    const { message_id, created_at, task_id, session_id } = this.#header;
    return { event, message_id, created_at, task_id, session_id, data };
  }
}

/** What the pieces of one node share. */
interface PieceShape {
  readonly node: string;
  readonly within: string | undefined;
  /** Its text is no part of the answer. */
  readonly isSilent: boolean;
  /** The JSON of a piece before and after its text. */
  readonly before: string;
  readonly after: string;
}

/** All waiting forms as one: see {@link WaitingForms}. */
export function mergeForms(pending: readonly PendingQuestion[]): WaitingForms {
  const forms = pending.map(({ node, within, token, payload }) => ({
    cpn_id: node,
    form_id: `${node}#${token}`,
    ...(within === undefined ? {} : { within }),
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

/**
 * RAGFlow's clients show a single form, so fields are merged (the later form wins a name) and the last tips are shown; `forms`
 * keeps them apart for clients that can, and answers that are given under a `form_id` reach that form alone.
 */
export type WaitingForms = {
  readonly inputs: JsonObject;
  readonly tips: string;
  readonly cpn_id?: string;
  readonly forms: readonly JsonObject[];
};

/** A call as JSON; times in milliseconds since 1970. */
export function writeCall({ id, kind, name, parent, status, error, usage, ...times }: CallSummary): JsonObject {
  return {
    id,
    kind,
    name,
    ...(parent !== undefined && { parent }),
    status,
    ...(error !== undefined && { error }),
    started_at: times.startedAtMs,
    ...(times.firstPieceAtMs !== undefined && { first_piece_at: times.firstPieceAtMs }),
    ...(times.endedAtMs !== undefined && { ended_at: times.endedAtMs }),
    ...(usage && { usage: tokensOf(usage) }),
  };
}

function tokensOf({ promptTokens, completionTokens, totalTokens }: Omit<RunUsage, 'calls'>): JsonObject {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens };
}

function callsOf({ toolCalls, calls, callsOmitted }: CallsOfNode): JsonObject {
  if (toolCalls === undefined && calls === undefined && callsOmitted === undefined) return NOTHING;
  return {
    ...(toolCalls !== undefined && { tool_calls: toolCalls }),
    ...(calls !== undefined && { calls: calls.map(writeCall) }),
    ...(callsOmitted !== undefined && { calls_omitted: callsOmitted }),
  };
}

function openCallsOf({ openCalls }: RunEndFields): JsonObject {
  if (openCalls === undefined) return NOTHING;
  return { calls: openCalls.map(({ node, token, ...call }) => ({ component_id: node, token, ...writeCall(call) })) };
}

const NOTHING: JsonObject = {};

/** Whose text it is; in a body one node speaks for several rounds at once. */
function speakerOf({ node, within }: Pick<NodeHeader, 'node' | 'within'>): JsonObject {
  return within === undefined ? { component_id: node } : { component_id: node, within };
}

/** When and where something of a node happened, which RAGFlow's own fields do not say. */
function placeOf({ at, token, within }: NodeHeader): JsonObject {
  return within === undefined ? { at_ms: at, token } : { at_ms: at, token, within };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
