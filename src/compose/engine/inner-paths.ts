/** Paths inside steps of code, for which options or observers were given: only the run can tell whether something is there. */
import { didYouMean } from '../../nearest-name.js';
import type { CompiledStep } from '../compile.js';
import { isBelow, isCode } from './run-observers.js';
import type { PathClaim, RunInnerPaths } from './watch.js';

/** Paths that a warning lists. */
const MOST_PATHS = 20;

/** What lies inside the steps of code of one run, as far as it is asked for. */
export class InnerPaths implements RunInnerPaths {
  /** What waits for something to stand at its path, with the path of the step of code around. */
  readonly #open = new Map<PathClaim, string>();
  /** Paths of what ran inside those steps. */
  readonly #paths = new Set<string>();

  private constructor(open: ReadonlyMap<PathClaim, string>) {
    this.#open = new Map(open);
  }

  /** Undefined when none of the paths lies inside a step of code: all others were checked when the run began. */
  static of({ steps }: CompiledStep, claims: readonly PathClaim[]): InnerPaths | undefined {
    const open = new Map<PathClaim, string>();
    for (const claim of claims) {
      const around = steps.find((node) => node !== undefined && isCode(node.step) && isBelow(claim.at, node.path));
      if (around !== undefined) open.set(claim, around.path);
    }
    return open.size === 0 ? undefined : new InnerPaths(open);
  }

  begun(place: string, paths: readonly string[]): void {
    if (this.#open.size === 0) return;
    this.seen(place.slice(0, -1));
    for (const path of paths) this.seen(`${place}${path}`);
  }

  seen(path: string): void {
    if (this.#open.size === 0) return;
    this.#paths.add(path);
    for (const claim of this.#open.keys()) if (claim.at === path) this.#open.delete(claim);
  }

  warnOfUnused(): void {
    for (const [{ at, what, warning }, around] of this.#open) {
      const beside = [...this.#paths].filter((path) => isBelow(path, around));
      if (beside.length === 0) continue;
      const near = didYouMean(at, beside);
      const ran = beside.slice(0, MOST_PATHS).join(', ');
      process.emitWarning(`${what}, but no step ran there.${near} Steps ran at ${ran}.`, warning);
    }
  }
}
