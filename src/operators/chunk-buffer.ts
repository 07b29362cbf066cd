import { Fifo } from './fifo.js';

/**
 * The chunks that wait for one reader, oldest first. Neighbours can be concatenated to make place, at a cost that stays small per chunk.
 *
 * {@link squeeze} takes the newest chunks, and older ones as long as they are made of no more chunks than all newer ones together. So every
 * time a chunk is concatenated again it becomes part of one at least twice as large: n chunks cost O(n log n) in all, however long the
 * reader does not read. (Concatenating the newest two each time would cost O(n²) for values that are copied.) The rule is that of
 * log-structured merge trees: P. O'Neil et al., "The Log-Structured Merge-Tree", 1996.
 */
export class ChunkBuffer<T> {
  private readonly chunks = new Fifo<T>();
  /** Of how many chunks each one was made; empty as long as all are as they were written. */
  private readonly weights = new Fifo<number>();
  private concatenated = 0;

  /** How many wait. */
  get size(): number {
    return this.chunks.size;
  }

  /** Whether some that wait were concatenated: the reader fell behind and has not caught up. */
  get isBehind(): boolean {
    return this.concatenated > 0;
  }

  push(chunk: T): void {
    if (this.concatenated > 0) this.weights.push(1);
    this.chunks.push(chunk);
  }

  /** Removes and gives the oldest; there must be one. */
  take(): T {
    if (this.concatenated > 0 && this.weights.take() > 1) {
      this.concatenated -= 1;
      if (this.concatenated === 0) this.weights.clear();
    }
    return this.chunks.take();
  }

  /**
   * Adds a chunk and leaves no more of them than before: some of the newest become one. There must be one already.
   *
   * What `concat` throws is passed on; the buffer is as before then.
   */
  squeeze(chunk: T, concat: (neighbours: readonly T[]) => T): void {
    const { chunks, weights } = this;
    if (weights.size === 0) for (let at = 0; at < chunks.size; at += 1) weights.push(1);
    const run = [chunk];
    const runWeights = [1];
    let weight = 1;
    let concatenated = 0;
    do {
      const next = weights.takeNewest();
      weight += next;
      if (next > 1) concatenated += 1;
      run.push(chunks.takeNewest());
      runWeights.push(next);
    } while (chunks.size > 0 && (weights.newest as number) <= weight);
    run.reverse();
    try {
      chunks.push(concat(run));
      weights.push(weight);
      this.concatenated += 1 - concatenated;
    } catch (error) {
      // The last of the run is the new chunk, which was never in here.
      for (let at = 0; at < run.length - 1; at += 1) {
        chunks.push(run[at] as T);
        weights.push(runWeights[run.length - 1 - at] as number);
      }
      if (this.concatenated === 0) weights.clear();
      throw error;
    }
  }

  clear(): void {
    this.chunks.clear();
    this.weights.clear();
    this.concatenated = 0;
  }
}
