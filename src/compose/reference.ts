/** References of workflows: what will be known when the workflow runs, written down as if it were there already. */
import { EngineError } from '../errors.js';

/** Under which a reference keeps its place, and carries its type. */
export const PLACE: unique symbol = Symbol('place');

/** Something that stands for a value of type `T`; read its fields with {@link Ref}. */
export interface BareRef<out T> {
  readonly [PLACE]: () => T;
}

/**
 * A value that a workflow will have: `user.profile.name` is a reference to a field of what `user` will give. Fields behind something optional
 * may be undefined, as with `?.`. It is a path and not the value: a method that is called on it, a loop over it and an operator are PLAN_INVALID
 * and say so; a step or `w.map(reference, function)` gets the value.
 */
// biome-ignore lint/suspicious/noExplicitAny: what is not typed stays so
export type Ref<T> = 0 extends 1 & T ? any : BareRef<T> & FieldsOf<NonNullable<T>, Extract<T, null | undefined>>;

/** References to the fields of a value; `M` is undefined or null where the value itself may be missing. */
export type FieldsOf<T, M> = T extends Leaf
  ? unknown
  : T extends readonly (infer E)[]
    ? ItemsOf<E> & { readonly length: Ref<number | Missing<M>> }
    : T extends object
      ? { readonly [K in keyof T]-?: Ref<T[K] | Missing<M>> }
      : unknown;

/** References to items of a list; the first ten also where the compiler mistrusts every index (`noUncheckedIndexedAccess`). */
export type ItemsOf<E> = { readonly [index: number]: Ref<E | undefined> } & {
  readonly [K in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9]: Ref<E | undefined>;
};

/** Values without fields that a reference could name. */
export type Leaf = string | number | boolean | bigint | symbol | Date | ((...values: never[]) => unknown);

/** A field of something that is null or undefined is undefined. */
export type Missing<M> = [M] extends [never] ? never : undefined;

/** How an input may be written: the value itself, a reference to one, or an object or list of both, at any depth. */
export type Mapped<T> =
  | BareRef<T>
  | (T extends Leaf | null | undefined
      ? T
      : T extends readonly (infer E)[]
        ? readonly Mapped<E>[]
        : T extends object
          ? { readonly [K in keyof T]: Mapped<T[K]> }
          : T);

/** What something written with {@link Mapped} will be. */
export type Unmapped<M> =
  M extends BareRef<infer T>
    ? T
    : M extends Leaf | null | undefined
      ? M
      : M extends object
        ? { -readonly [K in keyof M]: Unmapped<M[K]> }
        : M;

/** One move from a value to another: into an own property, or through a function. */
export type Move = { readonly key: string } | { readonly map: (value: never) => unknown };

/** Where a reference points to. */
export interface Place {
  /** The builder of the workflow. */
  readonly owner: object;
  /** Id of the node, or `start`. */
  readonly node: string;
  readonly moves: readonly Move[];
}

/** Makes a reference. Every property of it is a reference, too. */
export function makeReference<T>(place: Place): Ref<T> {
  const handler = new ReferenceHandler(place);
  handler.reference = new Proxy(NOTHING, handler);
  return handler.reference as Ref<T>;
}

/** What stands behind every reference: without properties, and a function, so that the call of a method can be told from reading a field. */
const NOTHING: object = bareFunction();

function bareFunction(): object {
  const bare = () => {};
  for (const key of Reflect.ownKeys(bare)) Reflect.deleteProperty(bare, key);
  return Object.setPrototypeOf(bare, null);
}

/** What happens when a reference is used as if it were the value. */
class ReferenceHandler implements ProxyHandler<object> {
  reference: unknown;
  readonly #place: Place;
  /** The one key that a spread copies, so that it can be seen where the object is used. */
  #spread: symbol | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  get(_: object, key: string | symbol): unknown {
    const place = this.#place;
    if (typeof key === 'string') return makeReference({ ...place, moves: [...place.moves, { key }] });
    if (key === PLACE) return place;
    if (key === Symbol.toPrimitive) return () => refuseUse(place, 'be computed with');
    if (key === Symbol.iterator || key === Symbol.asyncIterator) return () => refuseUse(place, 'be gone through');
    return key === this.#spread ? this.reference : undefined;
  }

  apply(): never {
    return refuseCall(this.#place);
  }

  has(_: object, key: string | symbol): boolean {
    return key === PLACE;
  }

  ownKeys(): symbol[] {
    this.#spread ??= Symbol(`the whole of ${pathOf(this.#place)}`);
    return [this.#spread];
  }

  getOwnPropertyDescriptor(): PropertyDescriptor {
    return { value: this.reference, enumerable: true, configurable: true };
  }

  set(): never {
    return refuseUse(this.#place, 'be changed');
  }

  defineProperty(): never {
    return refuseUse(this.#place, 'be changed');
  }

  deleteProperty(): never {
    return refuseUse(this.#place, 'be changed');
  }
}

/** The place of a reference; undefined for anything else. */
export function placeOf(value: unknown): Place | undefined {
  // A reference is a function to JavaScript.
  if (typeof value !== 'function' || !(PLACE in value)) return undefined;
  return (value as unknown as { readonly [PLACE]: Place })[PLACE];
}

/** A place in words: `user.profile.name`, `load.items (mapped)`. */
export function pathOf({ node, moves }: Pick<Place, 'node' | 'moves'>): string {
  return moves.reduce((path, move) => ('key' in move ? `${path}.${move.key}` : `${path} (mapped)`), node);
}

/** What there is at the end of the moves; undefined behind something that is missing. Own properties only. */
export function follow(place: Pick<Place, 'node' | 'moves'>, root: unknown): unknown {
  let value = root;
  for (const move of place.moves) {
    if ('map' in move) value = (move.map as (value: unknown) => unknown)(value);
    else if (value === undefined || value === null) value = undefined;
    else if (typeof value !== 'object') throw withoutFields(place, move.key, value);
    else value = Object.hasOwn(value, move.key) ? (value as Record<string, unknown>)[move.key] : undefined;
  }
  return value;
}

function withoutFields(place: Pick<Place, 'node' | 'moves'>, key: string, value: unknown): EngineError {
  return new EngineError(
    'INPUT_MISSING',
    `"${pathOf(place)}" cannot be read: "${key}" should be a field of an object, but "${place.node}" gave a ${typeof value} there.`,
    { details: { path: pathOf(place), source: place.node } },
  );
}

function refuseUse(place: Place, what: string): never {
  throw new EngineError(
    'PLAN_INVALID',
    `"${pathOf(place)}" stands for a value that the workflow will have when it runs, so it cannot ${what} while it is built. ` +
      'Use w.map(reference, function).',
  );
}

function refuseCall(place: Place): never {
  const last = place.moves.at(-1);
  const isMethod = last !== undefined && 'key' in last;
  const called = isMethod ? `"${pathOf({ ...place, moves: place.moves.slice(0, -1) })}"` : 'it';
  const call = isMethod ? `(value) => value.${last.key}(…)` : '(value) => …';
  throw new EngineError(
    'PLAN_INVALID',
    `"${pathOf(place)}" was called, but ${called} is a path to a value that the workflow will have when it runs, and not that value. ` +
      `Give it to a step, w.node('id', ${call}, reference), or write w.map(reference, ${call}).`,
  );
}
