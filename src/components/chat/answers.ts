import { jsonrepair } from 'jsonrepair';
import { concat, defer, EMPTY, filter, map, mergeMap, type Observable, type ObservableInput, of } from 'rxjs';
import type { Chat } from '../../agents/chat.js';
import { EngineError } from '../../errors.js';
import { delta, type NodeEvent, settled, type Usage, warning } from '../../graph/node-events.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { ChatDelta, ChatMessage, ChatRequest, TokenUsage } from '../../models/chat-model.js';
import { collectAnswer } from '../../models/collect-answer.js';
import { REPAIR_PROMPT } from '../prompts.js';
import { TaggedText, THINK_CLOSE } from '../speaking/think-text.js';

/**
 * A model's answer as events of a node: text and reasoning as they come, token counts, and at the end the content.
 *
 * ```text
 * answer    --k--t--t--u--f|        (thinking, text, text, usage, finish)
 * result    --k--c--c--u--(s|)      (deltas on `thinking` and `content`, usage, settled)
 * ```
 *
 * `keepThinking` leaves reasoning in the settled content, between think tags, as RAGFlow does for an answer that a Message streams.
 * Otherwise the content is the text after the last reasoning.
 *
 * An answer that ended because it was too long is settled with a warning. Errors of the model pass.
 */
export function answerEvents(
  answer$: Observable<ChatDelta>,
  { keepThinking }: { readonly keepThinking: boolean },
): Observable<NodeEvent> {
  return defer(() => {
    let content = new TaggedText();
    let hasThought = false;
    const toEvent = (piece: ChatDelta): NodeEvent | undefined => {
      switch (piece.type) {
        case 'text':
          // Text before a thought led up to it: the answer is the text after the last thought.
          if (hasThought && !keepThinking) content = new TaggedText();
          hasThought = false;
          content.append(piece.text, false);
          return delta('content', piece.text);
        case 'thinking':
          hasThought = true;
          if (keepThinking) content.append(piece.text, true);
          return delta('thinking', piece.text);
        case 'usage':
          return usageEvent(piece);
        case 'finish':
          return piece.reason === 'length' ? TOO_LONG : undefined;
        default:
          return undefined;
      }
    };
    return concat(
      answer$.pipe(
        map(toEvent),
        filter((event) => event !== undefined),
      ),
      defer(() => of(settled({ content: content.toString() }))),
    );
  });
}

/** Reported when an answer was cut off. */
export const TOO_LONG = warning('The answer was cut off at its token limit; raise max_tokens or ask for less.');

/** Attempts to get JSON from a model. */
const MIN_ATTEMPTS = 2;
const MAX_ATTEMPTS = 10;

/** Longest answer that is repaired, in UTF-16 units; repairing is slow on large texts that are no JSON. */
const MAX_REPAIRED = 65_536;

/** A call whose answer must be an object. */
export interface StructuredCall {
  readonly node: string;
  readonly chat: Pick<Chat, 'ask'>;
  /** Its messages already carry the schema. */
  readonly request: ChatRequest;
  /** Attempts after the first that the document allows; at least one more is made. */
  readonly maxRetries: number;
}

/**
 * Asks until the answer is a JSON object, and settles with it as `structured`. After an answer that is none the model sees
 * that answer and what is wrong with it.
 *
 * Errors: `NODE_FAILED` after the last attempt; those of the model at once, since its adapter has retried already.
 */
export function askForObject(call: StructuredCall): Observable<NodeEvent> {
  const attempts = Math.min(MAX_ATTEMPTS, Math.max(MIN_ATTEMPTS, call.maxRetries + 1));
  const ask = (messages: readonly ChatMessage[], attempt: number): Observable<NodeEvent> =>
    call.chat.ask({ ...call.request, messages }, (answer$) => read(answer$, attempt), { id: `chat-${attempt}` });
  const read = (answer$: Observable<ChatDelta>, attempt: number): Observable<NodeEvent> =>
    wholeAnswer(answer$, (text) => {
      const structured = parseObject(text);
      if (structured !== undefined) return of<NodeEvent>(settled({ structured }));
      if (attempt >= attempts) throw notAnObject(call.node, text, attempts);
      const former: ChatMessage = { role: 'assistant', content: text };
      return ask([...call.request.messages, former, { role: 'user', content: REPAIR_PROMPT }], attempt + 1);
    });
  return ask(call.request.messages, 1);
}

/** The object in a model's answer: without what was thought, without words and fences around it, repaired if need be. */
export function parseObject(answer: string): JsonObject | undefined {
  const text = afterLast(THINK_CLOSE, answer) ?? answer;
  const fenced = afterLast('```json', text);
  // The text in a fence comes second while it is read strictly: a fence may also be part of a value.
  const strict = firstObject([text, fenced], (json) => parseJson(json.slice(0, json.lastIndexOf('}') + 1)));
  if (strict !== undefined || text.length > MAX_REPAIRED) return strict;
  return firstObject([fenced, text], (json) => parseJson(jsonrepair(json)));
}

/**
 * A model's answer read whole: its token counts, then what `read` makes of its text.
 *
 * ```text
 * answer    --t--t--u--f|
 * result    ------------(ur|)
 * ```
 */
export function wholeAnswer<T>(
  answer$: Observable<ChatDelta>,
  read: (text: string) => ObservableInput<T>,
): Observable<T | Usage> {
  return answer$.pipe(
    collectAnswer(),
    mergeMap(({ text, usage }) =>
      concat(
        usage === undefined ? EMPTY : of(usageEvent(usage)),
        defer(() => read(text)),
      ),
    ),
  );
}

/** A model's token counts as an event of the node. */
export function usageEvent({ promptTokens, completionTokens, totalTokens }: TokenUsage): Usage {
  return { type: 'usage', promptTokens, completionTokens, totalTokens };
}

/** The first text from which an object can be read; each is read from its first brace on. */
function firstObject(texts: readonly (string | undefined)[], read: (text: string) => unknown): JsonObject | undefined {
  for (const text of texts) {
    const start = text?.indexOf('{') ?? -1;
    if (text === undefined || start === -1) continue;
    try {
      const value = read(text.slice(start));
      if (isJsonObject(value)) return value;
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

function afterLast(mark: string, text: string): string | undefined {
  const at = text.lastIndexOf(mark);
  return at === -1 ? undefined : text.slice(at + mark.length);
}

function notAnObject(node: string, text: string, attempts: number): EngineError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return new EngineError(
    'NODE_FAILED',
    `The model of node "${node}" gave no JSON object in ${attempts} attempts; the last answer was: ${shown}`,
    { node },
  );
}
