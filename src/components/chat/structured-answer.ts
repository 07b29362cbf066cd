import { jsonrepair } from 'jsonrepair';
import { concat, defer, EMPTY, mergeMap, type Observable, of } from 'rxjs';
import { EngineError } from '../../errors.js';
import { type NodeEvent, settled, type Usage } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatDelta, ChatMessage, ChatRequest, TokenUsage } from '../../models/chat-model.js';
import { collectAnswer } from '../../models/collect-answer.js';
import { repairPrompt } from '../prompts/structured.js';
import { THINK_CLOSE } from '../speaking/think-text.js';
import type { Chat } from './open-chat.js';

/** Attempts to get JSON out of a model that keeps giving something else. */
const MIN_ATTEMPTS = 2;
const MAX_ATTEMPTS = 10;

/** Longest answer that is repaired, in UTF-16 units; repairing is slow on large texts that are no JSON. */
const MAX_REPAIRED = 1_048_576;

/** A call whose answer must be an object. */
export interface StructuredCall {
  readonly node: string;
  readonly chat: Pick<Chat, 'ask'>;
  /** Its messages already carry the schema. */
  readonly request: ChatRequest;
  /** What the document allows beside the first attempt; at least one more is made. */
  readonly maxRetries: number;
}

/** The JSON schema in a node's `outputs.structured`, also one level further down; undefined without properties. */
export function outputSchema(outputs: JsonObject | undefined): JsonObject | undefined {
  const declared = outputs === undefined || !Object.hasOwn(outputs, 'structured') ? undefined : outputs.structured;
  if (!isJsonObject(declared)) return undefined;
  return [declared, declared.schema, declared.structured].find(hasProperties);
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
    call.chat.ask({ ...call.request, messages }, (answer$) => read(answer$, attempt), `chat-${attempt}`);
  const read = (answer$: Observable<ChatDelta>, attempt: number): Observable<NodeEvent> =>
    answer$.pipe(
      collectAnswer(),
      mergeMap(({ text, usage }) => {
        const usage$ = usage === undefined ? EMPTY : of(usageEvent(usage));
        const structured = parseObject(text);
        if (structured !== undefined) return concat(usage$, of(settled({ structured })));
        if (attempt >= attempts) throw notAnObject(call.node, text, attempts);
        const again: ChatMessage[] = [
          ...call.request.messages,
          { role: 'assistant', content: text },
          { role: 'user', content: repairPrompt() },
        ];
        return concat(
          usage$,
          defer(() => ask(again, attempt + 1)),
        );
      }),
    );
  return ask(call.request.messages, 1);
}

/** The object in a model's answer: without what was thought, without words and fences around it, repaired if need be. */
export function parseObject(answer: string): JsonObject | undefined {
  const text = behindLast(THINK_CLOSE, answer) ?? answer;
  const fenced = behindLast('```json', text);
  // The text in a fence comes second while it is read strictly: a fence may also be part of a value.
  const strict = firstObject([text, fenced], (json) => JSON.parse(json.slice(0, json.lastIndexOf('}') + 1)));
  if (strict !== undefined || text.length > MAX_REPAIRED) return strict;
  return firstObject([fenced, text], (json) => JSON.parse(jsonrepair(json)));
}

/** A model's token counts as an event of the node. */
export function usageEvent({ promptTokens, completionTokens, totalTokens }: TokenUsage): Usage {
  return { type: 'usage', promptTokens, completionTokens, totalTokens };
}

function hasProperties(schema: Json | undefined): schema is JsonObject {
  return isJsonObject(schema) && isJsonObject(schema.properties) && Object.keys(schema.properties).length > 0;
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

function behindLast(mark: string, text: string): string | undefined {
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
