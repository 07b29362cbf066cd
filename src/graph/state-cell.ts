/** A typed state of one frame: its value, changed by patches alone. */
import { BehaviorSubject, type Observable } from 'rxjs';
import { EngineError } from '../errors.js';

/** A change of a state, as the journal has it. */
export type StatePatch =
  | { readonly type: 'set'; readonly value: unknown }
  | { readonly type: 'fields'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly type: 'append'; readonly key: string; readonly items: readonly unknown[] };

/** Items up to which a list is copied when some are put behind it; a property that cuts a longer one costs more than that. */
const MAX_COPIED = 256;

/**
 * Long lists that patches append to grow in place: a copy for every item would be five billion copies for a hundred thousand items. A value that
 * was given out keeps its length; such lists are cut when they are read.
 */
export class StateCell {
  #base: unknown;
  #lists: Map<string, unknown[]> | undefined = undefined;
  #value: unknown;
  #isStale = false;
  #value$: BehaviorSubject<unknown> | undefined = undefined;

  constructor(value: unknown) {
    this.#base = value;
    this.#value = value;
  }

  /** The value now. */
  get value(): unknown {
    if (this.#isStale) {
      this.#value = this.#build();
      this.#isStale = false;
    }
    return this.#value;
  }

  /** The value now, then after every change. */
  get value$(): Observable<unknown> {
    this.#value$ ??= new BehaviorSubject(this.value);
    return this.#value$;
  }

  change(patch: StatePatch): void {
    switch (patch.type) {
      case 'set':
        this.#base = patch.value;
        this.#lists = undefined;
        break;
      case 'fields':
        this.#base = { ...(this.#base as object), ...patch.fields };
        for (const key of Object.keys(patch.fields)) this.#lists?.delete(key);
        break;
      case 'append':
        this.#append(patch.key, patch.items);
    }
    this.#isStale = true;
    this.#value$?.next(this.value);
  }

  /** Its frame is over. */
  end(): void {
    this.#value$?.complete();
  }

  #append(key: string, items: readonly unknown[]): void {
    let list = this.#lists?.get(key);
    if (list === undefined) {
      const base = this.#base as Readonly<Record<string, unknown>>;
      const before = Object.hasOwn(base, key) ? base[key] : undefined;
      if (before !== undefined && !Array.isArray(before)) throw notAList(key, before);
      list = before === undefined ? [] : (before as unknown[]).slice();
      if (list.length + items.length <= MAX_COPIED) {
        for (const item of items) list.push(item);
        this.#base = { ...base, [key]: list };
        return;
      }
      this.#lists ??= new Map();
      this.#lists.set(key, list);
    }
    for (let at = 0; at < items.length; at += 1) list.push(items[at]);
  }

  #build(): unknown {
    if (this.#lists === undefined || this.#lists.size === 0) return this.#base;
    const value = { ...(this.#base as object) };
    for (const [key, list] of this.#lists) defineCut(value, key, list);
    return value;
  }
}

function notAList(key: string, value: unknown): EngineError {
  const kind = value === null ? 'null' : `a value of type ${typeof value}`;
  return new EngineError(
    'INPUT_INVALID',
    `Items cannot be put behind "${key}" of the state: it is ${kind}, not a list; use update({ ${key}: … }).`,
  );
}

/** A property with the items that `list` holds now. The copy is made when the property is first read. */
function defineCut(target: object, key: string, list: readonly unknown[]): void {
  const { length } = list;
  let cut: readonly unknown[] | undefined;
  const get = () => {
    cut ??= list.slice(0, length);
    return cut;
  };
  Object.defineProperty(target, key, { enumerable: true, configurable: true, get });
}
