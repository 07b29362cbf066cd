/** Steps of one function: values in, chunks in, questions, keys. */
import { map, mergeMap } from 'rxjs';
import { EngineError } from '../errors.js';
import { invalidOption, requireOptions, requireSchema } from '../operators/invalid-option.js';
import type { StandardSchema } from '../standard-schema.js';
import type { InterruptOptions } from './interrupt.js';
import { checkStepOptions, isStep, makeStep, requireName, show, toStep } from './make-step.js';
import {
  type AnyStepLike,
  type ChunkOperator,
  DEFINITION,
  type Step,
  type StepActivation,
  type StepDefinition,
  type StepGenerator,
  type StepLike,
  type StepOptions,
} from './step.js';

/**
 * Gives a function a name, and what a bare function cannot have: schemas, a time limit, tries, a rule for its chunks.
 *
 * A step in its place is given the name and the options, around those that it has: `step('review', chain(a, b), { timeoutMs: 5_000 })`
 * is one unit, which chains around it do not take apart.
 *
 * @throws EngineError PLAN_INVALID for a name that is empty or has `/`, `#`, `[` or `]`, and for an RxJS operator.
 * @throws EngineError OPTION_INVALID for a time limit or a number of tries that is not a whole number of at least 1, for a schema that is none,
 * and for a name that is no option.
 */
export function step<I, O>(name: string, body: StepLike<I, O>, options: StepOptions<I, O> = {}): Step<I, O> {
  requireName('A step', name);
  checkStepOptions(name, options as StepOptions);
  const inner = toStep(body as AnyStepLike, name);
  return makeStep(name, named(inner[DEFINITION], options as StepOptions), options.kind ?? inner.kind);
}

/**
 * An RxJS operator as a step: it gets the chunks of the step before as they come, and what it emits are the chunks of this step.
 *
 * It starts with its producer. What an operator buffers is its own: it is never slower than what comes. A function of one's own may use the
 * activation, such as for a state: `operator((chunks, at) => chunks.pipe(…))`.
 *
 * ```text
 * chunks                 a--b--c--|
 * operator(map(upper))   A--B--C--|
 * ```
 *
 * @throws EngineError PLAN_INVALID for something else than a function.
 */
export function operator<I, O>(rxOperator: ChunkOperator<I, O>, options?: StepOptions<I, O>): Step<I, O>;
export function operator<I, O>(name: string, rxOperator: ChunkOperator<I, O>, options?: StepOptions<I, O>): Step<I, O>;
export function operator(...given: readonly unknown[]): Step<unknown, unknown> {
  const { name, body, options, isAnonymous } = readArguments('operator', given);
  return makeStep(name, { type: 'operator', operator: body as ChunkOperator<never, unknown>, options, isAnonymous });
}

/**
 * A function over chunks that pulls them: `async function* (chunks, at) { for await (const chunk of chunks) yield …; }`.
 *
 * It starts with its producer, which waits for it: nothing is read that it did not ask for, beyond what the edge between them holds.
 *
 * ```text
 * chunks             a--b--c--|
 * generator(double)  (aa)--(bb)--(cc)--|
 * ```
 *
 * @throws EngineError PLAN_INVALID for something else than a function.
 */
export function generator<I, O>(run: StepGenerator<I, O>, options?: StepOptions<I, O>): Step<I, O>;
export function generator<I, O>(name: string, run: StepGenerator<I, O>, options?: StepOptions<I, O>): Step<I, O>;
export function generator(...given: readonly unknown[]): Step<unknown, unknown> {
  const { name, body, options, isAnonymous } = readArguments('generator', given);
  return makeStep(name, { type: 'generator', run: body as StepGenerator<never, unknown>, options, isAnonymous });
}

/** How long a question may wait; see {@link ask}. */
export type AskOptions = Pick<InterruptOptions, 'expiresInMs' | 'fallback'>;

/**
 * Waits for a person: the run is interrupted with the question, and the answer is the step's output.
 *
 * `question` is what the asked one is shown, or a function that makes it of the input; it must be storable. An answer that the schema
 * refuses is ANSWER_INVALID, and the question stays. A run that is resumed without an answer for this step asks again.
 *
 * @throws EngineError OPTION_INVALID for an answer that is no schema, and without a question.
 */
