import type { Node, Plan } from './plan.js';
import type { FrameState, State } from './state.js';

/**
 * The starts that a recovered run repeats, by token. A consumer on a stream edge gets a new token when its producer starts it again, so
 * its start is found by its place.
 */
export class Retractions {
  readonly #starts: Map<number, number>;
  readonly #byPlace = new Map<string, number>();

  constructor(plan: Plan, { root }: State, starts: ReadonlyMap<number, number>) {
    this.#starts = new Map(starts);
    this.#addPlaces(plan, root, '');
  }

  /** seq of the start that this one repeats; gone once taken. */
  take(token: number, node: number, path: string): number | undefined {
    const own = this.#starts.get(token);
    if (own !== undefined) {
      this.#starts.delete(token);
      return own;
    }
    const place = `${path}/${node}`;
    const start = this.#byPlace.get(place);
    this.#byPlace.delete(place);
    return start;
  }

  #addPlaces(plan: Plan, { tokens }: FrameState, path: string): void {
    const early = new Set(tokens.flatMap(({ startedEarly = [] }) => startedEarly));
    for (const { id, node, frames = [] } of tokens) {
      const start = this.#starts.get(id);
      if (start !== undefined && early.has(id)) this.#byPlace.set(`${path}/${node}`, start);
      for (const frame of frames) {
        this.#addPlaces(plan, frame, `${path === '' ? '' : `${path}/`}${(plan.nodes[node] as Node).id}/${frame.key}`);
      }
    }
  }
}
