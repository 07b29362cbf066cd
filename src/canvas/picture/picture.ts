/** What a screen shows of a run: plain, immutable values. What did not change between two pictures of a run is the same object in both. */
import type { KeyedCall } from '../../graph/calls.js';
import type { ErrorInfo, RunUsage } from '../../graph/events.js';
import type { Outputs } from '../../graph/node-events.js';
import type { Json, JsonObject } from '../../json.js';

/** How a run stands. `stopping`: it was asked to stop, and its last event has not come. */
export type PictureStatus = 'running' | 'stopping' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';

/**
 * How a node stands.
 *
 * - `idle`: no token has come to it.
 * - `queued`: an edge was taken to it, and it has not begun.
 * - `retrying`: it failed, and waits for its next try.
 * - `skipped`: it was reached and passed over, since nodes that it reads have no value.
 * - `stopped`: it was at work when its run or its round ended.
 */
export type NodeStatus =
  | 'idle'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'retrying'
  | 'done'
  | 'skipped'
  | 'failed'
  | 'stopped';

/** What came of an activation. `open`: nothing yet. `retried`: it failed or was lost, and was tried again. */
export type ActivationStatus = 'open' | 'settled' | 'failed' | 'retried' | 'skipped' | 'waiting' | 'stopped';

/** What a node emitted while it was at work; neighbouring pieces of one kind are one emission. */
export interface Emission {
  /** `text` and `thinking` are pieces of text; the others are named by the event. */
  readonly kind: 'text' | 'thinking' | 'usage' | 'message-ended' | 'audio' | 'notice';
  /** Numbers of its first and its last event. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly pieces: number;
  /** UTF-16 units of all pieces. */
  readonly characters: number;
}

/** Something that a node said for observers. */
export interface NoticePicture {
  readonly seq: number;
  readonly atMs: number;
  readonly name: string;
  readonly data: JsonObject;
}

/** One stage of a chat. */
export interface StagePicture {
  readonly stage: number;
  readonly name: string;
  /** `running`, or how it ended: `ok`, `cache_hit`, `skipped`, `degraded`, `cancelled`, `failed`. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly budgetMs?: number;
  /** How long it took. */
  readonly ms?: number;
  readonly isOverBudget?: true;
  readonly detail?: JsonObject;
}

/** A source of an answer, as its chat told it: beside these, fields such as `score`, `page`, `start` and `end`. */
export interface EvidencePicture {
  /** As the answer cites it, from 1. */
  readonly n: number;
  readonly id: string;
  /** `kb`, `mcp`, `graph` or `web`. */
  readonly type: string;
  readonly source: string;
  readonly text: string;
  readonly [more: string]: Json | undefined;
}

/** What a chat did so far. */
export interface ChatPicture {
  /** In the order in which they began. */
  readonly stages: readonly StagePicture[];
  /** The answer that left stages out. */
  readonly shortcut?: {
    readonly kind: string;
    readonly reason: string;
    readonly skipped: readonly number[];
    readonly cancelled: readonly number[];
  };
  /** A research that may answer better. */
  readonly research?: {
    readonly question: string;
    readonly reason: string;
    readonly datasetIds: readonly string[];
  };
  readonly evidence: readonly EvidencePicture[];
  readonly firstTokenMs?: number;
}

