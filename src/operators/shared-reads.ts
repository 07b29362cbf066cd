/** The reads of a key that is being read. */
interface Line<T> {
  /** Resolves when the read that is under way has ended. */
  over: Promise<void>;
  /** The one that begins behind it, once it is asked for. */
  next: Promise<T> | undefined;
}

/**
 * Answers equal reads that are asked for at once by one read.
 *
 * ```text
 * asked     a b c - - d
 * reads     [a][b c]  [d]
 * ```
 *
 * The first begins at once. What is asked for while one is under way shares the next, which begins behind it: so each answer is that of a read which began
 * after it was asked for, and a change that was stored before is seen. Callers must not change what they are given. A failure is that of all that share it.
 */
export class SharedReads<T> {
  readonly #lines = new Map<string, Line<T>>();

  /** Reads; calls of the same `key` must read the same. @throws what `read` throws */
  read(key: string, read: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key);
    if (line === undefined) return this.#begin(key, read);
    line.next ??= line.over.then(() => this.#begin(key, read));
    return line.next;
  }

  async #begin(key: string, read: () => Promise<T>): Promise<T> {
    let end = (): void => {};
    const line: Line<T> = {
      over: new Promise((resolve) => {
        end = resolve;
      }),
      next: undefined,
    };
    this.#lines.set(key, line);
    try {
      return await read();
    } finally {
      if (line.next === undefined) this.#lines.delete(key);
      end();
    }
  }
}
