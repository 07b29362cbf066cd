/** What a step sees while it works, on top of the activation of its node. */
import { isObservable, Observable, type Subscriber, type TeardownLogic } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import { type Call, type NodeEvent, notice, type Settled, type Usage } from '../../graph/node-events.js';
import type { StateCell, StatePatch } from '../../graph/state-cell.js';
import type { Json } from '../../json.js';
import { invalidOption, requireObject } from '../../operators/invalid-option.js';
import {
  failureOf,
  Interrupt,
  type InterruptOptions,
  type InterruptPart,
  requireInterruptOptions,
  requireParts,
} from '../interrupt.js';
import { requireState, type StateHandle, type StateToken } from '../state.js';
import type { AnyStep, InnerPartOptions, StepActivation, StepKind } from '../step.js';
import type { FoundState, GraphAround, RunContext } from './context.js';
import { innerPart } from './inner-part.js';
import { keep, keptJson, storedPart } from './kept.js';
import { NestedRuns, nestedInNode, type OuterStep } from './nested.js';
import { answersOf, memoOf, ownAnswersOf } from './questions.js';
import type { WatchedActivation } from './watch.js';

const NO_OPTIONS: Readonly<Record<string, unknown>> = Object.freeze({});

/** Where a step stands; the same object for all of its activations. */
export interface StepPlace {
  readonly step: AnyStep;
  /** Its id in its graph. */
  readonly id: string;
  /** Ids of the graphs around and its own, without rounds. */
  readonly path: string;
}

/** A step at work. Most of it is made when it is asked for. */
export class StepAt implements StepActivation, WatchedActivation, OuterStep {
  readonly node: NodeActivation;
  readonly context: RunContext;
  /** What the node's result goes to while it is awaited, or gives chunks. */
  #subscriber: Subscriber<NodeEvent> | undefined = undefined;
  /** The input as the `before` hook of the node made it. */
  prepared: { readonly value: unknown } | undefined = undefined;
  /** Whether a state was changed through this activation. */
  #hasPatched = false;
  /** Gives up what the step reads; called when it has ended. */
  release: (() => void) | undefined = undefined;
  readonly #place: StepPlace;
  #nested: NestedRuns | undefined;

  constructor(node: NodeActivation, context: RunContext, place: StepPlace) {
    this.node = node;
    this.context = context;
    this.#place = place;
  }

  get name(): string {
    return this.#place.id;
  }
  /** What it was made of. */
  get made(): AnyStep {
    return this.#place.step;
  }

  get nested(): NestedRuns {
    this.#nested ??= new NestedRuns(nestedInNode(this), this.context.codec);
    return this.#nested;
  }
  get path(): string {
    const { prefix } = this.context;
    return prefix === '' ? this.node.path : prefix + this.node.path;
  }
  /** Its path from the outermost run, without rounds. */
  get place(): string {
    return this.context.place + this.#place.path;
  }
  get canTell(): boolean {
    return this.node.isHeard || this.context.outer?.canTell === true;
  }
  get lateness(): unknown {
    return this.node.lateness;
  }
  get run(): string {
    return this.node.run;
  }
  get key(): string {
    return this.node.token;
  }
  get attempt(): number {
    return this.node.attempt;
  }
  get signal(): AbortSignal {
    return this.node.signal;
  }
  get services(): unknown {
    return this.context.services;
  }
  get answer(): unknown {
    return ownAnswersOf(this.node, this.context.codec).get('');
  }
  get answers(): ReadonlyMap<string, unknown> {
    return byId(ownAnswersOf(this.node, this.context.codec));
  }
  /** Those of this resume alone. */
  get freshAnswers(): ReadonlyMap<string, unknown> {
    return byId(answersOf(this.node, this.context.codec));
  }
  /** Whether the run was resumed with answers, for this step or inside it. */
  get isAnswered(): boolean {
    return this.node.answer !== undefined;
  }
  get isResumed(): boolean {
    return this.node.question !== undefined;
  }
  get memo(): unknown {
    return memoOf(this.node, this.context.codec);
  }
  get options(): Readonly<Record<string, unknown>> {
    const { step, path } = this.#place;
    return this.context.options?.at(step, path) ?? NO_OPTIONS;
  }

