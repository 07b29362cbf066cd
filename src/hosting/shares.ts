/** Places that tenants share: runs, connections, trials. */

/** How many times as many places as are free one tenant may have. */
const TIMES_FREE = 3;

export interface SharesOptions {
  /** Places in all. */
  readonly most: number;
  /** Whether there are several tenants; one alone has all places. */
  readonly isShared: boolean;
}

/**
 * A number of places, of which no tenant can have all.
 *
 * A tenant may take another place while it has fewer than three times as many as are free: each leaves a quarter of what it finds, so one alone
 * gets three quarters, and while places are given back, two come to three sevenths each. No place is taken back. (The dynamic thresholds of
 * A. Choudhury and E. Hahne, 1998, by which ports share the buffer of a switch.)
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #taken = new Map<string, number>();
  #size = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Places that are taken. */
  get size(): number {
    return this.#size;
  }

  /** Whether a tenant may take another place. */
  hasRoom(tenant: string): boolean {
    const { most, isShared } = this.#options;
    const free = most - this.#size;
    return free > 0 && (!isShared || (this.#taken.get(tenant) ?? 0) < TIMES_FREE * free);
  }

  /** Takes a place, whether there is room or not; gives what gives it back, once. */
  take(tenant: string): () => void {
    this.#add(tenant, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(tenant, -1);
      isTaken = false;
    };
  }

  /** Why a tenant gets no place, for the message of a refusal. `what`: of which there are places, in the plural. */
  refusal(tenant: string, what: string): string {
    const { most } = this.#options;
    if (this.#size >= most) return `${most} ${what} are in progress, which is the most; try again later.`;
    return `${this.#taken.get(tenant) ?? 0} ${what} of yours are in progress, which is your share of ${most} while others need theirs; try again later.`;
  }

  #add(tenant: string, change: 1 | -1): void {
    const taken = (this.#taken.get(tenant) ?? 0) + change;
    if (taken === 0) this.#taken.delete(tenant);
    else this.#taken.set(tenant, taken);
    this.#size += change;
  }
}
