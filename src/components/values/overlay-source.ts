import type { AliasName, Reference } from '../../dsl/reference.js';
import { type Lookup, type ValueSource, writePath } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';

/** Values that are written but not yet settled, laid over those of a source; the source itself never changes. */
export class OverlaySource implements ValueSource {
  readonly #below: ValueSource;
  /** By `component@name` or by the key of a variable; the second never holds an `@`. */
  readonly #written = new Map<string, Lookup>();

  constructor(below: ValueSource) {
    this.#below = below;
  }

  output(component: string, name: string): Lookup {
    return this.#written.get(`${component}@${name}`) ?? this.#below.output(component, name);
  }

  variable(key: string): Lookup {
    return this.#written.get(key) ?? this.#below.variable(key);
  }

  alias(name: AliasName): Lookup {
    return this.#below.alias(name);
  }

  /**
   * Makes later reads of `to` give `value`.
   *
   * @throws EngineError REFERENCE_READ_ONLY for an alias or a key that cannot be written, REFERENCE_UNRESOLVED for a
   * position that a list does not have.
   */
  write(to: Reference, value: Json): void {
    if (to.kind === 'output') {
      this.#set(`${to.component}@${to.name}`, this.output(to.component, to.name), to.path, value);
    } else if (to.kind === 'variable') {
      const key = this.#rootOf(to.key);
      const path = key === to.key ? [] : to.key.slice(key.length + 1).split('.');
      this.#set(key, this.variable(key), path, value);
    } else {
      throw new EngineError(
        'REFERENCE_READ_ONLY',
        `Cannot write "${to.name}": the current item of a body is read-only. Write an env variable or an output instead.`,
      );
    }
  }

  #set(key: string, before: Lookup, path: readonly string[], value: Json): void {
    const root = before.status === 'found' ? before.value : undefined;
    this.#written.set(key, { status: 'found', value: writePath(root, path, value) });
  }

  /** The longest part of a key that names a variable, as reading finds it; the key itself when none does. */
  #rootOf(key: string): string {
    const firstDot = key.indexOf('.');
    for (let cut = key.length; cut > firstDot; cut = key.lastIndexOf('.', cut - 1)) {
      const part = key.slice(0, cut);
      if (this.variable(part).status !== 'unresolved') return part;
    }
    return key;
  }
}
