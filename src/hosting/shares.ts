/** Places that tenants share, and the visitors of their chat pages: runs, connections, trials. */

/** How many times as many places as are free one party may have. */
const TIMES_FREE = 3;

/** Whose share something counts for: the visitors of a tenant's chat pages have one of their own, so that they cannot take the tenant's. */
export function partyOf(tenant: string, isVisitor = false): string {
  // No tenant has a blank in its name.
  return isVisitor ? `${tenant} visitors` : tenant;
}

export interface SharesOptions {
  /** Places in all. */
  readonly most: number;
  /** Whether there may be several parties; one alone has all places. */
  readonly isShared: boolean;
}

/**
 * A number of places, of which no party (a tenant, or its visitors) can have all.
 *
 * A party may take another place while it has fewer than three times as many as are free: each leaves a quarter of what it finds, so one alone
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

  /** Whether a party may take another place. */
  hasRoom(party: string): boolean {
    const { most, isShared } = this.#options;
    const free = most - this.#size;
    return free > 0 && (!isShared || (this.#taken.get(party) ?? 0) < TIMES_FREE * free);
  }

  /** Takes a place, whether there is room or not; gives what gives it back, once. */
  take(party: string): () => void {
    this.#add(party, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(party, -1);
      isTaken = false;
    };
  }

  /** Why a party gets no place, for the message of a refusal. `what`: of which there are places, in the plural. */
  refusal(party: string, what: string): string {
    const { most } = this.#options;
    if (this.#size >= most) return `${most} ${what} are in progress, which is the most; try again later.`;
    return `${this.#taken.get(party) ?? 0} ${what} of yours are in progress, which is your share of ${most} while others need theirs; try again later.`;
  }

  #add(party: string, change: 1 | -1): void {
    const taken = (this.#taken.get(party) ?? 0) + change;
    if (taken === 0) this.#taken.delete(party);
    else this.#taken.set(party, taken);
    this.#size += change;
  }
}
