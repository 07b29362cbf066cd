/** Reads RAGFlow's events back as the engine's, as far as they hold them: for runs of which only a file of such events is left. */
import { z } from 'zod';
import type { CallSummary } from '../graph/calls.js';
import type { EventHeader, NodeHeader, OpenCall, RunEndFields, RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { CANCELLED, type WireEvent } from './ragflow-events.js';
import type { DescribeNode } from './timeline.js';

/** An event of RAGFlow's, with its number where it has one. */
export type NumberedWireEvent = WireEvent & { readonly seq?: number };

/** The engine's events behind RAGFlow's events of one run, in order. */
export function* readRagflowEvents(events: Iterable<NumberedWireEvent>): Generator<RunEvent> {
  const reader = new RagflowReader();
  for (const event of events) yield* reader.read(event);
  yield* reader.end();
}

/** A node that started and did not end. */
interface OpenNode {
  readonly token: number;
  readonly attempt: number;
  readonly startedAt: number;
}

/** Numbers that stand in for tokens begin here. */
const FIRST_TOKEN = 1_000_000_000;

/** {@link readRagflowEvents} for events that come one by one. */
export class RagflowReader {
  /** Nodes that started and did not end, by place; oldest first. */
  readonly #open = new Map<string, OpenNode[]>();
  /** Places whose text is reasoning at the moment. */
  readonly #thinking = new Set<string>();
  readonly #names = new Map<string, { readonly type?: string; readonly name?: string }>();
  /** Events that the next exact time is needed for, by place: the beginning of the run, ends of messages. */
  readonly #waiting = new Map<string, (at: number) => RunEvent>();
  #nextToken = FIRST_TOKEN;
  #seq = 0;
  /** The last time that an event had, in milliseconds since 1970. */
  #now = 0;
  #startedAt: number | undefined = undefined;
  #inputs: JsonObject = {};

  /** Type and name of a node, from its events. */
  readonly describe: DescribeNode = (node) => this.#names.get(node);

  /** The engine's events behind one of RAGFlow's; some are held back until a later event has their time. */
  read(event: NumberedWireEvent): RunEvent[] {
    this.#seq = event.seq ?? this.#seq + 1;
    const { data } = event;
    const isExact = typeof data.at_ms === 'number';
    if (isExact) this.#now = numberOf(data.at_ms);
    else if (this.#now === 0) this.#now = event.created_at * 1000;
    // RAGFlow's first time is in whole seconds: the first exact one is when the run began.
    const begun = isExact ? this.#release(RUN) : [];
    if (isExact || event.event !== 'workflow_started') this.#startedAt ??= this.#now;
    return [...begun, ...this.#readOne(event)];
  }

  /** What is held back when no more events follow. */
  end(): RunEvent[] {
    return [...this.#waiting.keys()].flatMap((place) => this.#release(place));
  }

  #readOne({ event, data }: WireEvent): RunEvent[] {
    const node = String(data.component_id ?? '');
    const place = typeof data.within === 'string' ? `${data.within}/${node}` : node;
    this.#learnName(node, data);
    switch (event) {
      case 'workflow_started': {
        const header = this.#header();
        if (isJsonObject(data.inputs)) this.#inputs = data.inputs;
        const input = { inputs: this.#inputs };
        this.#waiting.set(RUN, (at) => ({ type: 'run-started', ...header, at, input, resumed: false }));
        return [];
      }
      case 'node_started':
        return this.#started(place, data);
      case 'node_restarted': {
        const [before] = this.#open.get(place) ?? [];
        if (before !== undefined) this.#close(place, before.token);
        const retractFrom = numberOf(data.retract_from);
        return this.#started(place, data).map((started) => ({ ...started, retractFrom }) as RunEvent);
      }
      case 'message':
        return this.#message(place, data);
      case 'message_end': {
        const header = this.#nodeHeader(place, data);
        this.#waiting.set(place, (at) => ({ type: 'node-notice', ...header, at, name: 'message-ended', data }));
        return [];
      }
      case 'node_finished':
        return this.#finished(place, data);
      case 'user_inputs':
        return this.#interrupted(data);
      case 'workflow_finished': {
        const fields = this.#runEnd(data, Math.round(numberOf(data.elapsed_time) * 1000));
        if (data.outputs === CANCELLED) return [...this.end(), { type: 'run-cancelled', ...fields }];
        const outputs = isJsonObject(data.outputs) ? data.outputs : null;
        return [...this.end(), { type: 'run-settled', ...fields, outputs }];
      }
      case 'error': {
        const error = { code: String(data.code) as 'INTERNAL', message: String(data.message) };
        return [...this.end(), { type: 'run-failed', ...this.#runEnd(data), error }];
      }
      default:
        return [];
    }
  }

  #started(place: string, data: JsonObject): RunEvent[] {
    const open = this.#open.get(place) ?? [];
    // RAGFlow has no event for a failure that is followed by another try: the same token begins once more.
    const before = open.find(({ token }) => token === data.token);
    if (before !== undefined) this.#close(place, before.token);
    const attempt = (before?.attempt ?? 0) + 1;
    const token = typeof data.token === 'number' ? data.token : this.#nextToken++;
    this.#open.set(place, [...(this.#open.get(place) ?? []), { token, attempt, startedAt: this.#now }]);
    const header = this.#nodeHeader(place, { ...data, token });
    const started: RunEvent = { type: 'node-started', ...header, attempt };
    if (before === undefined) return [started];
    const error = { code: 'NODE_FAILED', message: '' } as const;
    const elapsedMs = this.#now - before.startedAt;
    // biome-ignore lint/suspicious/noThenProperty: it is no promise
    return [{ type: 'node-failed', ...header, error, outputs: {}, elapsedMs, then: 'retry' }, started];
  }

  #message(place: string, data: JsonObject): RunEvent[] {
    const header = this.#nodeHeader(place, data);
    if (data.start_to_think === true) {
      this.#thinking.add(place);
      return [{ type: 'node-thinking', ...header, phase: 'started' }];
    }
    if (data.end_to_think === true) {
      this.#thinking.delete(place);
      return [{ type: 'node-thinking', ...header, phase: 'ended' }];
    }
    if (data.audio_binary !== undefined) return [{ type: 'node-notice', ...header, name: 'audio', data }];
    const text = typeof data.content === 'string' ? data.content : '';
    return [{ type: 'node-delta', ...header, port: this.#thinking.has(place) ? 'thinking' : 'content', text }];
  }

  #finished(place: string, data: JsonObject): RunEvent[] {
    const header = this.#nodeHeader(place, data);
    this.#close(place, header.token);
    const { error, outputs: given, elapsed_time } = data;
    const outputs = isJsonObject(given) ? given : {};
    const elapsedMs = Math.round(numberOf(elapsed_time) * 1000);
    const calls = readCalls(data.calls);
    const fields = { ...header, outputs, elapsedMs, ...(calls.length > 0 && { calls }) };
    // The event of the end of a message has no time; it is that of its node's end.
    const ended = this.#release(place);
    if (typeof error !== 'string') return [...ended, { type: 'node-settled', ...fields }];
    const info = { code: 'NODE_FAILED', message: error } as const;
    // biome-ignore lint/suspicious/noThenProperty: it is no promise
    return [...ended, { type: 'node-failed', ...fields, error: info, then: 'goto' }];
  }

  #interrupted(data: JsonObject): RunEvent[] {
    const forms = (Array.isArray(data.forms) ? data.forms : []).filter(isJsonObject);
    const waiting = forms.map((form): RunEvent => {
      const { cpn_id = '', form_id, within } = form;
      const token = typeof form_id === 'string' ? Number(form_id.slice(form_id.lastIndexOf('#') + 1)) : Number.NaN;
      const of = { ...form, component_id: cpn_id, ...(Number.isInteger(token) && { token }) };
      const place = typeof within === 'string' ? `${within}/${cpn_id}` : String(cpn_id);
      return { type: 'node-interrupted', ...this.#nodeHeader(place, of), payload: form };
    });
    return [...this.end(), ...waiting, { type: 'run-interrupted', ...this.#runEnd(data), pending: [] }];
  }

  #runEnd(data: JsonObject, elapsedMs?: number): EventHeader & RunEndFields {
    const usage = isJsonObject(data.usage) ? data.usage : {};
    const openCalls = (Array.isArray(data.calls) ? data.calls : []).filter(isJsonObject).flatMap((call): OpenCall[] => {
      const [summary] = readCalls([call]);
      return summary === undefined
        ? []
        : [{ ...summary, node: String(call.component_id ?? ''), token: numberOf(call.token) }];
    });
    return {
      ...this.#header(),
      elapsedMs: elapsedMs ?? this.#now - (this.#startedAt ?? this.#now),
      input: { inputs: this.#inputs },
      usage: { ...readTokens(usage), calls: numberOf(usage.calls) },
      ...(openCalls.length > 0 && { openCalls }),
    };
  }

  #header(): EventHeader {
    return { run: '', seq: this.#seq, at: this.#now };
  }

  #nodeHeader(place: string, { component_id, within, token }: JsonObject): NodeHeader {
    return {
      ...this.#header(),
      node: String(component_id ?? ''),
      ...(typeof within === 'string' && { within }),
      token:
        typeof token === 'number' ? token : (this.#tokenAt(place, String(component_id ?? '')) ?? this.#nextToken++),
    };
  }

  /** Pieces of text do not say whose token they belong to, and in RAGFlow's own files not in which round of a body. */
  #tokenAt(place: string, node: string): number | undefined {
    const own = this.#open.get(place)?.[0];
    if (own !== undefined) return own.token;
    for (const [other, [first]] of this.#open) if (other.endsWith(`/${node}`)) return first?.token;
    return undefined;
  }

  #close(place: string, token: number): void {
    const left = (this.#open.get(place) ?? []).filter((one) => one.token !== token);
    if (left.length === 0) this.#open.delete(place);
    else this.#open.set(place, left);
  }

  #release(place: string): RunEvent[] {
    const held = this.#waiting.get(place);
    this.#waiting.delete(place);
    return held === undefined ? [] : [held(this.#now)];
  }

  #learnName(node: string, { component_type: type, component_name: name }: JsonObject): void {
    if (typeof type !== 'string' && typeof name !== 'string') return;
    this.#names.set(node, {
      ...(typeof type === 'string' && { type }),
      ...(typeof name === 'string' && { name }),
    });
  }
}

/** Stands for the run where events are held back by place. */
const RUN = '/';

const whole = z.number().int();
const milliseconds = whole.describe('Milliseconds since 1970.');

/** A call as `writeCall` writes it. */
export const callShape = z.looseObject({
  id: whole,
  kind: z.enum(['model', 'tool', 'agent']),
  name: z.string(),
  parent: whole.optional().describe('Id of the call that this one is part of.'),
  status: z.enum(['open', 'done', 'failed', 'stopped']),
  error: z.string().optional(),
  started_at: milliseconds,
  first_piece_at: milliseconds.optional(),
  ended_at: milliseconds.optional(),
  usage: z.looseObject({ prompt_tokens: whole, completion_tokens: whole, total_tokens: whole }).optional(),
});

/** Reads calls as `writeCall` writes them; those that are not whole are left out. */
export function readCalls(value: Json | undefined): readonly CallSummary[] {
  return Array.isArray(value) ? value.flatMap((one: Json) => readCall(one)) : [];
}

function readCall(value: Json): readonly CallSummary[] {
  const { data } = callShape.safeParse(value);
  if (data === undefined) return [];
  const { id, kind, name, parent, status, error, usage, started_at, first_piece_at, ended_at } = data;
  return [
    {
      id,
      kind,
      name,
      ...(parent !== undefined && { parent }),
      status,
      ...(error !== undefined && { error }),
      startedAtMs: started_at,
      ...(first_piece_at !== undefined && { firstPieceAtMs: first_piece_at }),
      ...(ended_at !== undefined && { endedAtMs: ended_at }),
      ...(usage && { usage: readTokens(usage) }),
    },
  ];
}

function readTokens({ prompt_tokens, completion_tokens, total_tokens }: { readonly [name: string]: unknown }) {
  return {
    promptTokens: numberOf(prompt_tokens),
    completionTokens: numberOf(completion_tokens),
    totalTokens: numberOf(total_tokens),
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
