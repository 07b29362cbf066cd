/**
 * How the question of a step is kept with its token, and its answer found again.
 *
 * The payload of the token has every question with the suffix that makes its address: `''` for the step's own, `#id` for parts, `/path` for
 * steps that run inside it. The answer of the token is an object by suffix; the node state has the memo.
 */

import { EngineError } from '../../errors.js';
import type { NodeActivation } from '../../graph/activation.js';
import { interrupt, type Interrupt as NodeInterrupt } from '../../graph/node-events.js';
import type { ValueCodec } from '../../graph/typed.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { type Interrupt, type InterruptOptions, WAITS_FOR_OTHERS } from '../interrupt.js';
import { jsonSchemaOf } from '../json-schema.js';
import type { RunContext } from './context.js';
import { keep, keptJson, keptValue, storedPart } from './kept.js';

/** A question as it is stored. */
export interface StoredQuestion extends JsonObject {
  readonly suffix: string;
  readonly question: Json;
}

/** How an activation came to wait. `before` and `after` are stops of the graph, which need no answer. */
export type QuestionKind = 'ask' | 'before' | 'after';

/** A step that asks. */
export interface AskingStep {
  readonly node: NodeActivation;
  readonly context: RunContext;
  /** The input as a hook made it, if one did. */
  readonly prepared: { readonly value: unknown } | undefined;
  /** Steps that run inside it. */
  readonly nested: { parts(): { readonly nested?: JsonObject } };
}

/** The event that ends an activation with the questions of a step, and what is kept for when it runs again. */
export function interruptedBy(
  { node: at, context: { codec }, prepared, nested }: AskingStep,
  asked: Interrupt,
): NodeInterrupt {
  const questions = questionsAsked(at, codec, asked);
  const { memo } = asked.options;
  const hadMemo = keptJson(at, 'memo') !== undefined;
  const parts = {
    ...(memo === undefined && !hadMemo ? {} : { memo: storedPart(at, codec, 'memo', memo) }),
    ...(prepared === undefined ? {} : { input: storedPart(at, codec, 'input', prepared.value) }),
    ...answersToKeep(at, questions),
    ...nested.parts(),
  };
  if (Object.keys(parts).length > 0) keep(at, parts);
  return waitFor(at, 'ask', questions);
}

function questionsAsked(at: NodeActivation, codec: ValueCodec, asked: Interrupt): readonly StoredQuestion[] {
  if (asked === WAITS_FOR_OTHERS) return [];
  if (asked.parts.length === 0) return [storedQuestion(at, codec, '', asked.question, asked.options)];
  return asked.parts.map(({ id, interrupt: part }) => storedQuestion(at, codec, `#${id}`, part.question, part.options));
}

/** The event of a wait; also for the stops of a graph, and for what runs inside a step. */
export function waitFor(at: NodeActivation, kind: QuestionKind, questions: readonly StoredQuestion[]): NodeInterrupt {
  const place = placeOf(at);
  return interrupt({ kind, questions: [...questions], ...(place === 1 ? {} : { place }) });
}

/** The graph stops before a node, or behind it. */
export function stopAt(at: NodeActivation, kind: 'before' | 'after'): NodeInterrupt {
  return waitFor(at, kind, [{ suffix: '', question: null }]);
}

/** The graph stops behind a node: its output waits with it. */
export function stopAfter({ node: at, context: { codec } }: AskingStep, value: unknown): NodeInterrupt {
  keep(at, { output: storedPart(at, codec, 'output', value) });
  return stopAt(at, 'after');
}

/** The output of a node that had ended before its graph stopped. */
export function outputBeforeStop(at: NodeActivation, codec: ValueCodec): { readonly value: unknown } | undefined {
  return at.question?.kind === 'after' ? keptValue(at, codec, 'output') : undefined;
}

/** Of activations of one node that wait side by side each has a place of its own, from 1, for as long as it waits. */
function placeOf(at: NodeActivation): number {
  const taken = at.waitingBeside.map((payload) => payload.place ?? 1);
  let place = 1;
  while (taken.includes(place)) place += 1;
  return place;
}

/** What the step kept with its question. */
export function memoOf(at: NodeActivation, codec: ValueCodec): unknown {
  return keptValue(at, codec, 'memo')?.value;
}

export function storedQuestion(
  at: NodeActivation,
  codec: ValueCodec,
  suffix: string,
  question: unknown,
  { expiresInMs, fallback, answer }: InterruptOptions,
): StoredQuestion {
  const path = `${at.path}${suffix}`;
  const schema = answer === undefined ? undefined : jsonSchemaOf(answer);
  return {
    suffix,
    question: codec.toJson(question, path),
    ...(expiresInMs === undefined ? {} : { expiresAt: at.now() + expiresInMs }),
    ...(fallback === undefined ? {} : { fallback: codec.toJson(fallback, `${path}.fallback`) }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** Answers by suffix. */
export function answersOf({ answer }: NodeActivation, codec: ValueCodec): ReadonlyMap<string, unknown> {
  if (!isJsonObject(answer)) return NO_ANSWERS;
  return new Map(Object.entries(answer).map(([suffix, json]) => [suffix, codec.fromJson(json as Json)]));
}

/** Those to the step's own questions, by suffix, with what it was answered before. A question that is asked again has none. */
export function ownAnswersOf(at: NodeActivation, codec: ValueCodec): ReadonlyMap<string, unknown> {
  const own = ownAnswers(at);
  return own === undefined ? NO_ANSWERS : new Map([...own].map(([suffix, json]) => [suffix, codec.fromJson(json)]));
}

/** The part that keeps them for the next time that the step runs; nothing where nothing was answered. */
export function answersToKeep(at: NodeActivation, asked: readonly StoredQuestion[]): { readonly answers?: JsonObject } {
  const own = ownAnswers(at);
  if (own === undefined) return {};
  for (const { suffix } of asked) own.delete(suffix);
  return { answers: Object.fromEntries(own) };
}

function ownAnswers(at: NodeActivation): Map<string, Json> | undefined {
  const kept = keptJson(at, 'answers');
  if (kept === undefined && at.answer === undefined) return undefined;
  const all = [kept, at.answer].flatMap((answers) => (isJsonObject(answers) ? Object.entries(answers) : []));
  // Those of steps inside are kept with them.
  return new Map(all.filter(([suffix]) => !suffix.startsWith('/')) as [string, Json][]);
}

const NO_ANSWERS: ReadonlyMap<string, unknown> = new Map();

/** The questions of a waiting token. @throws EngineError CHECKPOINT_INVALID when its payload is none of ours */
export function questionsIn(payload: JsonObject): {
  readonly kind: QuestionKind;
  /** What stands behind the path of the step when an activation of the same step waits beside it. */
  readonly place: '' | `~${number}`;
  readonly questions: readonly StoredQuestion[];
} {
  const { kind, questions, place } = payload;
  if ((kind === 'ask' || kind === 'before' || kind === 'after') && Array.isArray(questions)) {
    return {
      kind,
      place: typeof place === 'number' ? `~${place}` : '',
      questions: questions as unknown as readonly StoredQuestion[],
    };
  }
  throw new EngineError('CHECKPOINT_INVALID', 'A question of the checkpoint cannot be read.');
}
