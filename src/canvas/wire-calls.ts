/** Calls of nodes as events and the API tell them. */
import { CallLog, type CallSummary } from '../graph/calls.js';
import type { NodeCall, NodeHeader, NodeNotice } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

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
    ...(usage && {
      usage: {
        prompt_tokens: usage.promptTokens,
        completion_tokens: usage.completionTokens,
        total_tokens: usage.totalTokens,
      },
    }),
  };
}

const KINDS: readonly unknown[] = ['model', 'tool', 'agent'] satisfies CallSummary['kind'][];
const STATUSES: readonly unknown[] = ['open', 'done', 'failed', 'stopped'] satisfies CallSummary['status'][];

/** Reads {@link writeCall} back; what is not whole is left out. */
export function readCalls(value: Json | undefined): readonly CallSummary[] {
  return Array.isArray(value) ? value.flatMap((one: Json) => readCall(one)) : [];
}

function readCall(value: Json): readonly CallSummary[] {
  if (!isJsonObject(value) || !isNumber(value.id) || !isNumber(value.started_at)) return [];
  const { id, kind, name, parent, status, error, usage, started_at, first_piece_at, ended_at } = value;
  if (!KINDS.includes(kind) || !STATUSES.includes(status) || typeof name !== 'string') return [];
  return [
    {
      id,
      kind: kind as CallSummary['kind'],
      name,
      ...(isNumber(parent) && { parent }),
      status: status as CallSummary['status'],
      ...(typeof error === 'string' && { error }),
      startedAtMs: started_at,
      ...(isNumber(first_piece_at) && { firstPieceAtMs: first_piece_at }),
      ...(isNumber(ended_at) && { endedAtMs: ended_at }),
      ...(isJsonObject(usage) && {
        usage: {
          promptTokens: isNumber(usage.prompt_tokens) ? usage.prompt_tokens : 0,
          completionTokens: isNumber(usage.completion_tokens) ? usage.completion_tokens : 0,
          totalTokens: isNumber(usage.total_tokens) ? usage.total_tokens : 0,
        },
      }),
    },
  ];
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** What a node that is still at work has called so far. */
export interface WorkingNode {
  readonly node: string;
  readonly within?: string;
  readonly token: number;
  readonly calls: readonly CallSummary[];
  /** Entries of the log of its tools, as the end of the node will tell them. */
  readonly toolCalls: readonly JsonObject[];
}

/** Entries of the log of tools of one node; later ones are left out. */
const MAX_TOOL_CALLS = 200;

interface Working {
  readonly at: NodeHeader;
  readonly log: CallLog;
  readonly toolCalls: JsonObject[];
}

/** What nodes call while they are at work, until their ends tell of it. */
export class WorkingNodes {
  readonly #byToken = new Map<number, Working>();

  /** Those that called something. */
  get list(): readonly WorkingNode[] {
    return [...this.#byToken.values()].map(({ at: { node, within, token }, log, toolCalls }) => ({
      node,
      ...(within !== undefined && { within }),
      token,
      calls: log.calls,
      toolCalls: [...toolCalls],
    }));
  }

  call(event: NodeCall): void {
    this.#of(event).log.add(event.call, event.at);
  }

  notice(event: NodeNotice): void {
    if (event.name !== 'tool-called') return;
    const { toolCalls } = this.#of(event);
    if (toolCalls.length < MAX_TOOL_CALLS) toolCalls.push(event.data);
  }

  /** The node will be tried again: what it had called stays, and ends here. */
  retried({ token, at }: NodeHeader): void {
    this.#byToken.get(token)?.log.stop(at);
  }

  /** What the end of a node tells. */
  take({ token, at }: NodeHeader): JsonObject {
    const working = this.#byToken.size === 0 ? undefined : this.#byToken.get(token);
    if (working === undefined) return {};
    this.#byToken.delete(token);
    const { log, toolCalls } = working;
    log.stop(at);
    const { told, omitted } = log;
    return {
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      ...(told.length > 0 && { calls: told.map(writeCall) }),
      ...(omitted > 0 && { calls_omitted: omitted }),
    };
  }

  /** What the end of the run tells of nodes that it stopped: each call with its node. */
  takeRest(at: number): JsonObject {
    const told = [...this.#byToken.values()].flatMap(({ at: { node, token }, log }) => {
      log.stop(at);
      return log.told.map((call) => ({ component_id: node, token, ...writeCall(call) }));
    });
    this.#byToken.clear();
    return told.length === 0 ? {} : { calls: told };
  }

  #of(at: NodeHeader): Working {
    const known = this.#byToken.get(at.token);
    if (known !== undefined) return known;
    const made: Working = { at, log: new CallLog(), toolCalls: [] };
    this.#byToken.set(at.token, made);
    return made;
  }
}
