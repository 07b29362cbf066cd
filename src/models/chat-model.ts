import type { Observable } from 'rxjs';
import type { JsonObject } from '../json.js';

/** A piece of a message: text, or an image by URL (`https:` or `data:image/…`). */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly url: string };

/** A call of a tool that a model asks for; `arguments` is JSON text as the model wrote it, not yet checked. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One message of a conversation. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string | readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

/** A tool that is offered to a model; `parameters` is a JSON schema of an object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** How the next word is chosen; what is left out is left to the provider. */
export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
}

/** How often to try again; what is left out comes from the configuration. */
export interface ChatRetries {
  /** Attempts after the first; a whole number of at least 0. */
  readonly maxRetries?: number | undefined;
  /** Milliseconds before the first retry; doubles with each further one. */
  readonly delayMs?: number | undefined;
}

/** Everything one call of a chat model needs. */
export interface ChatRequest {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string } | undefined;
  /** Asks for an answer that is JSON of this schema; a provider may refuse, the caller falls back. */
  readonly jsonSchema?: { readonly name: string; readonly schema: JsonObject; readonly strict?: boolean } | undefined;
  readonly sampling?: Sampling | undefined;
  /** Switches reasoning on or off where a provider can. */
  readonly thinking?: 'enabled' | 'disabled' | undefined;
  /** Passed on untouched, for servers that render prompts by a template. */
  readonly chatTemplateKwargs?: JsonObject | undefined;
  /** An id of the end user, for the provider's abuse detection. */
  readonly user?: string | undefined;
  readonly retries?: ChatRetries | undefined;
  /** While it gives a promise that has not settled, the answer is not read on. @default reads as fast as it comes */
  readonly ready?: (() => PromiseLike<void> | undefined) | undefined;
  /** Further HTTP headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a call cost, in tokens. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens that the provider took from its cache. */
  readonly cachedTokens?: number;
}

/**
 * A piece of an answer.
 *
 * `tool-call` comes once per call, complete. `usage` comes at most once. `finish` comes exactly once and last; its reason is the
 * provider's (`stop`, `length`, `tool_calls`, `content_filter` …), or `unknown` when the provider gave none.
 */
export type ChatDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | ({ readonly type: 'tool-call'; readonly index: number } & ToolCall)
  | ({ readonly type: 'usage' } & TokenUsage)
  | { readonly type: 'finish'; readonly reason: string };

/**
 * A model that answers a conversation.
 *
 * `chat` is cold: one subscription is one call. Unsubscribing closes the connection at once.
 * Errors: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE`.
 */
export interface ChatModel {
  chat(request: ChatRequest): Observable<ChatDelta>;
}

/** The text of a message's content; images are left out. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}
