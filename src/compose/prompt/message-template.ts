/** What prompts are made of: messages with fields in their texts, places for messages, and messages as they are. */
import type { ContentPart } from '../../models/content-parts.js';
import type {
  AssistantMessage,
  ChatMessage,
  MessageOptions,
  SystemMessage,
  UserMessage,
} from '../../models/messages.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';

/** Parts whose texts have fields; others stay as they are. */
export type FilledType = 'text' | 'image' | 'image_url' | 'audio' | 'video' | 'file';

/** Names of texts that have fields in such parts. */
export type FilledKey = 'text' | 'url' | 'data' | 'fileId' | 'name' | 'transcript';

/** The texts with fields of a content, as a union of their literal types. */
export type TextsIn<C> = C extends string ? C : C extends readonly (infer P)[] ? TextsInPart<P> : never;

/** The literal texts of one part. */
export type TextsInPart<P> = P extends { readonly type: FilledType }
  ? { [K in keyof P & FilledKey]: Extract<P[K], string> }[keyof P & FilledKey]
  : never;

/** A message with fields in its texts. `T` is the union of these texts. */
export interface MessageTemplate<T extends string = string> {
  readonly template: 'message';
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
  /** Further fields of the message, which stay as they are. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Never set: it carries the type. */
  readonly '~texts'?: T;
}

/** A place for a list of messages. */
export interface MessagesPlaceholder<N extends string = string, O extends boolean = boolean> {
  readonly template: 'placeholder';
  readonly name: N;
  /** Whether the list may be absent, so that there are no messages in its place. */
  readonly optional: O;
}

/** A part of a prompt. A message as it is may hold braces: nothing in it is filled. */
export type PromptPart = MessageTemplate | MessagesPlaceholder | ChatMessage;

/** A system message with fields: `system('You are {role}.')`. Its further fields stay as they are. */
export function system<const C extends string | readonly ContentPart[]>(
  content: C,
  options: MessageOptions<SystemMessage> = {},
): MessageTemplate<TextsIn<C>> {
  return { template: 'message', role: 'system', content, options };
}

/**
 * A user message with fields, in a text or in parts: `user([{ type: 'text', text: 'What is on {page}?' }, { type: 'image', url: '{picture}' }])`.
 * Of parts with text, image, audio, video and file the texts, URLs, data, names, transcripts and ids of files are filled.
 */
export function user<const C extends string | readonly ContentPart[]>(
  content: C,
  options: MessageOptions<UserMessage> = {},
): MessageTemplate<TextsIn<C>> {
  return { template: 'message', role: 'user', content, options };
}

/** An assistant message with fields in its text. Its tool calls and other fields stay as they are. */
export function assistant<const C extends string>(
  content: C,
  options: MessageOptions<AssistantMessage> = {},
): MessageTemplate<TextsIn<C>> {
  return { template: 'message', role: 'assistant', content, options };
}

/**
 * A place for a list of messages, which is given under its name: `placeholder('history', { optional: true })`.
 *
 * @throws EngineError OPTION_INVALID for an empty name.
 */
export function placeholder<const N extends string, const O extends boolean = false>(
  name: N,
  options: { readonly optional?: O } = {},
): MessagesPlaceholder<N, O> {
  requireOptions('placeholder', options, ['optional']);
  const { optional } = options;
  if (typeof name !== 'string' || name === '')
    throw invalidOption('placeholder', 'name', 'a text that is not empty', name);
  return { template: 'placeholder', name, optional: (optional ?? false) as O };
}
