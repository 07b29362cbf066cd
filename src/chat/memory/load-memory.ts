/** Stage 1 of a chat: what was said before, as far as a model is told of it. */
import type { Observable } from 'rxjs';
import { cutToTokens, estimateTokens } from '../../models/estimate-tokens.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { ChatStore, ChatSummary, PlacedMessage } from '../../records/chats.js';
import type { PastMessage, StageResult } from '../stages/stage-result.js';
import { messagesOf, newestTurns, turnsOf } from './turns.js';

/** How much a chat remembers. */
export interface MemoryLimits {
  /** Turns that are looked at, and above which the oldest are summarised; at least 1. @default 20 */
  readonly maxTurns?: number | undefined;
  /** Turns that a model is told, the newest; at least 0. @default 10 */
  readonly toldTurns?: number | undefined;
  /** Estimated tokens of those and of the summary together; at least 1. @default 4,000 */
  readonly maxTokens?: number | undefined;
}

/** What {@link loadMemory} works with. */
export interface LoadMemoryOptions extends MemoryLimits {
  readonly store: Pick<ChatStore, 'messages' | 'summary'>;
  readonly tenant: string;
  readonly session: string;
  /** Ids of messages that do not count, such as those of a turn that is repeated. @default none */
  readonly except?: readonly string[] | undefined;
}

/** What a chat remembers. */
export interface Memory {
  /** What the turns before `history` said; undefined: there is no summary. */
  readonly summary: string | undefined;
  /** The newest turns, oldest first. */
  readonly history: readonly MemoryMessage[];
}

/** A message that is remembered, by its id. */
export interface MemoryMessage extends PastMessage {
  readonly id?: string;
}

/** What a chat without a past remembers. */
export const NO_MEMORY: Memory = { summary: undefined, history: [] };

/** Share of the tokens that a summary may have. */
export const SUMMARY_SHARE = 0.25;
/** Messages of a turn at most, where turns are counted. */
const MESSAGES_PER_TURN = 2;

/**
 * Loads the memory of a session: the summary, and the newest turns that it does not cover, as many as the limits allow.
 *
 * ```text
 * store     --(summary)--(messages)
 * result    --------------(m|)
 * ```
 *
 * `detail`: `history_count` (turns), `summary` (whether there is one), `tokens` (estimated, of both). The summary is read before the messages behind it:
 * when another one takes its place in between, nothing is missing and nothing comes twice. Errors: those of the store.
 *
 * @throws EngineError OPTION_INVALID
 */
export function loadMemory(options: LoadMemoryOptions): Observable<StageResult<Memory>> {
  const { store, tenant, session, except = [] } = options;
  const limits = memoryLimits('loadMemory', options);
  return fromAbortable(async () => {
    const summary = await store.summary(tenant, session);
    const limit = limits.maxTurns * MESSAGES_PER_TURN + except.length;
    const messages = await store.messages(tenant, session, { after: summary?.position ?? 0, limit, newest: true });
    const counting = except.length === 0 ? messages : messages.filter(({ id }) => !except.includes(id));
    return remember(summary, counting, limits);
  });
}

/** Limits with their defaults. @throws EngineError OPTION_INVALID */
export function memoryLimits(owner: string, given: MemoryLimits): { readonly [K in keyof MemoryLimits]-?: number } {
  const { maxTurns = 20, toldTurns = 10, maxTokens = 4_000 } = given;
  requireWhole(owner, 'maxTurns', maxTurns, 1);
  requireWhole(owner, 'toldTurns', toldTurns, 0);
  requireWhole(owner, 'maxTokens', maxTokens, 1);
  return { maxTurns, toldTurns, maxTokens };
}

function remember(
  summary: ChatSummary | undefined,
  messages: readonly PlacedMessage[],
  { maxTurns, toldTurns, maxTokens }: ReturnType<typeof memoryLimits>,
): StageResult<Memory> {
  const text = summary && cutToTokens(summary.text, Math.floor(maxTokens * SUMMARY_SHARE));
  const summaryTokens = text === undefined ? 0 : estimateTokens(text);
  const turns = newestTurns(turnsOf(messages).slice(-maxTurns), toldTurns, maxTokens - summaryTokens);
  const tokens = turns.reduce((sum, turn) => sum + turn.tokens, summaryTokens);
  return {
    value: { summary: text, history: messagesOf(turns) },
    detail: { history_count: turns.length, summary: text !== undefined, tokens },
  };
}
