/** Metrics of runs: how many, how long, what their nodes and models took. */

import type { NodeCall, NodeFailed, NodeNotice, NodeSettled, RunEvent } from '../graph/events.js';
import type { CallReport, CallStart } from '../graph/node-events.js';
import { findNode, type Plan } from '../graph/plan.js';
import { CHAT_NOTICE, createChatMeters } from './chat-meters.js';
import type { Histogram, MetricRegistry } from './metric-registry.js';
import { createResearchMeters } from './research-meters.js';
import { RESEARCH_NOTICE, ResearchTally } from './research-tally.js';
import type { RunWatch } from './run-watch.js';

/** Value of the label that distinguishes engines. */
const RUNTIME = 'runnel';

/** Calls of one run that may be open at once and still be timed. */
const MAX_OPEN_CALLS = 10_000;

/** How a run of the service ended. */
export interface EndedRun {
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt?: number;
}

/** What RAGFlow calls the ends of a run. */
const OUTCOMES: Readonly<Record<string, string>> = { succeeded: 'success', failed: 'error', cancelled: 'cancelled' };

/** What counts runs; see `createRunMeters`. */
export type RunMeters = ReturnType<typeof createRunMeters>;

/** Counts runs into a registry. */
export function createRunMeters(registry: MetricRegistry) {
  const runs = registry.counter('ragflow_canvas_runs_total', 'Runs that ended, by how they did.', [
    'runtime',
    'outcome',
  ]);
  const durations = registry.histogram('ragflow_canvas_run_duration_seconds', 'How long runs took.', ['runtime']);
  const paused = registry.counter('runnel_runs_paused_total', 'Runs that stopped to ask a person.', ['runtime']);
  const series = createSeries(registry);
  return {
    ...series,
    /** Counts a run by its record. */
    ended({ status, startedAt, finishedAt = startedAt }: EndedRun): void {
      if (status === 'waiting') {
        paused.add(1, RUNTIME);
        return;
      }
      runs.add(1, RUNTIME, OUTCOMES[status] ?? 'error');
      const seconds = (finishedAt - startedAt) / 1_000;
      if (seconds > 0) durations.observe(seconds, RUNTIME);
    },
    /** Listens to one run. */
    watch: (plan: Plan): RunWatch => new RunMeter(series, plan),
  };
}

type RunSeries = ReturnType<typeof createSeries>;

function createSeries(registry: MetricRegistry) {
  const seconds = (name: string, help: string, ...labels: readonly string[]): Histogram =>
    registry.histogram(`runnel_${name}_seconds`, help, labels);
  return {
    nodes: seconds('node_duration', 'How long nodes took, by type of component.', 'type', 'outcome'),
    models: seconds('model_call_duration', 'How long calls of chat models took.', 'model', 'outcome'),
    firstTokens: seconds('model_first_token', 'How long chat models took to their first piece.', 'model'),
    tokens: registry.counter('runnel_model_tokens_total', 'Tokens that went into chat models and came out of them.', [
      'model',
      'kind',
    ]),
    tools: seconds('tool_call_duration', 'How long calls of tools took.', 'tool', 'outcome'),
    chats: createChatMeters(registry),
    researches: createResearchMeters(registry),
  };
}

interface OpenCall {
  readonly start: CallStart;
  readonly at: number;
  hasSpoken: boolean;
}

class RunMeter implements RunWatch {
  #calls: Map<string, OpenCall> | undefined = undefined;
  /** Researches at work, by the number of their token. */
  #researches: Map<number, ResearchTally> | undefined = undefined;

  constructor(
    private readonly series: RunSeries,
    private readonly plan: Plan,
  ) {}

  event(event: RunEvent): void {
    switch (event.type) {
      case 'node-call':
        this.#called(event);
        return;
      case 'node-settled':
        this.#ended(event, 'success');
        this.#researches?.get(event.token)?.settled(event.outputs);
        this.#researched(event.token, 'failed');
        return;
      case 'node-failed':
        this.#ended(event, 'error');
        // One that is tried again is counted when it is over.
        if (event.then === 'retry') this.#researches?.delete(event.token);
        else this.#researched(event.token, 'failed');
        return;
      case 'node-notice':
        this.#noticed(event);
        return;
      case 'run-settled':
      case 'run-interrupted':
      case 'run-cancelled':
        this.#researchesOver('cancelled');
        return;
      case 'run-failed':
        this.#researchesOver('failed');
        return;
      case 'run-started':
      case 'node-started':
      case 'node-delta':
      case 'node-thinking':
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
        return;
      default:
        event satisfies never;
    }
  }

  close(): void {
    this.#calls = undefined;
    // Without an end: another process goes on with what is at work, and counts it.
    this.#researches = undefined;
  }

  #noticed({ name, data, token }: NodeNotice): void {
    if (name === CHAT_NOTICE) this.series.chats.told(data);
    if (name !== RESEARCH_NOTICE) return;
    this.#researches ??= new Map();
    const tally = this.#researches.get(token) ?? new ResearchTally();
    this.#researches.set(token, tally);
    tally.told(data);
    this.series.researches.told(data);
  }

  #researched(token: number, outcome: 'failed' | 'cancelled'): void {
    const tally = this.#researches?.get(token);
    if (tally === undefined) return;
    this.#researches?.delete(token);
    this.series.researches.ended(tally, outcome);
  }

  /** Those that were stopped with the run, or with the body around them. */
  #researchesOver(outcome: 'failed' | 'cancelled'): void {
    for (const token of [...(this.#researches?.keys() ?? [])]) this.#researched(token, outcome);
  }

  #ended({ node, elapsedMs }: NodeSettled | NodeFailed, outcome: string): void {
    this.series.nodes.observe(elapsedMs / 1_000, findNode(this.plan, node)?.type ?? '', outcome);
  }

  #called({ call, ...event }: NodeCall): void {
    const key = `${event.token}/${call.id}`;
    this.#calls ??= new Map();
    if (call.type === 'started') {
      if (this.#calls.size < MAX_OPEN_CALLS) this.#calls.set(key, { start: call, at: event.at, hasSpoken: false });
      return;
    }
    const open = this.#calls.get(key);
    if (open === undefined) return;
    if (call.type === 'moment') this.#moment(open, event.at);
    else {
      this.#calls.delete(key);
      this.#finished(open, call, event.at);
    }
  }

  #moment(open: OpenCall, at: number): void {
    if (open.hasSpoken || open.start.kind !== 'model') return;
    open.hasSpoken = true;
    this.series.firstTokens.observe((at - open.at) / 1_000, open.start.name);
  }

  #finished({ start, at }: OpenCall, { error, usage }: Extract<CallReport, { type: 'finished' }>, now: number): void {
    const outcome = error === undefined ? 'success' : 'error';
    const seconds = (now - at) / 1_000;
    if (start.kind === 'tool') this.series.tools.observe(seconds, start.name, outcome);
    if (start.kind !== 'model') return;
    this.series.models.observe(seconds, start.name, outcome);
    if (usage === undefined) return;
    this.series.tokens.add(usage.promptTokens, start.name, 'input');
    this.series.tokens.add(usage.completionTokens, start.name, 'output');
  }
}
