import type { WireEvent } from '../canvas/wire-event.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

/** Citations of an answer without any. */
const NO_REFERENCE: JsonObject = {};

/** Nodes of a path that are kept; older ones are forgotten. */
export const MAX_PATH = 2_000;

/** What a run has said so far, folded from its events; what JSON answers and stored messages are made of. */
export class Transcript {
  /** What the last message that cites anything cites. */
  reference: JsonObject = NO_REFERENCE;
  messageEnd: WireEvent | undefined = undefined;
  userInputs: WireEvent | undefined = undefined;
  finished: WireEvent | undefined = undefined;
  failure: WireEvent | undefined = undefined;
  /** What came last, text apart. */
  last: WireEvent | undefined = undefined;
  /** Structured outputs by component. */
  readonly structured: Record<string, Json> = {};
  /** `node_finished` data in order; kept only when somebody asked for it. */
  readonly trace: JsonObject[] = [];
  /** Ids of the nodes that started, in order; at most {@link MAX_PATH}, the newest. */
  path: string[] = [];
  readonly #keepsTrace: boolean;
  /** In pieces, put together when somebody asks: a text that grows by every word is a chain of as many objects. */
  #texts: string[] = [];

  constructor(options: { readonly keepsTrace: boolean }) {
    this.#keepsTrace = options.keepsTrace;
  }

  /** Everything said, with reasoning in `<think>` tags. */
  get content(): string {
    if (this.#texts.length > 1) this.#texts = [this.#texts.join('')];
    return this.#texts[0] ?? '';
  }

  add(event: WireEvent): void {
    this.last = event;
    switch (event.event) {
      case 'message':
        this.addText(textOf(event.data));
        return;
      case 'message_end':
        this.messageEnd = event;
        if (isJsonObject(event.data.reference)) this.reference = event.data.reference;
        return;
      case 'node_finished':
        this.#nodeFinished(event.data);
        return;
      case 'user_inputs':
        this.userInputs = event;
        return;
      case 'workflow_finished':
        this.finished = event;
        return;
      case 'error':
        this.failure = event;
        return;
      case 'node_started':
        this.#started(String(event.data.component_id));
        return;
      case 'workflow_started':
      case 'node_restarted':
        return;
    }
  }

  /** A piece of text; quicker than as an event. */
  addText(text: string): void {
    this.#texts.push(text);
  }

  #started(node: string): void {
    this.path.push(node);
    // Rarely, so that a long run does not copy its path at every node.
    if (this.path.length >= 2 * MAX_PATH) this.path = this.path.slice(-MAX_PATH);
  }

  #nodeFinished(data: JsonObject): void {
    const { outputs, component_id: component } = data;
    const structured = isJsonObject(outputs) ? outputs.structured : undefined;
    if (typeof component === 'string' && isJsonObject(structured) && Object.keys(structured).length > 0) {
      this.structured[component] = structured;
    }
    if (this.#keepsTrace) this.trace.push(data);
  }
}

/** The text of a `message` event; marks of reasoning become tags. */
export function textOf(data: JsonObject): string {
  if (data.start_to_think === true) return '<think>';
  if (data.end_to_think === true) return '</think>';
  return typeof data.content === 'string' ? data.content : '';
}
