/** The edges that a run takes. */
import { type ComponentIndex, indexIds } from '../../dsl/component-id.js';
import type { NodeHeader } from '../../graph/events.js';
import { type EdgePicture, edgeKey } from './picture.js';

/** Folds the choices of nodes into the edges that were taken. */
export class EdgeFold {
  readonly #ids: ComponentIndex;
  readonly #edges: Map<string, EdgePicture>;
  #view: ReadonlyMap<string, EdgePicture> | undefined;

  /**
   * @param ids of the nodes of the document: a choice may spell one in the other version's way
   * @param view what another fold showed, to go on with
   */
  constructor(ids: Iterable<string>, view?: ReadonlyMap<string, EdgePicture>) {
    this.#ids = indexIds(ids);
    this.#edges = new Map(view);
    this.#view = view;
  }

  /** As a picture shows them; the same object until something changes. */
  get view(): ReadonlyMap<string, EdgePicture> {
    this.#view ??= new Map(this.#edges);
    return this.#view;
  }

  /** The edges from a node to others are taken; gives the ids of those as their document spells them. */
  take({ node: from, seq }: NodeHeader, targets: readonly string[]): readonly string[] {
    return targets.map((target) => {
      const to = this.#ids.resolve(target) ?? target;
      const key = edgeKey(from, to);
      this.#edges.set(key, { from, to, count: (this.#edges.get(key)?.count ?? 0) + 1, lastSeq: seq });
      this.#view = undefined;
      return to;
    });
  }
}
