/** Values of the frames of providers, which may be anything. */
import type { TokenUsage } from './messages.js';

/** Tokens that no answer has: a larger number is taken for none, so that sums stay exact. */
const MAX_TOKENS = 1_000_000_000;

/** A text of a frame; another value is an empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A number of tokens of a frame; what is none is 0. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= MAX_TOKENS ? Math.floor(value) : 0;
}

/** The counts of a frame, as they stand there. */
export interface GivenCounts {
  readonly prompt: unknown;
  readonly completion: unknown;
  /** @default the sum of both */
  readonly total?: unknown;
  /** Left out when it is no number. */
  readonly cached?: unknown;
  /** Left out when it is no number. */
  readonly reasoning?: unknown;
}

/** What an answer cost, by the counts of a frame. */
export function usageOf({ prompt, completion, total, cached, reasoning }: GivenCounts): TokenUsage {
  const promptTokens = countOf(prompt);
  const completionTokens = countOf(completion);
  return {
    promptTokens,
    completionTokens,
    totalTokens: countOf(total) || promptTokens + completionTokens,
    ...(typeof cached === 'number' && { cachedTokens: countOf(cached) }),
    ...(typeof reasoning === 'number' && { reasoningTokens: countOf(reasoning) }),
  };
}

/** Our word for one of a provider; one that is not in the table stays as it is. */
export function translated(words: Readonly<Record<string, string>>, word: string): string {
  return Object.hasOwn(words, word) ? (words[word] as string) : word;
}
