/** Times that are remembered of a target. */
const REMEMBERED = 50;
/** Bounds of how long a target may take before the next one starts, in milliseconds. */
const LEAST_MS = 1_000;
const MOST_MS = 5_000;
/** How many times its own 95th percentile a target may take. */
const PATIENCE = 2;

/** How long a target took to its first packets, the newest 50. */
export class FirstPacketTimes {
  #times: number[] = [];
  #at = 0;

  add(ms: number): void {
    this.#times[this.#at] = ms;
    this.#at = (this.#at + 1) % REMEMBERED;
  }

  /** It had so long and gave nothing: what it took before is forgotten, so that the next time it gets twice as long. */
  lost(ms: number): void {
    this.#times = [ms];
    this.#at = 1;
  }

  /** The 95th percentile in milliseconds, by nearest rank; undefined when nothing is known. */
  get percentile(): number | undefined {
    const sorted = [...this.#times].sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.95) - 1];
  }

  /** After how many milliseconds without a packet the next target starts: twice the percentile, 1 to 5 s; 5 s while nothing is known. */
  get hedgeMs(): number {
    const { percentile } = this;
    return percentile === undefined ? MOST_MS : Math.min(MOST_MS, Math.max(LEAST_MS, percentile * PATIENCE));
  }
}
