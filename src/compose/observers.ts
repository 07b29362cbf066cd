/** Observing runs: who is told what steps get and give. */
import { EngineError } from '../errors.js';
import type { LoadFunction } from '../knowledge/ports.js';
import type { ChatMessage } from '../models/chat-model.js';
import type { AssistantMessage, ToolMessage } from '../models/messages.js';
import { didYouMean } from '../nearest-name.js';
import { invalidOption } from '../operators/invalid-option.js';
import type { PathClaim } from './engine/watch.js';
import { isStep, makeStep, originOf, show } from './make-step.js';
import type { ChatInput } from './models/chat-model-step.js';
import { type AnyCallbacks, type BoundObserver, Observer, type ObserverCallbacks } from './observer.js';
import {
  type AnyStep,
  DEFINITION,
  type InputOf,
  type OutputOf,
  type StepDefinition,
  type StepKind,
  type StepOptions,
} from './step.js';
import type { RequestedCall } from './tools/run-tool-call.js';
import type { ToolContent } from './tools/step-tool.js';

/** What loaders, indexers and retrievers work on. */
export type ObservedDocuments = Awaited<ReturnType<LoadFunction>>;

/** What steps of a kind get and give; others get and give anything. */
export interface ObservedKinds {
  readonly chatModel: { readonly input: readonly ChatMessage[] | ChatInput; readonly output: AssistantMessage };
  readonly tool: { readonly input: RequestedCall; readonly output: ToolContent };
  readonly toolsNode: { readonly input: AssistantMessage; readonly output: ToolMessage[] };
  readonly retriever: { readonly input: string; readonly output: ObservedDocuments };
  readonly prompt: { readonly input: Readonly<Record<string, unknown>>; readonly output: ChatMessage[] };
  readonly embedder: { readonly input: readonly string[]; readonly output: number[][] };
  readonly indexer: { readonly input: ObservedDocuments; readonly output: readonly string[] };
  readonly loader: { readonly input: string; readonly output: ObservedDocuments };
  readonly transformer: { readonly input: ObservedDocuments; readonly output: ObservedDocuments };
  readonly agent: { readonly input: unknown; readonly output: unknown };
  readonly graph: { readonly input: unknown; readonly output: unknown };
  readonly function: { readonly input: unknown; readonly output: unknown };
}

/** Makes observers: of everything, and by kind or path. */
export type Observe = {
  /** Of every step, and of the run itself. @throws EngineError OPTION_INVALID */
  <M>(callbacks: ObserverCallbacks<unknown, unknown, M>): Observer;
  /**
   * Of the step at one path, such as `writer/tools`: ids of the graphs around and its own, without rounds; `''` is the run itself. Lambdas may say
   * what they take.
   *
   * A path that the graph does not have is OPTION_INVALID when the run starts. One inside a step of code, which may run anything, is a process warning
   * at the end of the run when other steps ran there, but none at that path.
   */
  at<M, I = unknown, O = unknown>(path: string, callbacks: ObserverCallbacks<I, O, M>): Observer;
} & {
  /** Of the steps of one kind. */
  readonly [K in keyof ObservedKinds]: <M>(
    callbacks: ObserverCallbacks<ObservedKinds[K]['input'], ObservedKinds[K]['output'], M>,
  ) => Observer;
};

/** The observers of one path, as {@link InnerPaths} watches over them. */
export function claimsOfObservers(list: readonly Observer[] = []): readonly PathClaim[] {
  return list.flatMap(({ path }): PathClaim[] =>
    path === undefined ? [] : [{ at: path, what: `There was observe.at("${path}")`, warning: 'ObserverWarning' }],
  );
}

const NAMES = ['start', 'startChunks', 'end', 'endChunks', 'error'] as const;

/**
 * Makes an observer, which a run is given as `observe: [observer]`, or a step for good by `observed(step, observer)`.
 *
 * ```ts
 * import { chain, invoke, observe, step } from 'runnel';
 *
 * const double = step('double', (n: number) => n * 2);
 * const seen: string[] = [];
 * const ends = observe({ end: (output, { path }) => void seen.push(`${path}: ${output}`) });
 * await invoke(chain(double, (n) => n + 1), 4, { observe: [ends] });
 * console.log(seen.slice(0, 2));
 * // => [ 'double: 8', 'step_2: 9' ]
 * ```
 *
 * `observe.chatModel`, `.tool`, `.retriever` … are told of steps of that kind, with its types; `observe.at(path, …)` of one step. See
 * {@link ObserverCallbacks} for what is told when. Steps that a step runs inside itself with `{ within: at }` are observed, too.
 *
 * An observer cannot fail a run: what it throws, or a promise that it returns rejects with, is a `warning` notice in the events of the run; a
 * process warning where no event can carry it, once for each observer.
 *
 * @throws EngineError OPTION_INVALID for something else than a plain object of functions under the five names.
 */