/** One activation of a node: one try, from its start to its end. Times in milliseconds since 1970. */
export interface ActivationPicture {
  /** 1, 2, 3 … within the run, in the order in which they began. */
  readonly ordinal: number;
  readonly node: string;
  /** Where it ran when it was in a body: `container/round`, outermost first. */
  readonly within?: string;
  readonly token: number;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly status: ActivationStatus;
  /** Numbers of the events that began and ended it. */
  readonly startSeq: number;
  readonly endSeq?: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** What it wrote so far, at most {@link MAX_TEXT} characters. */
  readonly text: string;
  /** Its reasoning, at most {@link MAX_TEXT} characters. */
  readonly thinking: string;
  /** Characters of both that were left out. */
  readonly omittedCharacters: number;
  /** Its text does not count any more: the node began anew. */
  readonly isRetracted?: true;
  /** Once it has ended; of a container what it has stored so far. */
  readonly outputs?: Outputs;
  /** Ids of the successors that it chose; absent when all of them run. */
  readonly next?: readonly string[];
  /** Why it failed, also when it was tried again. */
  readonly error?: ErrorInfo;
  /** The error that a default value stands in for. */
  readonly recovered?: ErrorInfo;
  /** Nodes that it reads and that have no value, when it was passed over. */
  readonly missing?: readonly string[];
  /** What it asks for, while it waits. */
  readonly question?: JsonObject;
  /** At most 200, of all activations {@link MAX_RUN_CALLS}. */
  readonly calls: readonly KeyedCall[];
  readonly usage: RunUsage;
  /** At most {@link MAX_EMISSIONS}, of all activations {@link MAX_RUN_EMISSIONS}; what comes later is counted in the last one, if any. */
  readonly emissions: readonly Emission[];
  /** What it said for observers, at most {@link MAX_NOTICES}: the first ones. */
  readonly notices: readonly NoticePicture[];
  /** Of a chat. */
  readonly chat?: ChatPicture;
}

/** The rounds of a container. */
export interface RoundsPicture {
  /** Rounds that began. */
  readonly begun: number;
  /** Rounds that ended. */
  readonly ended: number;
  /** How many there are to be, where the container knows. */
  readonly of?: number;
  /** Paths of the rounds at work, as `within` of their nodes: `container/round`, outermost first. */
  readonly open: readonly string[];
}

/** A node and all that it did. */
export interface NodePicture {
  readonly id: string;
  readonly type?: string;
  readonly name?: string;
  /** Id of the container whose body it belongs to. */
  readonly parent?: string;
  readonly status: NodeStatus;
  /** The try that is at work, or waits to begin: 1 for the first. */
  readonly attempt?: number;
  /** How many tries there are at most, where an event said so. */
  readonly attempts?: number;
  /**
   * In the order in which they began: of the whole run the first {@link MAX_ACTIVATIONS}, and behind them those of this node that are at
   * work and the one that ended last.
   */
  readonly activations: readonly ActivationPicture[];
  /** An edge was taken to it, and it has not begun since. */
  readonly isQueued?: true;
  /** Tokens that wait for an answer; and those that wait for their next try. */
  readonly waiting?: readonly number[];
  readonly retrying?: readonly number[];
  /** Of a container, once its first round has begun. */
  readonly rounds?: RoundsPicture;
  /** Number of the first event about it. */
  readonly firstSeq?: number;
  readonly sums: NodeSums;
}

/** All activations of a node together. */
export interface NodeSums {
  /** How often it began, without retries and skips. */
  readonly activations: number;
  readonly failures: number;
  readonly retries: number;
  readonly skips: number;
  /** Milliseconds since 1970. */
  readonly firstStartedAtMs?: number;
  readonly lastEndedAtMs?: number;
  /** Time at work, side by side or not; also the longest of them. */
  readonly busyMs: number;
  readonly longestMs: number;
  readonly pieces: number;
  readonly characters: number;
  readonly usage: RunUsage;
}

/** An edge that was taken. */
export interface EdgePicture {
  readonly from: string;
  readonly to: string;
  /** How often. */
  readonly count: number;
  /** Number of the event that took it last. */
  readonly lastSeq: number;
}

/** What one activation said to the user in one go: text, or reasoning. */
export interface AnswerPart {
  readonly kind: 'text' | 'thinking';
  readonly node: string;
  readonly within?: string;
  readonly token: number;
  readonly text: string;
  /** Numbers of its first and its last event. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** More may come. */
  readonly isOpen: boolean;
  /** With the last part of a message: what its end says, such as `reference` and `downloads`. */
  readonly ending?: JsonObject;
}

