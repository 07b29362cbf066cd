/** What hooks, rules and instructions see of an agent at work, and what they may change. */
import type { StepActivation } from '../../compose/step.js';
import type { Json } from '../../json.js';
import type { ChatMessage, TokenUsage } from '../../models/messages.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { Language } from '../language.js';
import { isMessage } from './agent-input.js';
import { loopAt } from './loop-state.js';
import { type SessionHandle, sessionAt } from './session-values.js';

/** An agent at work. */
export interface AgentView {
  readonly agent: string;
  /** Of what its model is told. */
  readonly language: Language;
  /** Calls of the model that have begun. */
  readonly round: number;
  /** The conversation, without instructions. */
  readonly messages: readonly ChatMessage[];
  readonly usage: TokenUsage;
  /** Milliseconds that the model and tools were at work. */
  readonly elapsedMs: number;
  /** Values that the agents of a turn share; a runner's session keeps them. */
  readonly session: SessionHandle;
  readonly services: unknown;
  readonly signal: AbortSignal;
  /** Idempotency key of the step; the same when it is repeated after a crash. */
  readonly key: string;
  /** Puts another conversation in its place, for good. @throws EngineError OPTION_INVALID for what is no list of messages. */
  replaceMessages(messages: readonly ChatMessage[]): void;
  /** Says something of its own, live in the events of the run. */
  emit(name: string, data: Json): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** What tells agents apart, and how they speak. */
export interface Speaker {
  readonly name: string;
  readonly language: Language;
}

/** The view of a step of an agent. */
export class StepView implements AgentView {
  readonly agent: string;
  readonly language: Language;
  protected readonly at: StepActivation;

  constructor({ name, language }: Speaker, at: StepActivation) {
    this.agent = name;
    this.language = language;
    this.at = at;
  }

  get round(): number {
    return loopAt(this.at).value.round;
  }
  get messages(): readonly ChatMessage[] {
    return loopAt(this.at).value.messages;
  }
  get usage(): TokenUsage {
    return loopAt(this.at).value.usage;
  }
  get elapsedMs(): number {
    return loopAt(this.at).value.elapsedMs;
  }
  get session(): SessionHandle {
    return sessionAt(this.at);
  }
  get services(): unknown {
    return this.at.services;
  }
  get signal(): AbortSignal {
    return this.at.signal;
  }
  get key(): string {
    return this.at.key;
  }

  replaceMessages(messages: readonly ChatMessage[]): void {
    if (!Array.isArray(messages) || !messages.every(isMessage)) {
      throw invalidOption('replaceMessages', 'messages', 'a list of messages', messages);
    }
    const loop = loopAt(this.at);
    const { given, messages: said } = loop.value;
    loop.append('replaced', ...said.slice(given));
    loop.update({ messages, given: messages.length, isReplaced: true });
  }
  emit(name: string, data: Json): void {
    this.at.emit(name, data);
  }
  now(): number {
    return this.at.now();
  }
}
