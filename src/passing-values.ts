/**
 * Values of which many come and go, such as the runs at work.
 *
 * V8 makes the table of a `Map` or a `Set` anew each time that about as many entries were deleted as it has room for, and the one before keeps
 * what was in it. Tables of a map that has been in use for a while are made in old space, where they stay until the next full collection: so
 * what such a map had is kept as well, and copied twice by minor collections. A place in a list is empty once its value is gone.
 */

/** Values in no order, each in a place that is its own until it is removed. */
export class PassingValues<T extends object> {
  readonly #values: (T | undefined)[] = [];
  /** Places that are empty. */
  readonly #empty: number[] = [];

  /** How many values there are. */
  get size(): number {
    return this.#values.length - this.#empty.length;
  }

  /** Takes a value; gives its place. */
  add(value: T): number {
    const place = this.#empty.pop() ?? this.#values.length;
    this.#values[place] = value;
    return place;
  }

  /** The value of a place; undefined when that is empty. */
  at(place: number): T | undefined {
    return this.#values[place];
  }

  /** Empties the place of a value; does nothing when it has another one by now, or none. */
  remove(place: number, value: T): void {
    if (this.#values[place] !== value) return;
    this.#values[place] = undefined;
    this.#empty.push(place);
  }

  /** All values of this moment, as a list of its own. */
  list(): T[] {
    return this.#values.filter((value) => value !== undefined);
  }
}

/** The same by key: a table has keys and places only. */
export class PassingMap<T extends object> {
  readonly #places = new Map<string, number>();
  readonly #values = new PassingValues<T>();

  /** How many values there are. */
  get size(): number {
    return this.#places.size;
  }

  get(key: string): T | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values.at(place);
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  /** Takes the place of what had the key before. */
  set(key: string, value: T): void {
    this.delete(key);
    this.#places.set(key, this.#values.add(value));
  }

  /** Whether there was a value. */
  delete(key: string): boolean {
    const place = this.#places.get(key);
    const value = place === undefined ? undefined : this.#values.at(place);
    if (place === undefined || value === undefined) return false;
    this.#places.delete(key);
    this.#values.remove(place, value);
    return true;
  }

  keys(): Iterable<string> {
    return this.#places.keys();
  }

  /** All values of this moment, as a list of its own, in no order. */
  list(): T[] {
    return this.#values.list();
  }
}
