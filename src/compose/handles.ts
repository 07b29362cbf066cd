/** What edges are drawn between: typed handles of the nodes of one graph. */
import { EngineError } from '../errors.js';
import { isStep, show } from './make-step.js';

/** Something in a graph that gives values: a node, or the start. */
export interface Source<out T> {
  readonly id: string;
  /** Carries the type; not for programs. */
  readonly '~gives': () => T;
}

/** Something in a graph that takes values: a node, or the end. */
export interface Target<in T> {
  readonly id: string;
  /** Carries the type; not for programs. */
  readonly '~takes': (value: T) => void;
}

/** A node of a graph that is being built. */
export interface NodeHandle<in I, out O> extends Source<O>, Target<I> {}

/** A part of a join that may have been skipped; see {@link optional}. */
export interface OptionalPart<out T> {
  readonly optional: Source<T>;
}

/** Marks a part of a join that a branch may skip: the joined object then is without its key. */
export function optional<T>(source: Source<T>): OptionalPart<T> {
  return Object.freeze({ optional: source });
}

/** What a handle is when the program runs: its id and the builder it belongs to. */
class Handle {
  readonly id: string;
  readonly #owner: object;

  constructor(id: string, owner: object) {
    this.id = id;
    this.#owner = owner;
    Object.freeze(this);
  }

  static belongsTo(value: unknown, owner: object): boolean {
    return value instanceof Handle && value.#owner === owner;
  }
}

/** Makes a handle of `owner`. Its types are the caller's word. */
export function makeHandle<I, O>(id: string, owner: object): NodeHandle<I, O> {
  return new Handle(id, owner) as unknown as NodeHandle<I, O>;
}

/**
 * The id of a handle of `owner`. `graph` is its name in messages, `place` what needs the handle.
 *
 * @throws EngineError PLAN_INVALID for a handle of another graph, and for something else.
 */
export function idOf(handle: unknown, owner: object, graph: string, place = 'an edge'): string {
  if (Handle.belongsTo(handle, owner)) return (handle as Handle).id;
  const problem =
    handle instanceof Handle
      ? `"${handle.id}" is a node of another graph. Edges join nodes of one graph: add its step here with g.node(…).`
      : `${place} needs a node, as g.node(…) gives it; received ${isStep(handle) ? `the step "${handle.name}". Add it with g.node(…)` : show(handle)}.`;
  throw new EngineError('PLAN_INVALID', `Graph "${graph}": ${problem}`);
}
