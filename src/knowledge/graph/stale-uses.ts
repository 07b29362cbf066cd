import { Newest } from '../../newest.js';

/** What a model wrote, of which a newer text has another fingerprint. */
interface Written {
  readonly key: string;
  readonly fingerprint: string;
}

/** Reports and descriptions of one graph whose uses are counted; those that were not used for the longest time are forgotten first. */
const MAX_COUNTED = 4_000;

/**
 * How often searches were given what a model wrote and what is stale since, so that what is used most is written anew first. Counted in memory, for as long as the
 * graph is held there: behind a start all are alike.
 */
export class StaleUses {
  readonly #counts = new Newest<number>({ maxCount: MAX_COUNTED });

  note(written: Written): void {
    this.#counts.put(nameOf(written), this.of(written) + 1);
  }

  /** 0 for what is not there. */
  of(written: Written | undefined): number {
    return written === undefined ? 0 : (this.#counts.get(nameOf(written)) ?? 0);
  }
}

/** Once it is written anew, it begins at 0. */
function nameOf({ key, fingerprint }: Written): string {
  return `${key} ${fingerprint}`;
}
