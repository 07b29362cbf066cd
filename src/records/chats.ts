/** Messages of chats, and what was said before them in short: the records, and the port of their store. */
import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { EngineError } from '../errors.js';

const chatMessageSchema = z.object({
  /** Unique in its session. */
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** What belongs to it, such as its evidence or what its reader thought of it. */
  details: jsonObject.exactOptional(),
});

/** A message of a chat. */
export type ChatMessageRecord = Readonly<z.infer<typeof chatMessageSchema>>;

/** A message at its place: positions of a session grow, from 1, in the order in which messages were stored. */
export type PlacedMessage = ChatMessageRecord & { readonly position: number };

const chatSummarySchema = z.object({
  text: z.string(),
  /** Id of the last message that it covers, and its position. */
  through: z.string(),
  position: z.number().int().positive(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
});

/** What the messages up to one of them said, in short. */
export type ChatSummary = Readonly<z.infer<typeof chatSummarySchema>>;

/** Which messages of a session. */
export interface ChatMessageQuery {
  /** Those behind this position. @default all */
  readonly after?: number;
  /** Messages at most. */
  readonly limit: number;
  /** Of more than `limit` the newest. @default the oldest */
  readonly newest?: boolean;
}

/** Bytes of one message as JSON. */
export const MAX_MESSAGE_BYTES = 4 * 1024 ** 2;

/**
 * Messages and summaries by session. The tenant is a parameter of every call; what another tenant owns does not exist.
 *
 * Summaries replace one another only over the one that was read, so that of two that are made at once one is dropped.
 */
export interface ChatStore {
  /**
   * Stores messages behind those that are there, all or none; one whose id is there already stays as it is, so the same call may come twice. Gives how many
   * were stored: none of a call whose first answer was lost.
   *
   * @throws EngineError LIMIT_REACHED for a message of more than {@link MAX_MESSAGE_BYTES}, STORE_UNAVAILABLE
   */
  append(tenant: string, session: string, messages: readonly ChatMessageRecord[]): Promise<number>;
  /** In the order of their positions. */
  messages(tenant: string, session: string, query: ChatMessageQuery): Promise<readonly PlacedMessage[]>;
  /** Replaces the details of a message; whether there is one. */
  setDetails(tenant: string, session: string, id: string, details: ChatMessageRecord['details']): Promise<boolean>;
  /** Deletes messages; ids of those that were there. A summary that covers them stays. */
  remove(tenant: string, session: string, ids: readonly string[]): Promise<readonly string[]>;
  summary(tenant: string, session: string): Promise<ChatSummary | undefined>;
  /** Stores a summary when the one before still ends with message `before` (undefined: there is none); whether it did. */
  replaceSummary(tenant: string, session: string, before: string | undefined, summary: ChatSummary): Promise<boolean>;
  /** Deletes everything of a session. */
  delete(tenant: string, session: string): Promise<void>;
}

/** The chats of one tenant. */
export interface TenantChats {
  readonly tenant: string;
  readonly store: ChatStore;
  /** The same of another tenant. */
  forTenant?(tenant: string): TenantChats;
  /** To be called once the messages of a turn are stored: a long session is summarised then. @default no session is */
  answered?(session: string): void;
}

/** Checks a message that is to be stored, and gives its JSON. @throws EngineError LIMIT_REACHED */
export function chatMessageText(message: ChatMessageRecord): string {
  const text = JSON.stringify(chatMessageSchema.parse(message));
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MESSAGE_BYTES) return text;
  throw new EngineError(
    'LIMIT_REACHED',
    `Message "${message.id}" of a chat has ${bytes} bytes; ${MAX_MESSAGE_BYTES} are allowed. Send a shorter one.`,
  );
}

/** A stored message as it was read. */
export function readChatMessage(value: unknown, position: number): PlacedMessage {
  return { ...chatMessageSchema.parse(value), position };
}

/** A stored summary as it was read. */
export function readChatSummary(value: unknown): ChatSummary {
  return chatSummarySchema.parse(value);
}