  /** The events of a result that comes later; a step that runs inside this one may end them sooner. */
  ending(begin: (subscriber: Subscriber<NodeEvent>) => TeardownLogic): Observable<NodeEvent> {
    return new Observable((subscriber) => {
      this.#subscriber = subscriber;
      return begin(subscriber);
    });
  }

  /** The same of what is awaited, as `deliver` makes them of its value. */
  later(awaited: PromiseLike<unknown>, deliver: (value: unknown) => NodeResult): Observable<NodeEvent> {
    return this.ending((subscriber) => {
      const take = (value: unknown): void => {
        if (subscriber.closed) return;
        try {
          const result = deliver(value);
          if (isObservable(result)) subscriber.add(result.subscribe(subscriber));
          else subscriber.next(result as Settled);
        } catch (error) {
          subscriber.error(error);
        }
      };
      awaited.then(take, (thrown: unknown) => subscriber.error(failureOf(thrown, this.path)));
      return undefined;
    });
  }

  /** Ends the activation although its function has not ended: with a question, or an error. */
  endEarly(end: () => NodeEvent): void {
    const subscriber = this.#subscriber;
    if (subscriber === undefined || subscriber.closed) return;
    try {
      subscriber.next(end());
    } catch (error) {
      subscriber.error(error);
    }
  }

  /** Notes what the `before` hook made of the input. It is kept at once where the hook changed a state: doing that twice would be wrong. */
  prepare(input: unknown): unknown {
    if (input instanceof Interrupt) return input;
    this.prepared = { value: input };
    if (this.#hasPatched && this.node.isResumable) this.keepPrepared();
    return input;
  }

  /** Keeps what the `before` hook made of the input, where there is one, for when the node runs again. */
  keepPrepared(): void {
    const { node, context, prepared } = this;
    if (prepared === undefined || keptJson(node, 'input') !== undefined) return;
    keep(node, { input: storedPart(node, context.codec, 'input', prepared.value) });
  }

  now(): number {
    return this.node.now();
  }

  random(): number {
    return this.node.random();
  }

  state<S>(token: StateToken<S>): StateHandle<S> {
    requireState(`Step "${this.path}", at.state`, token);
    const found = this.findState(token as StateToken<unknown>);
    if (found !== undefined) return new Handle<S>(found.step, found.cell, token);
    const around = this.graphsAround().map(({ name, states }) => {
      const declared = states.length === 0 ? 'no state' : states.map((state) => `"${state}"`).join(', ');
      return `"${name}" (${declared})`;
    });
    const message = `Step "${this.path}" reads the state "${token.name}", which no graph around it declares: ${around.join(', ')}. Name it in the options of one: graph(…, { state: … }).`;
    throw new EngineError('STATE_MISSING', message, { node: this.path });
  }

  findState(token: StateToken<unknown>): FoundState | undefined {
    const cell = this.node.stateNamed(token.name);
    return cell === undefined ? this.context.outer?.findState(token) : { step: this, cell };
  }

  graphsAround(): readonly GraphAround[] {
    const own = this.node.statesAround().map(({ graph, states }) => ({ name: graph ?? this.context.name, states }));
    return [...own, ...(this.context.outer?.graphsAround() ?? [])];
  }

  observe<T>(kind: StepKind, name: string, input: unknown, work: () => T, options?: InnerPartOptions): T {
    if (typeof work !== 'function') throw invalidOption(`Step "${this.path}", at.observe`, 'work', 'a function', work);
    return innerPart(this, kind, name, input, work, options);
  }

  /** What observers see of a part; `suffix` makes its path. */
  partAt(suffix: string): WatchedActivation {
    return new PartAt(this, suffix);
  }

  /** Changes a state of a graph around. */
  patch(state: string, patch: StatePatch): void {
    this.#hasPatched = true;
    this.node.patch(state, patch);
  }

  interrupt(question: unknown, options: InterruptOptions = {}): Interrupt {
    requireInterruptOptions(this.path, options);
    return new Interrupt(question, options);
  }

  interruptAll(questions: readonly InterruptPart[], options: Pick<InterruptOptions, 'memo'> = {}): Interrupt {
    requireParts(this.path, questions);
    return new Interrupt(undefined, options, questions);
  }

  emit(name: string, data: Json): void {
    if (typeof name !== 'string' || name === '')
      throw invalidOption(`Step "${this.path}", at.emit`, 'name', 'a text that is not empty', name);
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    this.node.say(notice(name, isObject ? (data as Record<string, Json>) : { value: data }));
    this.context.outer?.emit(name, data);
  }

  report(event: Usage | Call): void {
    this.node.say(event);
    const { outer } = this.context;
    outer?.report(event.type === 'usage' ? event : callInside(event, this.key, outer.call));
  }

  get call(): undefined {
    return undefined;
  }

  ready(): PromiseLike<void> | undefined {
    return this.node.room() ?? this.node.ready();
  }
}

/** Whether what a step says now becomes an event, so that events need not be made which go nowhere; yes for activations of another kind. */
export function isTold(at: object): boolean {
  return (at as Partial<WatchedActivation>).canTell !== false;
}

/** A call of a step inside another one, as that one reports it: ids are unique among the calls of one activation. */
function callInside({ call }: Call, key: string, around: string | undefined): Call {
  const id = `${key}/${call.id}`;
  if (call.type !== 'started') return { type: 'call', call: { ...call, id } };
  const parent = call.parent === undefined ? around : `${key}/${call.parent}`;
  return { type: 'call', call: { ...call, id, ...(parent !== undefined && { parent }) } };
}

/** Answers to questions with ids. */
function byId(answers: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  return new Map(
    [...answers].flatMap(([suffix, answer]) => (suffix.startsWith('#') ? [[suffix.slice(1), answer]] : [])),
  );
}

/** A part of a step, as observers see it. */
class PartAt implements WatchedActivation {
  readonly #step: StepAt;
  readonly #suffix: string;

