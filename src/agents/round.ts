/**
 * What a round of an agent decides, as functions of plain data; the steps of its loop (`loop/agent-graph.ts`) carry it out.
 *
 * ```text
 *            spentReason            requestMessages              afterAnswer
 * facts ──> may tools be called? ──> what is asked ──> answer ──> calls ──> results ──> facts
 *                                                           ├──> again
 *                                                           └──> the answer
 * ```
 */
import { type ChatMessage, contentText } from '../models/chat-model.js';
import type { AssistantPart, ToolCall } from '../models/content-parts.js';
import type { AssistantMessage, TokenUsage } from '../models/messages.js';
import type { Language } from './language.js';
import { ROUND_TEXTS } from './round-texts.js';

/** What rules see of an agent between two rounds. */
export interface RoundFacts {
  /** Rounds that have been made: calls of the model, or, for agents of nodes, rounds of tool calls. */
  readonly round: number;
  /** The conversation, without instructions. */
  readonly messages: readonly ChatMessage[];
  readonly usage: Pick<TokenUsage, 'totalTokens'>;
  /** Milliseconds that the model and tools were at work. */
  readonly elapsedMs: number;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

/** Looks at an agent before each call of its model; text says why it may call no more tools. */
export type RoundRule<F extends RoundFacts = RoundFacts> = (facts: F) => string | undefined;

/** Tool calls that are made of one answer; further ones are dropped. */
const MAX_CALLS = 64;

/** Characters of a conversation after which no further tool is called: it is stored whole after every round. */
const MAX_CONVERSATION = 4_000_000;

/** Why no further tool may be called: what the first rule says that says something, or that the conversation is too long. */
export function spentReason<F extends RoundFacts>(rules: readonly RoundRule<F>[], facts: F): string | undefined {
  for (const rule of rules) {
    const reason = rule(facts);
    if (reason !== undefined) return reason;
  }
  if (isLongerThan(facts.messages, MAX_CONVERSATION)) return ROUND_TEXTS[facts.language ?? 'en'].tooLong;
  return undefined;
}

/** Rule: at most so many tokens, as far as the model counts them. */
export function tokensRule(most: number): RoundRule {
  return ({ usage, language = 'en' }) => (usage.totalTokens >= most ? ROUND_TEXTS[language].tokens(most) : undefined);
}

/** Rule: at most so many milliseconds in which the model or a tool is at work. */
export function millisecondsRule(most: number): RoundRule {
  return ({ elapsedMs, language = 'en' }) =>
    elapsedMs >= most ? ROUND_TEXTS[language].seconds(most / 1000) : undefined;
}

/** What a model is asked: the conversation, and behind it that tools may not be called any more, when there is a reason. */
export function requestMessages(
  messages: readonly ChatMessage[],
  spent: string | undefined,
  language: Language = 'en',
): readonly ChatMessage[] {
  if (spent === undefined) return messages;
  const content = ROUND_TEXTS[language].noMoreTools(spent);
  return [...messages, { role: 'user', content }];
}

/** What comes of an answer. `again`: it says nothing, and the model is asked once more. */
export type NextMove = 'calls' | 'again' | 'answer';

/** What comes of an answer. `mayCall`: tools were offered. `isRetry`: an empty answer counts now. */
export function afterAnswer(
  answer: Pick<AssistantMessage, 'content' | 'parts' | 'toolCalls'>,
  { mayCall, isRetry }: { readonly mayCall: boolean; readonly isRetry: boolean },
): NextMove {
  if (mayCall && (answer.toolCalls?.length ?? 0) > 0) return 'calls';
  return !isRetry && isEmpty(answer) ? 'again' : 'answer';
}

/** The calls of an answer that are made: 64 at most, so that no answer starts more work than that. */
export function callsMade({ toolCalls = [] }: Pick<AssistantMessage, 'toolCalls'>): readonly ToolCall[] {
  return toolCalls.length > MAX_CALLS ? toolCalls.slice(0, MAX_CALLS) : toolCalls;
}

/** The parts of an answer without those of calls that are not made. */
export function partsMade(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  let left = MAX_CALLS;
  return parts.filter((part) => {
    if (part.type === 'tool-call') left -= 1;
    return part.type !== 'tool-call' || left >= 0;
  });
}

/** Whether an answer says nothing: thoughts alone are no answer. */
function isEmpty({ content, parts = [] }: Pick<AssistantMessage, 'content' | 'parts'>): boolean {
  return content.trim() === '' && parts.every(({ type }) => SILENT.has(type));
}

/** Parts that are no answer by themselves; texts are part of the content. */
const SILENT: ReadonlySet<AssistantPart['type']> = new Set(['text', 'reasoning', 'tool-call']);

/** Whether a conversation has more characters, with calls and with all parts of answers. */
function isLongerThan(messages: readonly ChatMessage[], most: number): boolean {
  let length = 0;
  for (const message of messages) {
    const { content } = message;
    length += typeof content === 'string' ? content.length : contentText(content).length;
    if (message.role === 'assistant') length += lengthOfParts(message);
    if (length > most) return true;
  }
  return false;
}

function lengthOfParts({ toolCalls, parts }: Pick<AssistantMessage, 'toolCalls' | 'parts'>): number {
  let length = parts === undefined || parts.length === 0 ? 0 : JSON.stringify(parts).length;
  if (toolCalls !== undefined) for (const call of toolCalls) length += call.arguments.length;
  return length;
}