/** What the user was told. */
export interface AnswerPicture {
  /** Text of all parts, without reasoning. */
  readonly text: string;
  /** Each speaker by itself, in the order in which they began. */
  readonly parts: readonly AnswerPart[];
  /** Characters that were left out, behind {@link MAX_ANSWER}. */
  readonly omittedCharacters: number;
}

/** A form, or another question, that waits for an answer. */
export interface QuestionPicture {
  /** Under which a client answers it: `node#token`, or in a run of steps the address of the question. */
  readonly address: string;
  readonly node: string;
  readonly within?: string;
  readonly token: number;
  readonly payload: JsonObject;
  /** Number of the event that asked. */
  readonly seq: number;
}

/** A run as a screen shows it, after its event {@link lastSeq}. */
export interface RunPicture {
  /** Absent before the first event. */
  readonly run?: string;
  readonly status: PictureStatus;
  readonly error?: ErrorInfo;
  /** What it was started with. */
  readonly input?: Json;
  /** What the user asked, at most {@link MAX_QUERY} characters. */
  readonly query?: string;
  /** It was recovered after its process was lost; how often. */
  readonly recoveries: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly elapsedMs?: number;
  /** Time of the last event. */
  readonly lastAtMs?: number;
  /** Number of the last event; 0 before the first. */
  readonly lastSeq: number;
  readonly usage: RunUsage;
  /** Those of the document in its order, then those that only events name. */
  readonly nodes: ReadonlyMap<string, NodePicture>;
  /** Edges that were taken, by {@link edgeKey}. */
  readonly edges: ReadonlyMap<string, EdgePicture>;
  readonly answer: AnswerPicture;
  /** In the order in which they were asked. */
  readonly questions: readonly QuestionPicture[];
  /** Outputs of the node that ran last, once the run has succeeded. */
  readonly outputs?: Outputs;
  /** Activations that began: {@link MAX_ACTIVATIONS} of them are listed, of later ones few. */
  readonly activations: number;
  /** What its parts hold in all, by which its bounds are kept. */
  readonly held: Held;
}

/** How much a picture holds of what is bounded for the whole run. */
export interface Held {
  readonly emissions: number;
  readonly notices: number;
  readonly calls: number;
  /** Of texts of activations. */
  readonly characters: number;
}

/** What is known about a node before it runs; components of a document are such. */
export interface DescribedNode {
  readonly id: string;
  readonly type?: string;
  readonly name?: string;
  readonly parent?: string;
  /** Ids of its successors, which it takes when it chooses none. */
  readonly downstream?: readonly string[];
  /** Whether its text belongs to the answer. @default true */
  readonly speaks?: boolean;
}

/** Characters of the question, at most. */
export const MAX_QUERY = 500;

/** Characters of the text of one activation, at most, and of its reasoning. */
export const MAX_TEXT = 65_536;

/** Characters of the text of all activations, at most. */
export const MAX_RUN_TEXT = 8 * 1024 * 1024;

/** Characters of the answer, at most. */
export const MAX_ANSWER = 1024 * 1024;

/** Parts of the answer, at most. */
export const MAX_PARTS = 5_000;

/** Notices of one activation, at most, and of all of them. */
export const MAX_NOTICES = 100;
export const MAX_RUN_NOTICES = 10_000;

/** Emissions of one activation, at most, and of all of them. */
export const MAX_EMISSIONS = 256;
export const MAX_RUN_EMISSIONS = 50_000;

/** Calls of one run, at most. */
export const MAX_RUN_CALLS = 20_000;

/** Activations of one run, at most. */
export const MAX_ACTIVATIONS = 20_000;

/** No tokens, no calls. */
export const NOTHING_USED: RunUsage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };

/** The key of an edge in {@link RunPicture.edges}. */
export function edgeKey(from: string, to: string): string {
  return `${from}\n${to}`;
}
