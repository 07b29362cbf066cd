/** The messages of a conversation, the pieces that an answer arrives in, and short ways to write messages. */
import type { JsonObject } from '../json.js';
import type { AssistantPart, ContentPart, ToolCall, ToolOutputPart } from './content-parts.js';

/** What a call cost, in tokens. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens that the provider took from its cache; part of `promptTokens`. */
  readonly cachedTokens?: number;
  /** Tokens that the model thought with; part of `completionTokens`. */
  readonly reasoningTokens?: number;
}

/** A token that could have stood at a place, and how likely it was. */
export interface TokenAlternative {
  readonly token: string;
  /** The natural logarithm of the probability, at most 0. */
  readonly logProbability: number;
  /** The token in UTF-8, for tokens that are parts of a character. */
  readonly bytes?: readonly number[];
}

/** A token of an answer, how likely it was, and what else was likely at its place. */
export interface TokenProbability extends TokenAlternative {
  /** Most likely first; with the token itself where the provider counts it in. */
  readonly alternatives?: readonly TokenAlternative[];
}

/** What every message may have. */
export interface MessageFields {
  /** Who speaks, where several speak in one role. */
  readonly name?: string;
  /** An id of the message, unique in its conversation. */
  readonly id?: string;
  /** Facts for readers of the conversation; never sent to a model. */
  readonly extra?: JsonObject;
}

/** What a model is told about its part, before the conversation. */
export interface SystemMessage extends MessageFields {
  readonly role: 'system';
  readonly content: string | readonly ContentPart[];
}

/** What a person says. */
export interface UserMessage extends MessageFields {
  readonly role: 'user';
  readonly content: string | readonly ContentPart[];
}

/** What a model answered. */
export interface AssistantMessage extends MessageFields {
  readonly role: 'assistant';
  /** The text of the answer, without its thoughts. */
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  /**
   * The whole answer in its order, text, thoughts and tool calls included. Where it is given, providers send it in place of the other fields.
   * @default none: `content`, `reasoning` and `toolCalls` say everything
   */
  readonly parts?: readonly AssistantPart[];
  /** What the model thought. */
  readonly reasoning?: string;
  /** Why the answer ended, see `ChatDelta`. */
  readonly finishReason?: string;
  readonly usage?: TokenUsage;
  readonly logProbabilities?: readonly TokenProbability[];
}

/** What a tool gave for a call. */
export interface ToolMessage extends MessageFields {
  readonly role: 'tool';
  /** The result as text. */
  readonly content: string;
  /** Id of the call. */
  readonly toolCallId: string;
  /** The whole result, in place of `content`. @default none */
  readonly parts?: readonly ToolOutputPart[];
  /** Whether the result says why the tool failed. @default false */
  readonly isError?: boolean;
}

/** One message of a conversation. */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A piece of a {@link ToolCall}: pieces with one `index` are one call; a piece without an index is a call of its own. */
export interface ToolCallChunk {
  /** Position of the call in the answer, from 0. */
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  /** A piece of the JSON text. */
  readonly arguments?: string;
  readonly kind?: string;
  readonly extra?: JsonObject;
}

/**
 * A piece of a part: pieces with one `index` are one part, wherever they stand. Without an index, neighbours of one kind are one part when
 * they are text, reasoning or audio data; everything else is a part of its own.
 */
export type PartChunk = AssistantPart & {
  /** Position of the part in the answer, from 0. */
  readonly index?: number;
};

/** Anything an {@link AssistantMessage} may have, or a piece of it; `concatMessages` joins chunks. */
export interface AssistantChunk extends MessageFields {
  readonly role: 'assistant';
  readonly content?: string;
  readonly toolCalls?: readonly ToolCallChunk[];
  readonly parts?: readonly PartChunk[];
  readonly reasoning?: string;
  readonly finishReason?: string;
  readonly usage?: TokenUsage;
  readonly logProbabilities?: readonly TokenProbability[];
}

/** Any message, or a piece of one. */
export type MessageChunk = SystemMessage | UserMessage | AssistantChunk | ToolMessage;

/** Further fields of a message; a field that is undefined is left out. */
export type MessageOptions<M extends ChatMessage, Given extends keyof M = 'content'> = {
  readonly [K in Exclude<keyof M, 'role' | Given>]?: M[K] | undefined;
};

/** A message that tells a model its part: `systemMessage('You are brief.')`. */
export function systemMessage(
  content: SystemMessage['content'],
  options?: MessageOptions<SystemMessage>,
): SystemMessage {
  return { role: 'system', content, ...given(options) };
}

/** A message of a person, text or parts: `userMessage([{ type: 'text', text: 'What is this?' }, { type: 'image', url }])`. */
export function userMessage(content: UserMessage['content'], options?: MessageOptions<UserMessage>): UserMessage {
  return { role: 'user', content, ...given(options) };
}

/** A message of a model: `assistantMessage('', { toolCalls: [call] })`. */
export function assistantMessage(content: string, options?: MessageOptions<AssistantMessage>): AssistantMessage {
  return { role: 'assistant', content, ...given(options) };
}

/** What a tool gave for the call with that id: `toolMessage('42', call.id)`. */
export function toolMessage(
  content: string,
  toolCallId: string,
  options?: MessageOptions<ToolMessage, 'content' | 'toolCallId'>,
): ToolMessage {
  return { role: 'tool', content, toolCallId, ...given(options) };
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function given<T extends object>(options: T | undefined): Given<T> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<T>;
}
