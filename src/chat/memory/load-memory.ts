/** Stage 1 of a chat: what was said before, as far as a model is told of it. */
import { map, type Observable, of, timeInterval, timeout } from 'rxjs';
import type { ChatMessage } from '../../models/chat-model.js';
import { cutToTokens, estimateTokens } from '../../models/estimate-tokens.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { ChatStore, ChatSummary, PlacedMessage } from '../../records/chats.js';
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
  /** Longer than this counts as over the budget, in milliseconds. @default 50 */
  readonly budgetMs?: number | undefined;
  /** Then the chat goes on without a memory, in milliseconds. @default 500 */
  readonly limitMs?: number | undefined;
}

/** What a chat remembers. */
export interface Memory {
  /** What the turns before `history` said; undefined: there is no summary. */
  readonly summary: string | undefined;
  /** The newest turns, oldest first. */
  readonly history: readonly ChatMessage[];
  /** `degraded`: the store did not answer in time, so nothing is remembered. */
  readonly status: 'ok' | 'degraded';
  readonly ms: number;
  readonly isOverBudget: boolean;
  /** For `stage_end`. */
  readonly detail: MemoryDetail;
}

/** What a client is told of a memory. */
export interface MemoryDetail {
  /** Turns in `history`. */
  readonly history_count: number;
  /** Whether there is a summary. */
  readonly summary: boolean;
  /** Estimated, of summary and history. */
  readonly tokens: number;
}

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
 *
 * store     ------------ 500 ms ---
 * result    ------------ 500 ms (d|)   (degraded; the store is not waited for any more)
 * ```
 *
 * The summary is read before the messages behind it: when another one takes its place in between, nothing is missing and nothing comes twice.
 * Errors: those of the store.
 *
 * @throws EngineError OPTION_INVALID
 */
export function loadMemory(options: LoadMemoryOptions): Observable<Memory> {
  const { store, tenant, session, budgetMs = 50, limitMs = 500 } = options;
  const limits = memoryLimits('loadMemory', options);
  const read$ = fromAbortable(async () => {
    const summary = await store.summary(tenant, session);
    const limit = limits.maxTurns * MESSAGES_PER_TURN;
    const messages = await store.messages(tenant, session, { after: summary?.position ?? 0, limit, newest: true });
    return remember(summary, messages, limits);
  });
  return read$.pipe(
    timeout({ first: limitMs, with: () => of(NOTHING) }),
    timeInterval(),
    map(({ value, interval: ms }): Memory => ({ ...value, ms, isOverBudget: ms > budgetMs })),
  );
}

type Remembered = Omit<Memory, 'ms' | 'isOverBudget'>;

const NOTHING: Remembered = {
  summary: undefined,
  history: [],
  status: 'degraded',
  detail: { history_count: 0, summary: false, tokens: 0 },
};

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
): Remembered {
  const text = summary && cutToTokens(summary.text, Math.floor(maxTokens * SUMMARY_SHARE));
  const summaryTokens = text === undefined ? 0 : estimateTokens(text);
  const turns = newestTurns(turnsOf(messages).slice(-maxTurns), toldTurns, maxTokens - summaryTokens);
  const tokens = turns.reduce((sum, turn) => sum + turn.tokens, summaryTokens);
  return {
    summary: text,
    history: messagesOf(turns),
    status: 'ok',
    detail: { history_count: turns.length, summary: text !== undefined, tokens },
  };
}
