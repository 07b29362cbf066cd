/** The graph of a dataset as the sum of what its chunks say, kept up to date while they come and go. */
import type { ChunkContribution, Relation } from '../facts.js';
import type { GraphRelation, NameDecision, SummedGraph } from '../graph-records.js';
import type { KeyedDecision } from '../names/group-names.js';
import { keyOfForm, type NameForm, nameForm, type Simplify } from '../names/name-forms.js';
import { EntitySums } from './entity-sums.js';
import { type KeyedAlias, NameSums } from './name-sums.js';
import { RelationSums } from './relation-sums.js';

/** Share of the contributions from which on a change is summed as if nothing had been there, which is quicker then. */
const MOST_CHANGED = 0.25;
/** Forms of names that are kept beside two for each name that there is. */
const SPARE_FORMS = 10_000;

/**
 * Sums contributions. The sum depends on the set of contributions, the decisions and the aliases alone: not on their order, nor on what was there before, so a
 * dataset from which a document was deleted has the graph of one that never had it. What a change does not touch is kept.
 *
 * Names of the layer `links` count where they are a title of some document. What users give goes before what texts say: its names and types. Its mentions
 * and weights are what there is at least, so a graph that was exported and given again is the same.
 */
export class GraphSum {
  readonly #simplify: Simplify | undefined;
  readonly #contributions = new Set<ChunkContribution>();
  /** What came and went since the sum was made. */
  readonly #added = new Set<ChunkContribution>();
  readonly #removed = new Set<ChunkContribution>();
  readonly #forms = new Map<string, NameForm>();
  #decisions: readonly KeyedDecision[] = [];
  #aliases: readonly KeyedAlias[] = [];
  #parts: Parts;
  #graph: SummedGraph | undefined;

  constructor(simplify?: Simplify) {
    this.#simplify = simplify;
    this.#parts = this.#nothing();
  }

  /** Does nothing for one that is there. */
  add(one: ChunkContribution): void {
    if (this.#contributions.has(one)) return;
    this.#graph = undefined;
    this.#contributions.add(one);
    if (!this.#removed.delete(one)) this.#added.add(one);
  }

  /** Takes out the same object that was added; does nothing for one that is not there. */
  remove(one: ChunkContribution): void {
    if (!this.#contributions.delete(one)) return;
    this.#graph = undefined;
    if (!this.#added.delete(one)) this.#removed.add(one);
  }

  /**
   * What counts beside contributions, in place of what counted before.
   *
   * @param aliases names with others that mean the same; one that no text mentions leads to the other
   */
  decide(decisions: readonly NameDecision[], aliases: readonly (readonly [string, string])[]): void {
    this.#graph = undefined;
    const keyOf = (name: string): string => keyOfForm(this.formOf(name));
    this.#decisions = decisions.map(({ kind, by, names: [left, right] }) => ({
      ...{ kind, by, keys: [keyOf(left), keyOf(right)] },
    }));
    this.#aliases = aliases.map((names) => this.#parts.names.keyed(names));
  }

  /** The sum; the same object until something changes. */
  get graph(): SummedGraph {
    this.#graph ??= this.#sum();
    return this.#graph;
  }

  /** The relations of an entity of the graph: those that a text states first, then the strongest. */
  relationsOf(id: string): readonly GraphRelation[] {
    return this.graph.entities.has(id) ? this.#parts.relations.of(id) : [];
  }

  /** The form of a name; forms of names that are there are kept. */
  formOf(name: string): NameForm {
    const known = this.#forms.get(name);
    if (known !== undefined) return known;
    if (this.#forms.size > 2 * this.#parts.names.size + SPARE_FORMS) this.#forms.clear();
    const form = nameForm(name, this.#simplify);
    this.#forms.set(name, form);
    return form;
  }

  #sum(): SummedGraph {
    const isAnew = this.#added.size + this.#removed.size > MOST_CHANGED * this.#contributions.size;
    if (isAnew) this.#parts = this.#nothing();
    const { names, entities, relations } = this.#parts;
    const added = isAnew ? this.#contributions : this.#added;
    const removed = isAnew ? new Set<ChunkContribution>() : this.#removed;
    const told = names.change(removed, added);
    const moved = entities.change(told, { decisions: this.#decisions, aliases: this.#aliases });
    const idOf = (name: string): string | undefined => entities.idOf(name);
    const idBefore = (name: string): string | undefined => (moved.has(name) ? moved.get(name) : idOf(name));
    for (const one of removed) relations.remove(one, idBefore);
    const isMoved = ({ source, target }: Relation): boolean => moved.has(source) || moved.has(target);
    const concerned = new Set<ChunkContribution>();
    for (const name of moved.keys()) for (const one of names.mentioning(name)) if (!added.has(one)) concerned.add(one);
    for (const one of concerned) {
      relations.remove(one, idBefore, isMoved);
      relations.add(one, idOf, isMoved);
    }
    for (const one of added) relations.add(one, idOf);
    this.#added.clear();
    this.#removed.clear();
    return { ...entities.summed(), relations: relations.all };
  }

  #nothing(): Parts {
    const formOf = (name: string): NameForm => this.formOf(name);
    const names = new NameSums(formOf);
    return { names, entities: new EntitySums(names, formOf, this.#simplify), relations: new RelationSums() };
  }
}

interface Parts {
  readonly names: NameSums;
  readonly entities: EntitySums;
  readonly relations: RelationSums;
}
