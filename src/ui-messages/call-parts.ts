/** The parts of a message that are calls of tools: announced by a model, made by a node, ended with what the tool gave. */
import type { NodeHeader } from '../graph/events.js';
import type { CallReport } from '../graph/node-events.js';
import { type Json, jsonOrText } from '../json.js';
import type { UiMessageChunk, UiToolCall } from './protocol.js';

/** A call in its working form. */
interface CallPart {
  /** Unique in the message, other than the ids of models. */
  readonly id: string;
  /** As the model or the node gave it. */
  readonly givenId: string;
  readonly name: string;
  readonly within: string | undefined;
  /** The JSON text of the arguments, as far as a model wrote it. */
  text: string;
  hasInput: boolean;
  /** The token that made the call; undefined before that. */
  token: number | undefined;
  hasEnded: boolean;
  output: string | undefined;
}

/** A piece of a call that a model asks for. */
export interface CallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** What a tool gave. */
export interface CallResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Ids that are known to be taken; beyond them every id gets a number. */
const MAX_IDS = 10_000;

/** Characters of arguments that are put together; longer ones are shown as they came. */
const MAX_INPUT = 4_000_000;

/** Calls of a message that have no result yet. */
const MAX_OPEN = 1_000;

/** Why calls without a result have none. */
const STOPPED = 'The call was stopped.';

/** The calls of a message. */
export class CallParts {
  readonly #taken = new Set<string>();
  /** Calls without a result, by the id that they were given. */
  readonly #open = new Map<string, CallPart[]>();
  /** Calls that a model is writing, by token and position. */
  readonly #written = new Map<string, CallPart>();
  /** Calls that a node makes, by token and the id of its report. */
  readonly #made = new Map<string, CallPart>();
  #count = 0;
  #numbered = 0;

  /** Whether calls wait for their results. */
  get areOpen(): boolean {
    return this.#count > 0;
  }

  /** Knows a call of a message that goes on. */
  know({ toolCallId, toolName }: Pick<UiToolCall, 'toolCallId' | 'toolName'>): void {
    const part = this.#add(toolCallId, toolCallId, toolName, undefined);
    part.hasInput = true;
  }

  /** A piece of what a model writes. */
  write({ token, within }: NodeHeader, piece: CallPiece, out: UiMessageChunk[]): void {
    const key = `${token} ${piece.index ?? piece.id ?? ''}`;
    let part = this.#written.get(key);
    // Without a position, a piece with an id is a call of its own.
    if (part === undefined || (piece.index === undefined && piece.id !== undefined)) {
      if (part !== undefined) this.#complete(part, out);
      if (piece.name === undefined) return;
      part = this.#announce(piece.id ?? `call-${token}-${piece.index ?? 0}`, piece.name, within, out);
      this.#written.set(key, part);
    }
    const delta = piece.arguments ?? '';
    if (delta === '') return;
    if (part.text.length < MAX_INPUT) part.text += delta;
    out.push({ type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: delta });
  }

  /** What a node reports of a call that it makes itself. */
  report(header: NodeHeader, call: CallReport, out: UiMessageChunk[]): void {
    const { token, within } = header;
    const key = `${token} ${call.id}`;
    if (call.type === 'started') {
      if (call.kind === 'model') return;
      const given = call.attributes?.['gen_ai.tool.call.id'];
      const id = typeof given === 'string' && given !== '' ? given : `call-${token}-${call.id}`;
      const part = this.#unmade(id, within) ?? this.#announce(id, call.name, within, out);
      if (part.text !== '') this.#complete(part, out);
      part.token = token;
      if (call.asked !== undefined) this.#giveInput(part, call.asked, out);
      this.#made.set(key, part);
      return;
    }
    const part = this.#made.get(key);
    if (part === undefined || call.type !== 'finished') return;
    this.#made.delete(key);
    part.hasEnded = true;
    if (call.error !== undefined) this.#fail(part, call.error.message, out);
    else if (part.output !== undefined) this.#give(part, part.output, out);
  }

  /** What a call gave: the whole of it, or a piece while the call is made. */
  result({ id, text, isError }: CallResult, { within }: NodeHeader, out: UiMessageChunk[]): void {
    const candidates = this.#open.get(id) ?? [];
    const part = candidates.findLast((one) => one.within === within) ?? candidates.at(-1);
    if (part === undefined) return;
    part.output = (part.output ?? '') + text;
    if (isError) this.#fail(part, part.output, out);
    else if (part.hasEnded || part.token === undefined) this.#give(part, part.output, out);
  }

  /** The arguments and the result of a call that has just ended, which a node tells by the name of the tool. */
  logged(token: number, name: string, input: Json, result: Json, out: UiMessageChunk[]): void {
    for (const parts of this.#open.values()) {
      const part = parts.find((one) => one.token === token && one.hasEnded && one.name === name);
      if (part === undefined) continue;
      this.#giveInput(part, input, out);
      this.#give(part, result, out);
      return;
    }
  }

