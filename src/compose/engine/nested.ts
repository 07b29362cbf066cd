/**
 * Steps that a step runs inside itself, with `{ within: at }`: their questions are passed up, and where they stand is kept with the step.
 *
 * A step that is resumed runs again from its beginning and comes to the same calls in the same order. A call that had ended gives its stored
 * value, one that waits goes on with the answers for it; so what was done is not done again.
 */
import type { NodeActivation } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { Checkpoint } from '../../graph/state.js';
import { readStoredValue, type StoredValue, storeValue, type ValueCodec } from '../../graph/typed.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { RunContext, StepAround } from './context.js';
import { keep, keptJson } from './kept.js';
import { answersOf, answersToKeep, type StoredQuestion, waitFor } from './questions.js';

/** Where a call stands that had begun before the step was resumed. */
export type KeptCall =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'waiting'; readonly checkpoint: Checkpoint };

/** Where the runs inside a step, or inside one call of a tool, are kept. */
export interface NestedHome {
  /** Of the step, for errors. */
  readonly path: string;
  /** What was kept when it waited, by the name of the call. */
  readonly kept: JsonObject;
  /** What has been answered, by the rest of the address: `/name/…`. */
  answers(): ReadonlyMap<string, unknown>;
  /** Ends the activation with the questions of the runs inside; what `nested` gives is to be kept. @param nested may throw VALUE_NOT_STORABLE */
  wait(nested: () => JsonObject, questions: readonly StoredQuestion[]): void;
}

/** A call that has come to an end in this activation; its value is only written down when the step has to wait. */
type EndedCall = { readonly value: unknown } | { readonly checkpoint: Json };

/** What other steps can run inside: a step at work, or one call of a tool. */
export interface OuterStep extends StepAround {
  readonly context: RunContext;
  readonly path: string;
  readonly key: string;
  readonly services: unknown;
  readonly signal: AbortSignal;
  /** Whether the run was resumed with answers for it, or for what runs inside. */
  readonly isAnswered: boolean;
  /** The runs inside it; made for the first. */
  readonly nested: NestedRuns;
}

/** A step whose node keeps what runs inside it. */
interface AskingNode {
  readonly node: NodeActivation;
  readonly context: RunContext;
  keepPrepared(): void;
  /** Ends the activation of the node although its function has not ended. */
  endEarly(end: () => NodeEvent): void;
}

/** The home of the runs inside the step of a node. */
export function nestedInNode(step: AskingNode): NestedHome {
  const { node } = step;
  const kept = keptJson(node, 'nested');
  return {
    path: node.path,
    kept: isJsonObject(kept) ? kept : {},
    answers: () => answersOf(node, step.context.codec),
    wait: (nested, questions) =>
      step.endEarly(() => {
        step.keepPrepared();
        keep(node, { nested: nested(), ...answersToKeep(node, []) });
        return waitFor(node, 'ask', questions);
      }),
  };
}

/** The calls of one activation. */
export class NestedRuns {
  readonly #home: NestedHome;
  readonly #codec: ValueCodec;
  /** By the name of the call. */
  readonly #calls = new Map<string, EndedCall>();
  readonly #questions = new Map<string, readonly StoredQuestion[]>();
  /** Of calls, by the name that was asked for or given. */
  readonly #counts = new Map<string, number>();
  /** Names of the calls that are at work. */
  readonly #atWork = new Set<string>();

  constructor(home: NestedHome, codec: ValueCodec) {
    this.#home = home;
    this.#codec = codec;
  }

  /** A call begins. Gives its name, which is the same when the step runs again, and where it stands. */
  begin(step: string): { readonly name: string; readonly kept: KeptCall | undefined } {
    let count = (this.#counts.get(step) ?? 0) + 1;
    let name = count === 1 ? step : `${step}_${count}`;
    // A step may have the name that the second call of another one has.
    while (count > 1 && this.#counts.has(name)) name = `${step}_${++count}`;
    this.#counts.set(step, count);
    if (count > 1) this.#counts.set(name, 1);
    this.#atWork.add(name);
    const kept = Object.hasOwn(this.#home.kept, name) ? this.#home.kept[name] : undefined;
    if (!isJsonObject(kept)) return { name, kept: undefined };
    if ('checkpoint' in kept)
      return { name, kept: { type: 'waiting', checkpoint: kept.checkpoint as unknown as Checkpoint } };
    const value = readStoredValue(this.#codec, kept as unknown as StoredValue);
    return { name, kept: { type: 'done', value } };
  }

  /** The answers for what waits inside a call, by the rest of the address. */
  answersTo(name: string): ReadonlyMap<string, unknown> {
    const start = `/${name}/`;
    const answers = [...this.#home.answers()].filter(([suffix]) => suffix.startsWith(start));
    return new Map(answers.map(([suffix, answer]) => [suffix.slice(start.length), answer]));
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

  /** A call is not at work any more; one that has neither ended nor waits is made again when the step runs again. */
  leave(name: string): void {
    if (!this.#atWork.delete(name)) return;
    // What follows a call that has ended, in the same turn, may begin another one.
    if (this.#questions.size > 0) setImmediate(() => this.#settle());
  }

  /** What is to be kept of the calls when the step waits for a question of its own. @throws EngineError VALUE_NOT_STORABLE naming the call */
  parts(): { readonly nested?: JsonObject } {
    return this.#calls.size === 0 && Object.keys(this.#home.kept).length === 0 ? {} : { nested: this.#all() };
  }

  #all(): JsonObject {
    const ended = [...this.#calls].map(([name, call]) => [
      name,
      'checkpoint' in call
        ? call
        : (storeValue(this.#codec, call.value, `${this.#home.path}/${name}`) as unknown as Json),
    ]);
    return { ...this.#home.kept, ...Object.fromEntries(ended) };
  }

  #settle(): void {
    if (this.#atWork.size > 0 || this.#questions.size === 0) return;
    const questions = [...this.#questions].flatMap(([name, asked]) =>
      asked.map((question) => ({ ...question, suffix: `/${name}/${question.suffix}` })),
    );
    this.#questions.clear();
    this.#home.wait(() => this.#all(), questions);
  }
}
