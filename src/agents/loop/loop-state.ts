/** What an agent remembers from round to round: the state of its graph. */
import { defineState, type StateHandle } from '../../compose/state.js';
import type { StepActivation } from '../../compose/step.js';
import type { AssistantMessage, ChatMessage, TokenUsage, ToolMessage } from '../../models/messages.js';

/** See {@link Loop}. */
export interface LoopState {
  /** What the agent was given and everything since, without its instructions. */
  readonly messages: readonly ChatMessage[];
  /** How many messages, from the first, it was given, or has in place of others. */
  readonly given: number;
  /** What it has said and others stand in place of now. */
  readonly replaced: readonly ChatMessage[];
  /** Whether others stand in place of messages that it was given or has said. */
  readonly isReplaced: boolean;
  /** Calls of the model that have begun. */
  readonly round: number;
  readonly usage: TokenUsage;
  /** Milliseconds that its model and its tools were at work. */
  readonly elapsedMs: number;
  /** Answers that did not have the form that was asked for. */
  readonly repairs: number;
  /** Position of the model that answered last, among the model and those that stand in for it. */
  readonly model: number;
  /** Why no tool may be called any more; empty as long as they may. */
  readonly spent: string;
  /** The answer of a round, where its events told another one (`answerEvents`). */
  readonly kept?: { readonly round: number; readonly message: AssistantMessage };
  /** Results of calls of the newest answer that need not be made. */
  readonly answered: readonly ToolMessage[];
  /** What middlewares remember, by their names. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** The state of an agent at work; fresh for every activation of the agent. */
export const Loop = defineState<LoopState>('agent', () => ({
  messages: [],
  given: 0,
  replaced: [],
  isReplaced: false,
  round: 0,
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  elapsedMs: 0,
  repairs: 0,
  model: 0,
  spent: '',
  answered: [],
  own: {},
}));

/** The state of the agent around a step. */
export function loopAt(at: StepActivation): StateHandle<LoopState> {
  return at.state(Loop);
}

/** The newest answer of the model; one without text when there is none. */
export function newestAnswer({ messages }: LoopState): AssistantMessage {
  const message = messages.findLast(({ role }) => role === 'assistant');
  return message?.role === 'assistant' ? message : { role: 'assistant', content: '' };
}

/** The answer of a round that an agent goes on with, for the one that its events told. */
export function keptAnswer({ kept, round }: LoopState, told: AssistantMessage): AssistantMessage {
  return kept?.round === round && told.extra?.failed === undefined ? kept.message : told;
}

/** What an agent has added to its conversation. */
export function addedBy({ messages, given, replaced }: LoopState): readonly ChatMessage[] {
  return [...replaced, ...messages.slice(given)];
}

/** Two counts of tokens as one. */
export function addUsage(before: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  if (more === undefined) return before;
  return {
    promptTokens: before.promptTokens + more.promptTokens,
    completionTokens: before.completionTokens + more.completionTokens,
    totalTokens: before.totalTokens + more.totalTokens,
  };
}

/** Two counts of one answer, as providers count up: the largest of each. */
export function largerUsage(before: TokenUsage | undefined, next: TokenUsage): TokenUsage {
  if (before === undefined) return next;
  return {
    promptTokens: Math.max(before.promptTokens, next.promptTokens),
    completionTokens: Math.max(before.completionTokens, next.completionTokens),
    totalTokens: Math.max(before.totalTokens, next.totalTokens),
  };
}