export const observe: Observe = Object.freeze(
  Object.assign((callbacks: AnyCallbacks): Observer => new Observer(checked('observe', callbacks)), {
    at: (path: string, callbacks: AnyCallbacks): Observer => {
      if (typeof path !== 'string') throw invalidOption('observe.at', 'path', 'a text such as "writer/tools"', path);
      return new Observer(checked(`observe.at("${path}")`, callbacks), { path });
    },
    chatModel: ofKind('chatModel'),
    tool: ofKind('tool'),
    toolsNode: ofKind('toolsNode'),
    retriever: ofKind('retriever'),
    prompt: ofKind('prompt'),
    embedder: ofKind('embedder'),
    indexer: ofKind('indexer'),
    loader: ofKind('loader'),
    transformer: ofKind('transformer'),
    agent: ofKind('agent'),
    graph: ofKind('graph'),
    function: ofKind('function'),
  }),
);

/**
 * The step with an observer bound to it, in every run that it is part of.
 *
 * Functions under the names of {@link ObserverCallbacks} are told of this step, with its types; an observer made by `observe` is also told of
 * what runs inside it, paths counted from there. A chain becomes one unit, as with `step(name, chain)`. Call options for the step given hold for
 * this one, too.
 *
 * @throws EngineError PLAN_INVALID for something else than a step; OPTION_INVALID for something else than an observer.
 */
export function observed<S extends AnyStep, M>(
  step: S,
  observer: Observer | ObserverCallbacks<InputOf<S>, OutputOf<S>, M>,
): S {
  if (!isStep(step)) {
    throw new EngineError(
      'PLAN_INVALID',
      `observed(…) needs a step; received ${show(step)}. Make one with step(name, fn).`,
    );
  }
  const isDeep = observer instanceof Observer;
  const bound: BoundObserver = isDeep
    ? { observer, isDeep }
    : { observer: new Observer(checked(`observed("${step.name}")`, observer as AnyCallbacks)), isDeep };
  const definition = step[DEFINITION];
  const options: StepOptions = { ...definition.options, observe: [...(definition.options.observe ?? []), bound] };
  return makeStep(step.name, boundTo(definition, options), step.kind) as unknown as S;
}

function boundTo(definition: StepDefinition, options: StepOptions): StepDefinition {
  if (definition.type === 'graph')
    return { ...definition, graph: { ...definition.graph, isInline: false }, options } as StepDefinition;
  return { ...definition, options, origin: originOf(definition) } as StepDefinition;
}

function ofKind(kind: StepKind & keyof ObservedKinds) {
  return (callbacks: AnyCallbacks): Observer => new Observer(checked(`observe.${kind}`, callbacks), { kind });
}

function checked(owner: string, callbacks: AnyCallbacks): AnyCallbacks {
  const prototype: unknown = callbacks === null ? undefined : Object.getPrototypeOf(Object(callbacks));
  if (typeof callbacks !== 'object' || (prototype !== Object.prototype && prototype !== null)) {
    // Methods of a class are no keys of its objects: such an observer would be told of nothing.
    const received = typeof callbacks === 'object' && callbacks !== null ? 'an object of a class' : show(callbacks);
    throw new EngineError(
      'OPTION_INVALID',
      `${owner} needs a plain object of functions ${NAMES.join(', ')}; received ${received}. Write { end: (output) => … }.`,
    );
  }
  for (const [name, value] of Object.entries(callbacks)) {
    if (!(NAMES as readonly string[]).includes(name)) {
      const message = `${owner}: there is nothing to observe called "${name}".${didYouMean(name, NAMES)} There are ${NAMES.join(', ')}.`;
      throw new EngineError('OPTION_INVALID', message);
    }
    if (value !== undefined && typeof value !== 'function') throw invalidOption(owner, name, 'a function', value);
  }
  return { ...callbacks };
}