  constructor(step: StepAt, suffix: string) {
    this.#step = step;
    this.#suffix = suffix;
  }

  get path(): string {
    return this.#step.path + this.#suffix;
  }
  get run(): string {
    return this.#step.run;
  }
  get key(): string {
    return this.#step.key + this.#suffix;
  }
  get attempt(): number {
    return this.#step.attempt;
  }
  get isResumed(): boolean {
    return this.#step.isResumed;
  }
  get canTell(): boolean {
    return this.#step.canTell;
  }
  get lateness(): unknown {
    return this.#step.lateness;
  }

  emit(name: string, data: Json): void {
    this.#step.emit(name, data);
  }
}

/** A state as one step sees it. */
class Handle<S> implements StateHandle<S> {
  readonly #step: FoundState['step'];
  readonly #cell: StateCell;
  readonly #token: StateToken<S>;

  constructor(step: FoundState['step'], cell: StateCell, token: StateToken<S>) {
    this.#step = step;
    this.#cell = cell;
    this.#token = token;
  }

  get value(): Readonly<S> {
    return this.#cell.value as S;
  }

  get value$(): Observable<Readonly<S>> {
    return this.#cell.value$ as Observable<S>;
  }

  set(value: S): S {
    return this.#change({ type: 'set', value });
  }

  update(fields: Partial<S>): S {
    requireObject(`The state "${this.#token.name}"`, 'fields', fields, 'an object of the fields that change');
    return this.#change({ type: 'fields', fields: this.#reduced(fields) });
  }

  append<K extends keyof S>(key: K, ...items: readonly unknown[]): S {
    return this.#change({ type: 'append', key: String(key), items });
  }

  #reduced(fields: Partial<S>): Readonly<Record<string, unknown>> {
    const { reducers } = this.#token;
    if (!Object.keys(fields).some((key) => Object.hasOwn(reducers, key))) return { ...fields };
    const before = this.#cell.value as Readonly<Record<string, unknown>>;
    const reduced = Object.entries(fields).map(([key, update]) => {
      const reduce = Object.hasOwn(reducers, key) ? reducers[key] : undefined;
      return [key, reduce === undefined ? update : reduce(before[key] as never, update as never)] as const;
    });
    return Object.fromEntries(reduced);
  }

  #change(patch: StatePatch): S {
    this.#step.patch(this.#token.name, patch);
    return this.#cell.value as S;
  }
}
