import type { RagflowProjection, WireEvent } from '../canvas/ragflow-events.js';
import { THINK_CLOSE, THINK_OPEN } from '../components/speaking/think-text.js';
import type { NodeNotice, NodeSettled, RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

/** Nodes of a path that are stored; older ones are forgotten. */
export const MAX_PATH = 2_000;

/** Citations of an answer without any. */
const NO_REFERENCE: JsonObject = {};

/** What a transcript is made with. */
export interface TranscriptOptions {
  readonly projection: RagflowProjection;
  /** Whether {@link Transcript.trace} is wanted. */
  readonly storesTrace: boolean;
}

/** What a run answered so far, folded from its events; what JSON answers and stored messages are made of. */
export class Transcript {
  /** What the last message that cites anything cites. */
  reference: JsonObject = NO_REFERENCE;
  /** Structured outputs by component. */
  readonly structured: Record<string, Json> = {};
  /** Ids of the nodes that started, in order; at most {@link MAX_PATH}, the newest. */
  path: string[] = [];
  readonly #projection: RagflowProjection;
  readonly #storesTrace: boolean;
  readonly #finished: RunEvent[] = [];
  #messageEnded: RunEvent | undefined = undefined;
  #terminal: RunEvent | undefined = undefined;
  /** In pieces, joined when they are read: a text that grows by every word is a chain of as many objects. */
  #texts: string[] = [];
  /** Of each piece, the node that said it. */
  #speakers: string[] = [];

  constructor({ projection, storesTrace }: TranscriptOptions) {
    this.#projection = projection;
    this.#storesTrace = storesTrace;
  }

  /** The text of all messages, with reasoning in `<think>` tags. */
  get content(): string {
    return this.#texts.join('');
  }

  /** The end of the last message, in RAGFlow's format. */
  get messageEnd(): WireEvent | undefined {
    return this.#messageEnded && this.#projection.project(this.#messageEnded);
  }

  /** What the run waits for, in RAGFlow's format. */
  get userInputs(): WireEvent | undefined {
    return this.#terminal?.type === 'run-interrupted' ? this.#projection.project(this.#terminal) : undefined;
  }

  /** The end of a run that succeeded or was cancelled, in RAGFlow's format. */
  get finished(): WireEvent | undefined {
    const isFinished = this.#terminal?.type === 'run-settled' || this.#terminal?.type === 'run-cancelled';
    return isFinished ? this.#projection.project(this.#terminal as RunEvent) : undefined;
  }

  /** What each node that ended did, in RAGFlow's format, in order; empty unless it is wanted. */
  get trace(): readonly JsonObject[] {
    return this.#finished.flatMap((event) => {
      const data = this.#projection.project(event)?.data;
      return data === undefined ? [] : [data];
    });
  }

  add(event: RunEvent): void {
    switch (event.type) {
      case 'node-started':
        if (event.attempt === 1 && event.resumed !== true && event.retractFrom === undefined) this.#started(event.node);
        return;
      case 'node-delta':
      case 'node-thinking':
        this.addText(textOf(event, this.#projection), event.node);
        return;
      case 'node-notice':
        if (isRetraction(event)) this.#retract(event.node);
        if (event.name !== 'message-ended') return;
        this.#messageEnded = event;
        if (isJsonObject(event.data.reference)) this.reference = event.data.reference;
        return;
      case 'node-settled':
        this.#settled(event);
        return;
      case 'node-failed':
        if (this.#storesTrace && event.then !== 'retry') this.#finished.push(event);
        return;
      case 'run-interrupted':
      case 'run-settled':
      case 'run-cancelled':
      case 'run-failed':
        this.#terminal = event;
        return;
      case 'run-started':
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
        return;
      default:
        event satisfies never;
    }
  }

  /** @param speaker id of the node that says it */
  addText(text: string, speaker = ''): void {
    if (text === '') return;
    this.#texts.push(text);
    this.#speakers.push(speaker);
  }

  /** Forgets what a node has said: it begins anew. */
  #retract(speaker: string): void {
    const speakers = this.#speakers;
    this.#texts = this.#texts.filter((_, at) => speakers[at] !== speaker);
    this.#speakers = speakers.filter((one) => one !== speaker);
  }

  #started(node: string): void {
    this.path.push(node);
    // Rarely, so that a long run does not copy its path at every node.
    if (this.path.length >= 2 * MAX_PATH) this.path = this.path.slice(-MAX_PATH);
  }

  #settled(event: NodeSettled): void {
    const { structured } = event.outputs;
    if (isJsonObject(structured) && Object.keys(structured).length > 0) this.structured[event.node] = structured;
    if (this.#storesTrace) this.#finished.push(event);
  }
}

/** Whether a node says that all its text so far is void. */
export function isRetraction({ name, data }: NodeNotice): boolean {
  return name === 'chat' && data.type === 'retract';
}

/** What an event adds to the answer; marks of reasoning become tags. */
export function textOf(event: RunEvent, projection: RagflowProjection): string {
  if (event.type === 'node-delta') return projection.speaks(event.node) ? event.text : '';
  if (event.type !== 'node-thinking' || !projection.speaks(event.node)) return '';
  return event.phase === 'started' ? THINK_OPEN : THINK_CLOSE;
}
