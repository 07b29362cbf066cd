/** What a model can choose while it drives a browser: the actions of the browser, reading data, and the end. */

import type { Observable } from 'rxjs';
import { z } from 'zod';
import { BROWSER_ACTIONS, type BrowserAction, type PageView } from '../../adapters/browser/action.js';
import type { Chat } from '../../agents/chat.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { JsonObject } from '../../json.js';
import {
  type ChatMessage,
  type ContentPart,
  contentText,
  type ToolCall,
  type ToolDefinition,
} from '../../models/chat-model.js';
import type { ChatAnswer } from '../../models/collect-answer.js';
import { cutToTokens, estimateTokens } from '../../models/estimate-tokens.js';
import { askForObject, parseObject } from '../chat/answers.js';
import { BROWSING_PROMPT, EXTRACTION_PROMPT, pageText, structuredPrompt, taskText } from '../prompts.js';

/** Calls in one answer that are read. */
const MAX_CALLS = 10;

const OWN_STEPS = {
  extract: z
    .object({
      instruction: z.string().min(1).max(4_000).describe('What to read, in words.'),
      schema: z.record(z.string(), z.json()).describe('JSON schema of the object to give.'),
    })
    .describe('Reads data out of the page as JSON.'),
  done: z
    .object({
      answer: z.string().max(1_000_000).optional().describe('The answer for the user.'),
      use_extracted: z.boolean().optional().describe('Answers with the data of the last `extract` instead, as JSON.'),
    })
    .describe('Ends the work with an answer.'),
} as const;

const STEPS = { ...BROWSER_ACTIONS, ...OWN_STEPS };

/** One step of the work. */
export type Step =
  | BrowserAction
  | { readonly action: 'extract'; readonly instruction: string; readonly schema: JsonObject }
  | { readonly action: 'done'; readonly answer?: string; readonly use_extracted?: boolean };

/** A call of a model, and its step or why it has none. */
export interface ReadCall {
  readonly call: ToolCall;
  readonly step: Step | undefined;
  readonly problem: string;
}

/** The steps as tools. Made when needed: most processes never are. */
export function stepTools(): readonly ToolDefinition[] {
  return Object.entries(STEPS).map(([name, shape]) => {
    const { $schema: _, description = '', ...parameters } = z.toJSONSchema(shape, { io: 'input' }) as JsonObject;
    return { name, description: String(description), parameters };
  });
}

/**
 * The calls of an answer. A model that writes its call as text, `{"action": "click", "ref": "e3"}`, is understood too.
 *
 * Calls beyond the tenth are left out, so that each that is given can be answered.
 */
export function readCalls({ toolCalls, text }: ChatAnswer): readonly ReadCall[] {
  if (toolCalls.length > 0) return toolCalls.slice(0, MAX_CALLS).map(readCall);
  const written = parseObject(text);
  if (typeof written?.action !== 'string') return [];
  const { action, ...values } = written;
  return [readCall({ id: 'written', name: action, arguments: JSON.stringify(values) })];
}

function readCall(call: ToolCall): ReadCall {
  if (!Object.hasOwn(STEPS, call.name)) return { call, step: undefined, problem: `There is no tool "${call.name}".` };
  const values = parseObject(call.arguments === '' ? '{}' : call.arguments);
  if (values === undefined) return { call, step: undefined, problem: 'The arguments are no JSON object.' };
  const parsed = STEPS[call.name as keyof typeof STEPS].safeParse(values);
  if (parsed.success) return { call, step: { action: call.name, ...parsed.data } as Step, problem: '' };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return { call, step: undefined, problem: `The arguments do not fit: ${problems.slice(0, 500)}.` };
}

/** Tokens of a page that are read, and the share of a known context length that they may take. */
const MAX_TOKENS = 100_000;
const SHARE = 0.7;

/** What to read. */
export interface Extraction {
  readonly node: string;
  readonly chat: Chat;
  /** Prefix of the ids of its model calls, unique in the activation. */
  readonly id: string;
  readonly view: PageView;
  readonly instruction: string;
  readonly schema: JsonObject;
  readonly maxRetries: number;
}

/** Asks the model for data of a page; settles with it as `structured`. Errors: as `askForObject`. */
export function extract({ node, chat, id, view, instruction, schema, maxRetries }: Extraction): Observable<NodeEvent> {
  const { contextLength = Number.POSITIVE_INFINITY } = chat;
  const named: Pick<Chat, 'ask'> = {
    ask: (request, read, own = {}) => chat.ask(request, read, { ...own, id: `${id}-${own.id ?? ''}` }),
  };
  const snapshot = cutToTokens(view.snapshot, Math.floor(Math.min(MAX_TOKENS, contextLength * SHARE)));
  const request = chat.request([
    { role: 'system', content: `${EXTRACTION_PROMPT}\n\n${structuredPrompt(schema)}` },
    { role: 'user', content: `${pageText({ ...view, notes: [] }, snapshot)}\n\nRead from it: ${instruction}` },
  ]);
  return askForObject({ node, chat: named, request, maxRetries });
}

/** Tokens of a page, and of what was done before, that a model sees at most. */
const PAGE_TOKENS = 24_000;
const PAST_TOKENS = 24_000;

/** Shares of a known context length that they may take. */
const PAGE_SHARE = 0.4;
const PAST_SHARE = 0.3;

/** One round: the answer of the model, and the results of its calls. */
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
  /** Tokens. @default unknown */
  readonly contextLength: number | undefined;
}

/** The messages for one step: the task, the last rounds, and the page as it is now, without its earlier states. */
export function stepMessages(parts: TranscriptParts): ChatMessage[] {
  const { task, files, rounds, view, picture, contextLength = Number.POSITIVE_INFINITY } = parts;
  const pageTokens = Math.floor(Math.min(PAGE_TOKENS, contextLength * PAGE_SHARE));
  const cut = cutToTokens(view.snapshot, pageTokens);
  const snapshot = cut.length < view.snapshot.length ? `${cut}\n… (the page is longer; extract reads all of it)` : cut;
  const text = pageText(view, snapshot);
  const content: ContentPart[] | string =
    picture === undefined
      ? text
      : [
          { type: 'text', text },
          { type: 'image_url', url: picture },
        ];
  return [
    { role: 'system', content: BROWSING_PROMPT },
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