  /** A token has ended: what its model wrote is whole, and what its calls gave is all there is. */
  settle(token: number, out: UiMessageChunk[]): void {
    for (const [key, part] of this.#written) {
      if (!key.startsWith(`${token} `)) continue;
      this.#written.delete(key);
      this.#complete(part, out);
    }
    for (const part of this.#ofToken(token)) {
      if (part.hasEnded) this.#give(part, part.output ?? null, out);
    }
  }

  /** A token begins anew, or is stopped: its calls have no result. */
  stop(token: number, out: UiMessageChunk[]): void {
    for (const [key, part] of this.#written) {
      if (!key.startsWith(`${token} `)) continue;
      this.#written.delete(key);
      this.#fail(part, STOPPED, out);
    }
    for (const part of this.#ofToken(token)) this.#fail(part, STOPPED, out);
  }

  stopAll(out: UiMessageChunk[]): void {
    for (const parts of [...this.#open.values()]) for (const part of [...parts]) this.#fail(part, STOPPED, out);
    this.#written.clear();
  }

  /** The id, in the message, of an open call with a given id; a new part where there is none. */
  ask(givenId: string, name: string, input: Json, out: UiMessageChunk[]): string {
    const part = this.#open.get(givenId)?.at(-1) ?? this.#announce(givenId, name, undefined, out);
    this.#giveInput(part, input, out);
    part.token = undefined;
    part.hasEnded = false;
    for (const [key, made] of this.#made) if (made === part) this.#made.delete(key);
    return part.id;
  }

  /** An open call that a question may be about. */
  find(givenId: string): boolean {
    return this.#open.has(givenId);
  }

  /** The user has answered, and the call is made: it stands as it stood before the question. */
  allow(toolCallId: string, name: string, input: Json, out: UiMessageChunk[]): void {
    out.push({ type: 'tool-input-available', toolCallId, toolName: name, input });
  }

  /** The call is over without a report of its own. */
  close(toolCallId: string): void {
    for (const parts of this.#open.values()) {
      const part = parts.find(({ id }) => id === toolCallId);
      if (part !== undefined) this.#forget(part);
    }
  }

  #announce(givenId: string, name: string, within: string | undefined, out: UiMessageChunk[]): CallPart {
    const part = this.#add(this.#uniqueId(givenId), givenId, name, within);
    out.push({ type: 'tool-input-start', toolCallId: part.id, toolName: name });
    return part;
  }

  #add(id: string, givenId: string, name: string, within: string | undefined): CallPart {
    if (this.#count >= MAX_OPEN) this.#forget([...this.#open.values()][0]?.[0] as CallPart);
    const start = { text: '', hasInput: false, token: undefined, hasEnded: false, output: undefined };
    const part: CallPart = { id, givenId, name, within, ...start };
    if (this.#taken.size < MAX_IDS) this.#taken.add(id);
    const others = this.#open.get(givenId);
    if (others === undefined) this.#open.set(givenId, [part]);
    else others.push(part);
    this.#count += 1;
    return part;
  }

  #uniqueId(givenId: string): string {
    if (this.#taken.size < MAX_IDS && !this.#taken.has(givenId)) return givenId;
    this.#numbered += 1;
    return `${givenId}~${this.#numbered}`;
  }

  #unmade(givenId: string, within: string | undefined): CallPart | undefined {
    const unmade = (this.#open.get(givenId) ?? []).filter(({ token }) => token === undefined);
    return unmade.findLast((one) => one.within === within) ?? unmade.at(-1);
  }

  #ofToken(token: number): readonly CallPart[] {
    return [...this.#open.values()].flat().filter((part) => part.token === token);
  }

  #complete(part: CallPart, out: UiMessageChunk[]): void {
    this.#giveInput(part, part.text === '' ? {} : jsonOrText(part.text), out);
    part.text = '';
  }

  #giveInput(part: CallPart, input: Json, out: UiMessageChunk[]): void {
    if (part.hasInput) return;
    part.hasInput = true;
    out.push({ type: 'tool-input-available', toolCallId: part.id, toolName: part.name, input });
  }

  #give(part: CallPart, output: Json, out: UiMessageChunk[]): void {
    this.#complete(part, out);
    this.#forget(part);
    out.push({ type: 'tool-output-available', toolCallId: part.id, output, providerExecuted: true });
  }

  #fail(part: CallPart, errorText: string, out: UiMessageChunk[]): void {
    this.#complete(part, out);
    this.#forget(part);
    out.push({ type: 'tool-output-error', toolCallId: part.id, errorText, providerExecuted: true });
  }

  #forget(part: CallPart): void {
    const left = (this.#open.get(part.givenId) ?? []).filter((one) => one !== part);
    if (left.length === 0) this.#open.delete(part.givenId);
    else this.#open.set(part.givenId, left);
    for (const [key, one] of this.#made) if (one === part) this.#made.delete(key);
    this.#count -= 1;
  }
}
