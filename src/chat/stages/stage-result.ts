/** What stages of a chat give, and what they share. */
import type { JsonObject } from '../../json.js';
import type { ChatModel } from '../../models/chat-model.js';
import type { KeyedCache } from '../../newest.js';

/** What a stage found, and what is told of it. */
export interface StageResult<T> {
  readonly value: T;
  /** Of the event `stage_end`. */
  readonly detail: JsonObject;
  /** `degraded`: the model failed, and the rules count. @default 'ok' */
  readonly status?: 'ok' | 'cache_hit' | 'degraded';
}

/** A decision to answer without the stages in between. */
export interface DirectAnswer {
  readonly text: string;
  readonly reason: string;
}

/** What a decision gives: an answer that ends the chat here, or nothing. */
export interface DecisionResult {
  readonly answer?: DirectAnswer | undefined;
  readonly detail: JsonObject;
}

/** A model that stages may ask, by the name that its requests carry. */
export interface StageModel {
  readonly model: ChatModel;
  readonly name: string;
}

/** A message of the conversation so far, the earliest first. */
export interface PastMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What earlier chats found, by content and configuration. */
export type StageCache<T> = KeyedCache<T>;
