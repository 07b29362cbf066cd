/** What people say to the agent of a node while it works: it joins at the next safe point, before a call of the model. */
import { NEVER } from 'rxjs';
import type { ContentPart } from '../models/content-parts.js';
import type { ChatMessage } from '../models/messages.js';
import type { AgentPlace, LiveControl } from './loop/live-control.js';
import type { UserInput } from './sessions/session-store.js';

/** Something that a person says to an agent at work. */
export interface NodeInput {
  /** Unique in its run: the same id counts once. */
  readonly id: string;
  readonly content: string | readonly ContentPart[];
}

/** Whose inputs they are. */
export interface InputReader {
  /** Its conversation, before it begins. */
  readonly messages: readonly ChatMessage[];
  /** Whether it begins with an answer that its model gave before: nothing joins in front of that. */
  readonly hasStoredAnswer: boolean;
  /** An input has joined, in this round. */
  heard(input: NodeInput, round: number): void;
}

/** The inputs of an agent, as its loop asks for them. Those that its conversation has already are not told again. */
export class NodeInputs implements LiveControl {
  readonly #reader: InputReader;
  readonly #known: Set<string>;
  #waiting: UserInput[] = [];

  constructor(reader: InputReader) {
    this.#reader = reader;
    this.#known = new Set(reader.messages.flatMap(({ role, id }) => (role === 'user' && id !== undefined ? [id] : [])));
  }

  add(inputs: readonly NodeInput[]): void {
    for (const input of inputs) {
      if (this.#known.has(input.id)) continue;
      this.#known.add(input.id);
      this.#waiting.push(input);
    }
  }

  waiting(): readonly UserInput[] {
    return this.#reader.hasStoredAnswer ? [] : this.#waiting;
  }

  deliver(_: AgentPlace, inputs: readonly UserInput[], round: number): void {
    this.#waiting = this.#waiting.filter((input) => !inputs.includes(input));
    for (const input of inputs) this.#reader.heard(input, round);
  }

  preempts(): boolean {
    return false;
  }

  now$(): typeof NEVER {
    return NEVER;
  }

  arrived$(): typeof NEVER {
    return NEVER;
  }

  reached(): void {}
}
