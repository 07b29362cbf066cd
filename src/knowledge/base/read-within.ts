/** How texts are read that may be short or long. */
export interface ReadWithinOptions<T> {
  /** Reads some of them; what is not there is left out. */
  readonly read: (ids: readonly string[]) => Promise<readonly T[]>;
  readonly sizeOf: (one: T) => number;
  /** Sum of sizes after which nothing more is read. */
  readonly maxSize: number;
  /** Ids of one call. */
  readonly maxIds: number;
}

/** Ids of the first call, which tells how large the others are. */
const FIRST_IDS = 50;

/**
 * Reads in the order of ids until they are all read, or their sizes together reach a bound: so many are read at once as are expected to fit, and the last
 * are left out. Rejects as `read` does.
 */
export async function readWithin<T>(
  ids: readonly string[],
  { read, sizeOf, maxSize, maxIds }: ReadWithinOptions<T>,
): Promise<readonly T[]> {
  const found: T[] = [];
  let size = 0;
  for (let at = 0, count = FIRST_IDS; at < ids.length && size < maxSize; ) {
    const some = ids.slice(at, at + count);
    for (const one of await read(some)) {
      found.push(one);
      size += sizeOf(one);
    }
    at += some.length;
    const each = Math.max(1, size / at);
    count = Math.min(maxIds, Math.max(1, Math.floor((maxSize - size) / each)));
  }
  return found;
}
