import { cutToTokens, estimateTokens } from '../../models/estimate-tokens.js';
import type { PlacedMessage } from '../../records/chats.js';

/** A question and its answers; an answer without a question, whose message was deleted, is a turn of its own. */
export interface StoredTurn {
  readonly messages: readonly PlacedMessage[];
  /** Estimated. */
  readonly tokens: number;
}

/** Messages in their order, as turns. */
export function turnsOf(messages: readonly PlacedMessage[]): readonly StoredTurn[] {
  const turns: { messages: PlacedMessage[]; tokens: number }[] = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    const tokens = estimateTokens(message.content);
    if (turn === undefined || message.role === 'user') turns.push({ messages: [message], tokens });
    else {
      turn.messages.push(message);
      turn.tokens += tokens;
    }
  }
  return turns;
}

/**
 * The newest turns that fit, whole, in their order: one that does not fit ends the row. Of the newest turn, when not even that fits, each message is
 * cut to its share.
 */
export function newestTurns(turns: readonly StoredTurn[], maxTurns: number, maxTokens: number): readonly StoredTurn[] {
  let left = maxTokens;
  let from = turns.length;
  while (from > 0 && turns.length - from < maxTurns) {
    const { tokens } = turns[from - 1] as StoredTurn;
    if (tokens > left) break;
    left -= tokens;
    from -= 1;
  }
  const newest = turns.at(-1);
  if (from < turns.length || newest === undefined || maxTurns === 0) return turns.slice(from);
  return [cut(newest, maxTokens)];
}

/** The messages of turns, in order. */
export function messagesOf(turns: readonly StoredTurn[]): readonly Pick<PlacedMessage, 'role' | 'content' | 'id'>[] {
  return turns.flatMap(({ messages }) => messages.map(({ role, content, id }) => ({ role, content, id })));
}

function cut({ messages, tokens }: StoredTurn, maxTokens: number): StoredTurn {
  const shorter = messages.map((message) => {
    const share = Math.floor((estimateTokens(message.content) * maxTokens) / tokens);
    return { ...message, content: cutToTokens(message.content, share) };
  });
  return { messages: shorter, tokens: shorter.reduce((sum, { content }) => sum + estimateTokens(content), 0) };
}
