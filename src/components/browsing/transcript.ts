import type { PageView } from '../../adapters/browser/index.js';
import { type ChatMessage, type ContentPart, contentText, type ToolCall } from '../../models/chat-model.js';
import { cutToTokens, estimateTokens } from '../../models/estimate-tokens.js';
import { browsingPrompt, pageText, taskText } from '../prompts/browsing.js';

/** Tokens of a page, and of what was done before, that a model sees at most. */
const PAGE_TOKENS = 24_000;
const PAST_TOKENS = 24_000;

/** Shares of a known context length that they may take. */
const PAGE_SHARE = 0.4;
const PAST_SHARE = 0.3;

/** One round: what the model answered, and what came of it. */
export type Round = readonly ChatMessage[];

/** What the messages of a request are made of. */
export interface TranscriptParts {
  readonly task: string;
  readonly files: readonly string[];
  /** Oldest first; those that are too many are left out. */
  readonly rounds: readonly Round[];
  readonly view: PageView;
  /** A picture of the page as a data URL, for models that see. */
  readonly picture: string | undefined;
  /** Tokens; undefined when nobody said. */
  readonly contextLength: number | undefined;
}

/** The messages for one step: the task, the last rounds, and the page as it is now, of which earlier states are not kept. */
export function stepMessages(parts: TranscriptParts): ChatMessage[] {
  const { task, files, rounds, view, picture, contextLength = Number.POSITIVE_INFINITY } = parts;
  const pageTokens = Math.floor(Math.min(PAGE_TOKENS, contextLength * PAGE_SHARE));
  const kept = cutToTokens(view.snapshot, pageTokens);
  const snapshot = kept.length < view.snapshot.length ? `${kept}\n… (the page goes on; extract reads all of it)` : kept;
  const text = pageText(view, snapshot);
  const content: ContentPart[] | string =
    picture === undefined
      ? text
      : [
          { type: 'text', text },
          { type: 'image_url', url: picture },
        ];
  return [
    { role: 'system', content: browsingPrompt() },
    { role: 'user', content: taskText(task, files) },
    ...newest(rounds, Math.floor(Math.min(PAST_TOKENS, contextLength * PAST_SHARE))).flat(),
    { role: 'user', content },
  ];
}

/** A round as messages: each call has its result, as providers demand. */
export function roundOf(text: string, results: readonly (readonly [call: ToolCall, result: string])[]): Round {
  return [
    { role: 'assistant', content: text, toolCalls: results.map(([call]) => call) },
    ...results.map(([{ id }, content]): ChatMessage => ({ role: 'tool', toolCallId: id, content })),
  ];
}

function newest(rounds: readonly Round[], maxTokens: number): readonly Round[] {
  let tokens = 0;
  for (let at = rounds.length - 1; at >= 0; at -= 1) {
    tokens += (rounds[at] ?? []).reduce((sum, message) => sum + tokensOf(message), 0);
    if (tokens > maxTokens) return rounds.slice(at + 1);
  }
  return rounds;
}

function tokensOf(message: ChatMessage): number {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return estimateTokens(contentText(message.content) + calls.map((call) => call.arguments).join(''));
}
