/** A question of a step to the outside, as a value: a step returns it instead of a result. */
import { EngineError } from '../errors.js';
import { requireOptions, requireSchema, requireWhole } from '../operators/invalid-option.js';
import type { StandardSchema } from '../standard-schema.js';

/** How one step came to wait for an answer from outside. */
export interface InterruptOptions {
  /** Kept for the step until it runs again, as `at.memo`. @default nothing */
  readonly memo?: unknown;
  /** Milliseconds after which `fallback` is the answer. @default never */
  readonly expiresInMs?: number;
  /** The answer when none came in time. @default a late resume fails with ANSWER_INVALID */
  readonly fallback?: unknown;
  /** What an answer has to be; any Standard Schema. A wrong one is refused with ANSWER_INVALID and the question stays. @default anything */
  readonly answer?: StandardSchema<unknown, unknown>;
}

/** One of several questions that a step asks at once. */
export interface InterruptPart {
  /** Unique among the parts; the address of the question is `<path of the step>#<id>`. */
  readonly id: string;
  readonly interrupt: Interrupt;
}

/**
 * Made by `at.interrupt(…)` and `at.interruptAll(…)`, and by nothing else. Returning it ends the activation; the step runs again when the run
 * is resumed.
 */
export class Interrupt {
  readonly question: unknown;
  readonly options: InterruptOptions;
  /** The questions, where there are several; then `question` is undefined, and of the options only `memo` counts. @default none */
  readonly parts: readonly InterruptPart[];

  constructor(question: unknown, options: InterruptOptions = {}, parts: readonly InterruptPart[] = []) {
    this.question = question;
    this.options = options;
    this.parts = parts;
  }
}

/** Asks nothing: the step waits for others of its run, and runs again with every resume. */
export const WAITS_FOR_OTHERS = new Interrupt(undefined);

/**
 * What a step failed with: as it was thrown, unless the step was about to ask and did it in a way that asks nothing. `path` is that of the step.
 *
 * NODE_PROTOCOL for a question that was thrown, and for the error of a step that waits and was run without `within`.
 */
export function failureOf(thrown: unknown, path: string): unknown {
  if (thrown instanceof Interrupt) {
    const message = `Step "${path}" threw a question, which asks nothing; return what at.interrupt(…) gives.`;
    return new EngineError('NODE_PROTOCOL', message, { node: path });
  }
  if (!EngineError.is(thrown) || thrown.code !== 'RUN_INTERRUPTED') return thrown;
  const message = `Step "${path}" ran another step that waits for an answer, without passing its question on. Run it as part of this step: invoke(inner, input, { within: at }).`;
  return new EngineError('NODE_PROTOCOL', message, { node: path, cause: thrown });
}

/**
 * Refuses options of a question that cannot be used. `path` is that of the step.
 *
 * @throws EngineError OPTION_INVALID for names that are no options, an `answer` that is no schema and a time that is none.
 */
export function requireInterruptOptions(path: string, options: InterruptOptions): void {
  const owner = `Step "${path}", at.interrupt`;
  requireOptions(owner, options, ['memo', 'expiresInMs', 'fallback', 'answer']);
  requireSchema(owner, 'answer', options.answer);
  if (options.expiresInMs !== undefined) requireWhole(owner, 'expiresInMs', options.expiresInMs, 0);
}

/**
 * Refuses questions that could not be told apart, or are none. `path` is that of the step.
 *
 * @throws EngineError NODE_PROTOCOL without questions, for ids that are no part of a path, for two of one id, and for something else than questions.
 */
export function requireParts(path: string, questions: readonly InterruptPart[]): void {
  const refuse = (problem: string): EngineError =>
    new EngineError('NODE_PROTOCOL', `Step "${path}": at.interruptAll(…) ${problem}.`, { node: path });
  if (!Array.isArray(questions) || questions.length === 0) throw refuse('needs a list of at least one question');
  const ids = new Set<unknown>();
  for (const part of questions as readonly (Partial<InterruptPart> | null | undefined)[]) {
    const id = part?.id;
    if (typeof id !== 'string') throw refuse('needs an id for each question: { id, interrupt }');
    if (!(part?.interrupt instanceof Interrupt))
      throw refuse(`needs what at.interrupt(…) gives as "interrupt" of "${id}"`);
    if (ids.has(id)) throw refuse(`has two questions with the id "${id}"; give one another id`);
    ids.add(id);
  }
}
