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
import type { Interrupt, InterruptOptions } from '../interrupt.js';
import { jsonSchemaOf } from '../json-schema.js';

/** A question as it is stored. */
export interface StoredQuestion extends JsonObject {
  readonly suffix: string;
  readonly question: Json;
}

/** How an activation came to wait. `before` and `after` are stops of the graph, which nobody has to answer. */
export type QuestionKind = 'ask' | 'before' | 'after';

/** The event that ends an activation with the questions of a step, and what is kept for when it runs again. */
export function interruptedBy(at: NodeActivation, codec: ValueCodec, asked: Interrupt): NodeInterrupt {
  const questions =
    asked.parts.length === 0
      ? [storedQuestion(at, codec, '', asked.question, asked.options)]
      : asked.parts.map(({ id, interrupt: part }) => storedQuestion(at, codec, `#${id}`, part.question, part.options));
  remember(at, codec, asked.options.memo);
  return waitFor('ask', questions);
}

/** The event of a wait; also for the stops of a graph, and for what runs inside a step. */
export function waitFor(kind: QuestionKind, questions: readonly StoredQuestion[]): NodeInterrupt {
  return interrupt({ kind, questions: [...questions] });
}

/** Keeps the memo of a step. */
function remember(at: NodeActivation, codec: ValueCodec, memo: unknown): void {
  if (memo === undefined && at.nodeState === undefined) return;
  at.say({ type: 'progress', nodeState: { memo: codec.toJson(memo, `${at.path}.memo`) } });
}

/** What the step kept with its question. */
export function memoOf(at: NodeActivation, codec: ValueCodec): unknown {
  const { nodeState } = at;
  return isJsonObject(nodeState) && nodeState.memo !== undefined ? codec.fromJson(nodeState.memo) : undefined;
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

const NO_ANSWERS: ReadonlyMap<string, unknown> = new Map();

/** The questions of a waiting token. @throws EngineError CHECKPOINT_INVALID when its payload is none of ours */
export function questionsIn(payload: JsonObject): {
  readonly kind: QuestionKind;
  readonly questions: readonly StoredQuestion[];
} {
  const { kind, questions } = payload;
  if ((kind === 'ask' || kind === 'before' || kind === 'after') && Array.isArray(questions)) {
    return { kind, questions: questions as unknown as readonly StoredQuestion[] };
  }
  throw new EngineError('CHECKPOINT_INVALID', 'A question of the checkpoint cannot be read.');
}
