/**
 * Steps that a step runs inside itself, with `{ within: at }`: their questions are passed up, and where they stand is kept with the step.
 *
 * A step that is resumed runs again from its beginning and comes to the same calls in the same order. A call that had ended gives its stored
 * value, one that waits goes on with the answers for it; so what was done is not done again.
 */
import type { NodeActivation } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { Checkpoint } from '../../graph/state.js';
import { readStoredValue, type StoredValue, storeValue } from '../../graph/typed.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { RunContext } from './context.js';
import { keep, keptJson } from './kept.js';
import { answersOf, type StoredQuestion, waitFor } from './questions.js';

/** The step that other steps run inside. */
export interface OuterStep {
  readonly node: NodeActivation;
  readonly context: RunContext;
  readonly path: string;
  keepPrepared(): void;
  /** Ends its activation although its function has not ended. */
  endEarly(end: () => NodeEvent): void;
}

/** Where a call stands that had begun before the step was resumed. */
export type KeptCall =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'waiting'; readonly checkpoint: Checkpoint };

/** A call that has come to an end in this activation; its value is only written down when the step has to wait. */
type EndedCall = { readonly value: unknown } | { readonly checkpoint: Json };

/** The calls of one activation. */
export class NestedRuns {
  readonly #step: OuterStep;
  readonly #kept: JsonObject;
  /** By the name of the call. */
  readonly #calls = new Map<string, EndedCall>();
  readonly #questions = new Map<string, readonly StoredQuestion[]>();
  readonly #counts = new Map<string, number>();
  /** Names of the calls that are at work. */
  readonly #atWork = new Set<string>();

  constructor(step: OuterStep) {
    this.#step = step;
    const kept = keptJson(step.node, 'nested');
    this.#kept = isJsonObject(kept) ? kept : {};
  }

  /** A call begins. Gives its name, which is the same when the step runs again, and where it stands. */
  begin(step: string): { readonly name: string; readonly kept: KeptCall | undefined } {
    const count = (this.#counts.get(step) ?? 0) + 1;
    this.#counts.set(step, count);
    const name = count === 1 ? step : `${step}_${count}`;
    this.#atWork.add(name);
    const kept = Object.hasOwn(this.#kept, name) ? this.#kept[name] : undefined;
    if (!isJsonObject(kept)) return { name, kept: undefined };
    if ('checkpoint' in kept)
      return { name, kept: { type: 'waiting', checkpoint: kept.checkpoint as unknown as Checkpoint } };
    const value = readStoredValue(this.#step.context.codec, kept as unknown as StoredValue);
    return { name, kept: { type: 'done', value } };
  }

  /** The answers for what waits inside a call, by the rest of the address. */
  answersTo(name: string): ReadonlyMap<string, unknown> {
    const start = `/${name}/`;
    const answers = [...answersOf(this.#step.node, this.#step.context.codec)];
    return new Map(
      answers.flatMap(([suffix, answer]) => (suffix.startsWith(start) ? [[suffix.slice(start.length), answer]] : [])),
    );
  }

  /** A call has ended with a value, which is kept in case that another one has to wait. */
  done(name: string, value: unknown): void {
    this.#calls.set(name, { value });
    this.leave(name);
  }

  /** A call waits for answers. Its caller gets nothing: the step ends as soon as none of its calls is at work. */
  waits(name: string, checkpoint: Checkpoint, questions: readonly StoredQuestion[]): void {
    this.#calls.set(name, { checkpoint: checkpoint as unknown as Json });
    this.#questions.set(name, questions);
    this.leave(name);
  }

  /** What is kept of the calls. @throws EngineError VALUE_NOT_STORABLE naming the call */
  parts(): { readonly nested?: JsonObject } {
    if (this.#calls.size === 0 && Object.keys(this.#kept).length === 0) return {};
    const { path, context } = this.#step;
    const ended = [...this.#calls].map(([name, call]) => [
      name,
      'checkpoint' in call ? call : (storeValue(context.codec, call.value, `${path}/${name}`) as unknown as Json),
    ]);
    return { nested: { ...this.#kept, ...Object.fromEntries(ended) } };
  }

  /** A call is not at work any more; one that has neither ended nor waits is made again when the step runs again. */
  leave(name: string): void {
    if (!this.#atWork.delete(name)) return;
    // What follows a call that has ended, in the same turn, may begin another one.
    if (this.#questions.size > 0) setImmediate(() => this.#settle());
  }

  #settle(): void {
    if (this.#atWork.size > 0 || this.#questions.size === 0) return;
    const questions = [...this.#questions].flatMap(([name, asked]) =>
      asked.map((question) => ({ ...question, suffix: `/${name}/${question.suffix}` })),
    );
    this.#questions.clear();
    this.#step.endEarly(() => {
      const { node } = this.#step;
      this.#step.keepPrepared();
      keep(node, this.parts());
      return waitFor(node, 'ask', questions);
    });
  }
}
