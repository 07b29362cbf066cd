/** The words of a timeline; `run-timeline.ts` makes one. */

import type { CallSummary } from '../graph/calls.js';
import type { RunEvent } from '../graph/events.js';
import type { WireEvent } from './wire-event.js';

/** An event that a timeline is made of: the engine's own, or RAGFlow's with its number in the run's log. */
export type TimelineEvent = RunEvent | (WireEvent & { readonly seq?: number });

/** What came of an activation. `open`: nothing yet. `retried`: it failed and was tried again. */
export type ActivationStatus = 'open' | 'settled' | 'failed' | 'retried' | 'skipped' | 'waiting';

/** Something that a node said while it was at work; neighbouring pieces of one kind are one emission. */
export interface TimelineEmission {
  /** `text` and `thinking` are pieces of text; the others are named by the event. */
  readonly kind: 'text' | 'thinking' | 'usage' | 'message_end' | 'audio' | 'notice';
  /** Numbers of its first and its last event. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /**
   * Milliseconds since 1970. RAGFlow's words tell no time of these: pieces have that of the last event before them that does, the
   * end of a message that of its node's.
   */
  readonly atMs: number;
  readonly pieces: number;
  /** UTF-16 units of all pieces. */
  readonly characters: number;
}

/** One activation of a node, from its start to its end. */
export interface TimelineActivation {
  /** Id of the node. */
  readonly node: string;
  /** Its type and its name; absent in the engine's own events. */
  readonly type?: string;
  readonly name?: string;
  /** Where it ran when it was in a body: `container/round`, outermost first. */
  readonly within?: string;
  readonly token?: number;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly status: ActivationStatus;
  /** Why it failed. */
  readonly error?: string;
  /** Numbers of the events that began and ended it. */
  readonly startSeq: number;
  readonly endSeq?: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** At most {@link MAX_EMISSIONS}, of all activations {@link MAX_RUN_EMISSIONS}; what comes later is counted in the last one, if any. */
  readonly emissions: readonly TimelineEmission[];
  /** What it called, where it called more than its one model: at most 200, of all activations {@link MAX_RUN_CALLS}. */
  readonly calls: readonly CallSummary[];
  readonly usage: TimelineUsage;
}

/** Tokens and calls of models. */
export interface TimelineUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
}

/** All activations of one node together. */
export interface TimelineNode {
  readonly node: string;
  readonly type?: string;
  readonly name?: string;
  /** How often it began, retries and passes over it apart. */
  readonly activations: number;
  readonly failures: number;
  readonly retries: number;
  readonly skips: number;
  readonly firstStartedAtMs: number;
  readonly lastEndedAtMs?: number;
  /** Time at work, side by side or not; also the longest of them. */
  readonly busyMs: number;
  readonly longestMs: number;
  readonly pieces: number;
  readonly characters: number;
  readonly usage: TimelineUsage;
}

/** A run over time. */
export interface RunTimeline {
  readonly status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';
  readonly error?: { readonly code: string; readonly message: string };
  /** Milliseconds since 1970; absent before the first event. */
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** Number of the last event. */
  readonly lastSeq: number;
  readonly usage: TimelineUsage;
  /** In the order in which they began; at most {@link MAX_ACTIVATIONS}, the oldest ones. */
  readonly activations: readonly TimelineActivation[];
  /** Activations that are only in the sums of `nodes`, because there were too many. */
  readonly omitted: number;
  /** In the order in which they began first. */
  readonly nodes: readonly TimelineNode[];
}

/** Emissions of one activation, at most. */
export const MAX_EMISSIONS = 256;

/** Emissions of one run, at most. */
export const MAX_RUN_EMISSIONS = 50_000;

/** Calls of one run, at most. */
export const MAX_RUN_CALLS = 20_000;

/** Activations of one run, at most. */
export const MAX_ACTIVATIONS = 20_000;
