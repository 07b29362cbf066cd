/** Values that are here, or come later. */

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Calls `next` with a value, now or when it has come. */
export function afterwards(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}