export function ask<A, I = unknown>(
  answer: StandardSchema<unknown, A>,
  question: (input: I) => unknown,
  options?: AskOptions,
): Step<I, A>;
export function ask<A>(answer: StandardSchema<unknown, A>, question: unknown, options?: AskOptions): Step<unknown, A>;
export function ask(
  answer: StandardSchema<unknown, unknown>,
  question: unknown,
  options: AskOptions = {},
): Step<unknown, unknown> {
  if (answer === undefined) throw invalidOption('ask', 'answer', 'a Standard Schema, such as z.string()', answer);
  requireSchema('ask', 'answer', answer);
  if (question === undefined)
    throw invalidOption('ask', 'question', 'what is asked, or a function that makes it of the input', question);
  requireOptions('ask', options, ['expiresInMs', 'fallback']);
  const ofInput = typeof question === 'function' ? (question as (input: unknown) => unknown) : () => question;
  const run = (input: unknown, at: StepActivation) =>
    at.answer === undefined ? at.interrupt(ofInput(input), { ...options, answer }) : at.answer;
  return makeStep('ask', { type: 'function', run, options: {}, answer });
}

/** Gives on what it gets, chunk by chunk. */
export function passthrough<T>(): Step<T, T> {
  return makeStep('passthrough', { type: 'operator', operator: (chunks) => chunks, options: {} });
}

/**
 * The value of one key of the input; of a stream, the chunks of that key. Own properties only; chunks without the key give nothing.
 *
 * ```text
 * chunks        {a:1}--{b:2}--{a:3}--|
 * pick('a')     1-------------3------|
 * ```
 *
 * @throws EngineError OPTION_INVALID for a key that is no text.
 */
export function pick<I, K extends keyof I & string>(key: K): Step<I, I[K]> {
  requireKey('pick', key);
  const ofKey = (chunk: unknown): unknown[] =>
    typeof chunk === 'object' && chunk !== null && Object.hasOwn(chunk, key)
      ? [(chunk as Record<string, unknown>)[key]]
      : [];
  return makeStep('pick', { type: 'operator', operator: mergeMap(ofKey), options: {} });
}

/**
 * The input as an object of one key; of a stream, every chunk.
 *
 * ```text
 * chunks       1------2------|
 * as('a')      {a:1}--{a:2}--|
 * ```
 *
 * @throws EngineError OPTION_INVALID for a key that is no text.
 */
export function as<K extends string, T>(key: K): Step<T, { [P in K]: T }> {
  requireKey('as', key);
  // A computed key, unlike an assignment, makes an own property also of `__proto__`.
  const wrap = (chunk: unknown): unknown => ({ [key]: chunk });
  return makeStep('as', { type: 'operator', operator: map(wrap), options: {} });
}

function requireKey(owner: string, key: unknown): void {
  if (typeof key !== 'string') throw invalidOption(owner, 'key', 'a text', key);
}

interface ReadArguments {
  readonly name: string;
  readonly body: unknown;
  readonly options: StepOptions;
  readonly isAnonymous: boolean;
}

function readArguments(what: string, given: readonly unknown[]): ReadArguments {
  const hasName = typeof given[0] === 'string';
  if (hasName) requireName(`A step made by ${what}(…)`, given[0]);
  const [body, options = {}] = (hasName ? given.slice(1) : given) as [unknown, StepOptions?];
  if (typeof body !== 'function') {
    throw new EngineError(
      'PLAN_INVALID',
      `${what}(…) needs a function; received ${isStep(body) ? 'a step' : show(body)}.`,
    );
  }
  const own = hasName ? (given[0] as string) : body.name;
  const name = own === '' || own === undefined ? what : own;
  checkStepOptions(name, options);
  return { name, body, options, isAnonymous: own === '' || own === undefined };
}

/** The definition under another name, with more options: a graph then is a unit of its own. */
function named(definition: StepDefinition, options: StepOptions): StepDefinition {
  const both = { ...definition.options, ...options };
  if (definition.type !== 'graph') return { ...definition, options: both, isAnonymous: false } as StepDefinition;
  return { ...definition, graph: { ...definition.graph, isInline: false }, options: both };
}
