import type { Observable } from 'rxjs';
import type { JsonObject } from '../json.js';
import type { AssistantPart, ToolCall } from './content-parts.js';
import type { ChatMessage, TokenProbability, TokenUsage } from './messages.js';

// Where callers of models look for them.
export { type ContentPart, contentText, type ToolCall } from './content-parts.js';
export type { ChatMessage, TokenUsage } from './messages.js';

/** A tool that is offered to a model; `parameters` is a JSON schema of an object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /**
   * Offered by name alone, and described to the model when it searches for it. For providers that have such a search; to others it is offered
   * when `toolChoice` or a `tool-reference` of a message names it. @default false
   */
  readonly deferred?: boolean | undefined;
}

/** An MCP server whose tools the provider calls itself. */
export interface McpServerDefinition {
  /** Its name in the parts of messages. */
  readonly name: string;
  readonly url: string;
  /** Sent to the server as its bearer token. */
  readonly token?: string | undefined;
  /** The tools that may be called. @default all */
  readonly allowedTools?: readonly string[] | undefined;
  /** Whether the provider asks before it calls a tool; MODEL_REQUEST where it cannot. @default 'never' */
  readonly approval?: 'always' | 'never' | undefined;
}

/** Which tools a model may or must call. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly name: string }
  | { readonly allowed: readonly string[]; readonly mode: 'auto' | 'required' };

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
  readonly toolChoice?: ToolChoice | undefined;
  /** Tools that the provider runs itself, such as its search of the web, in its own words; passed on untouched. */
  readonly serverTools?: readonly JsonObject[] | undefined;
  /** MCP servers whose tools the provider calls itself; MODEL_REQUEST where it cannot. */
  readonly mcpServers?: readonly McpServerDefinition[] | undefined;
  /** Asks for an answer that is JSON of this schema; a provider may refuse, the caller falls back. */
  readonly jsonSchema?: { readonly name: string; readonly schema: JsonObject; readonly strict?: boolean } | undefined;
  readonly sampling?: Sampling | undefined;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[] | undefined;
  /** Asks how likely each token was, with so many alternatives, 0 to 20; MODEL_REQUEST where a provider does not say. @default not asked */
  readonly logProbabilities?: number | undefined;
  /** Asks for an answer that is spoken, too; MODEL_REQUEST where a provider has no voices. @default not asked */
  readonly speech?: { readonly voice: string; readonly format: string } | undefined;
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

/**
 * A piece of an answer.
 *
 * `tool-call` comes once per call, complete. `part` is what no other piece can say: the signature of the thoughts before it, or a whole part
 * such as an image or a call that the provider makes itself; spoken answers come as pieces of audio. `usage` comes at most once. `finish` comes exactly once and last; its reason is the
 * provider's (`stop`, `length`, `tool_calls`, `content_filter` …), or `unknown` when the provider gave none.
 */
export type ChatDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | ({ readonly type: 'tool-call'; readonly index: number } & ToolCall)
  | { readonly type: 'part'; readonly part: AssistantPart }
  | { readonly type: 'log-probabilities'; readonly tokens: readonly TokenProbability[] }
  | ({ readonly type: 'usage' } & TokenUsage)
  | {
      readonly type: 'finish';
      readonly reason: string;
      /** The provider's id of the answer. @default it gave none */
      readonly id?: string;
    };

/**
 * A model that answers a conversation.
 *
 * `chat` is cold: one subscription is one call. Unsubscribing closes the connection at once.
 * Errors: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE`.
 */
export interface ChatModel {
  chat(request: ChatRequest): Observable<ChatDelta>;
}
