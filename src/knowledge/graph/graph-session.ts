/** The graph of one dataset in memory: what its chunks say, and what is made of that when it is asked for. */
import { SessionDescriptions } from './by-model/session-descriptions.js';
import type { WrittenDescription } from './by-model/written-description.js';
import { type Communities, findCommunities } from './communities.js';
import { type EntityNetwork, networkOf } from './entity-network.js';
import type { ChunkContribution, GraphLayer } from './facts.js';
import type { RankSeed } from './graph-answers.js';
import type { GraphEntity, GraphRelation, NameDecision, SummedGraph } from './graph-records.js';
import { nameForm, type Simplify } from './names/name-forms.js';
import { SessionReports } from './reports/session-reports.js';
import type { WrittenReport } from './reports/written-report.js';
import type { FoundPassageOfGraph, FoundPath } from './search/found-passages.js';
import { searchLocally } from './search/local-search.js';
import { NameIndex } from './search/name-index.js';
import { PassageNetwork, passagesOf } from './search/passage-network.js';
import { PathNetwork } from './search/path-search.js';
import { searchByRank } from './search/rank-search.js';
import { StaleUses } from './stale-uses.js';
import { GraphSum } from './sum/graph-sum.js';
import { sumGraph } from './sum/sum-graph.js';

/** Which contribution: of a chunk, by a layer, made of a text in a way that `version` tells. */
export interface ContributionKey {
  readonly chunkId: string;
  readonly layer: GraphLayer;
  readonly version: string;
  /** Of the text that it was made of. @default not known */
  readonly textHash?: string | undefined;
}

/** A contribution as it is stored. */
export interface StoredContribution extends ChunkContribution {
  readonly version: string;
  /** The part of the stored graph that it is read with. @default none */
  readonly shard?: number | undefined;
  /** Of the text that it was made of. @default not known */
  readonly textHash?: string | undefined;
}

/** What changes in a session. */
export interface SessionChange {
  /** Contributions that are new or replace others. */
  readonly put?: readonly StoredContribution[] | undefined;
  readonly remove?: readonly Pick<ContributionKey, 'chunkId' | 'layer'>[] | undefined;
  /** All decisions, and all pairs of names that mean the same. */
  readonly decisions?: readonly NameDecision[] | undefined;
  readonly aliases?: readonly (readonly [string, string])[] | undefined;
  /** All reports that a model wrote. */
  readonly reports?: readonly WrittenReport[] | undefined;
  /** All descriptions that a model made of several. */
  readonly descriptions?: readonly WrittenDescription[] | undefined;
}

/** What is derived from the contributions. */
interface Derived {
  readonly graph: SummedGraph;
  names?: NameIndex;
  network?: PassageNetwork;
  paths?: PathNetwork;
  passageCount?: number;
  entityNetwork?: EntityNetwork;
  communities?: Communities;
  reports?: SessionReports | undefined;
  descriptions?: SessionDescriptions | undefined;
  /** Of each chunk that contributes, the hash of its text. */
  chunks?: ReadonlyMap<string, string>;
  entitiesOf?: ReadonlyMap<string, readonly string[]>;
}

/** Entities that tell why a passage is there. */
const MAX_SHOWN_ENTITIES = 8;

/** A graph in memory. Everything but the contributions is made when it is first asked for; after a change the sum anew where it was touched, the rest whole. */
export class GraphSession {
  readonly #contributions = new Map<string, StoredContribution>();
  readonly #simplify: Simplify | undefined;
  readonly #sum: GraphSum;
  readonly #staleUses = new StaleUses();
  #decisions: readonly NameDecision[] = [];
  #aliases: readonly (readonly [string, string])[] = [];
  #reports: readonly WrittenReport[] = [];
  #descriptions: readonly WrittenDescription[] = [];
  #derived: Derived | undefined;

  constructor(simplify?: Simplify) {
    this.#simplify = simplify;
    this.#sum = new GraphSum(simplify);
  }

  /** Contributions that there are. */
  get size(): number {
    return this.#contributions.size;
  }

  change({ put = [], remove = [], decisions, aliases, reports, descriptions }: SessionChange): void {
    for (const key of remove) this.#drop(placeOf(key));
    for (const one of put) {
      this.#drop(placeOf(one));
      this.#contributions.set(placeOf(one), one);
      this.#sum.add(one);
    }
    const isDecidedAlike =
      isSame(this.#decisions, decisions ?? this.#decisions) && isSame(this.#aliases, aliases ?? this.#aliases);
    if (decisions !== undefined) this.#decisions = decisions;
    if (aliases !== undefined) this.#aliases = aliases;
    if (reports !== undefined) this.#reports = reports;
    if (descriptions !== undefined) this.#descriptions = descriptions;
    if (!isDecidedAlike) this.#sum.decide(this.#decisions, this.#aliases);
    if (put.length + remove.length > 0 || !isDecidedAlike) this.#derived = undefined;
    else if (this.#derived !== undefined) {
      // What a model wrote is no part of the sum, which takes long.
      this.#derived.reports = undefined;
      this.#derived.descriptions = undefined;
    }
  }

  /**
   * Of the contributions that there should be those that are missing, after those are removed that should not be.
   *
   * @param within shards that `wanted` is all of; others stay as they are. @default it is all of the graph
   */
  missing(wanted: readonly ContributionKey[], within?: ReadonlySet<number>): ContributionKey[] {
    const keys = new Set(wanted.map(placeOf));
    const gone: StoredContribution[] = [];
    for (const one of this.#contributions.values()) {
      if (within !== undefined && (one.shard === undefined || !within.has(one.shard))) continue;
      if (!keys.has(placeOf(one))) gone.push(one);
    }
    if (gone.length > 0) this.change({ remove: gone });
    return wanted.filter((key) => {
      const own = this.#contributions.get(placeOf(key));
      return own?.version !== key.version || own.textHash !== key.textHash;
    });
  }

  get graph(): SummedGraph {
    return this.#made().graph;
  }

  /** The graph that some layers alone make. */
  graphOf(layers: readonly GraphLayer[]): SummedGraph {
    const options = { layers, decisions: this.#decisions, aliases: this.#aliases, simplify: this.#simplify };
    return sumGraph(this.#contributions.values(), options);
  }

  get names(): NameIndex {
    const made = this.#made();
    made.names ??= new NameIndex(made.graph, {
      ...{ documents: this.#documents(), simplify: this.#simplify },
      formOf: (name) => this.#sum.formOf(name),
    });
    return made.names;
  }

  get entityNetwork(): EntityNetwork {
    const made = this.#made();
    made.entityNetwork ??= networkOf(made.graph);
    return made.entityNetwork;
  }

  get communities(): Communities {
    const made = this.#made();
    made.communities ??= findCommunities(this.entityNetwork);
    return made.communities;
  }

  get reports(): SessionReports {
    const made = this.#made();
    made.reports ??= new SessionReports(this, this.#reports, this.#staleUses);
    return made.reports;
  }

  get descriptions(): SessionDescriptions {
    const made = this.#made();
    made.descriptions ??= new SessionDescriptions(
      made.graph,
      this.#contributions.values(),
      this.#descriptions,
      this.#staleUses,
    );
    return made.descriptions;
  }

  /** Chunks that contribute anything. */
  get chunkCount(): number {
    const chunks = this.#chunks();
    // What a user gave without a chunk is of none.
    return chunks.size - (chunks.has('') ? 1 : 0);
  }

  /** Whether a chunk contributes anything. */
  hasChunk(id: string): boolean {
    return this.#chunks().has(id);
  }

  /** The hash of the text of a chunk; empty where it is not known. */
  textHashOf(id: string): string {
    return this.#chunks().get(id) ?? '';
  }

  get passages(): PassageNetwork {
    const made = this.#made();
    made.network ??= new PassageNetwork(made.graph);
    return made.network;
  }

  relationsOf(id: string): readonly GraphRelation[] {
    return this.#sum.relationsOf(id);
  }

  /** Names of the entities of a chunk, the rarest first. */
  entitiesOf(chunkId: string): readonly string[] {
    const made = this.#made();
    made.entitiesOf ??= entitiesByChunk(made.graph);
    return made.entitiesOf.get(chunkId) ?? [];
  }

  /** Passages around the entities that a question names. */
  local(question: string, limit: number, named = this.names.named(question)): readonly FoundPassageOfGraph[] {
    const relationsOf = (id: string): readonly GraphRelation[] => this.relationsOf(id);
    return searchLocally({ graph: this.graph, passages: this.#passageCount(), relationsOf, question, named, limit });
  }

  /** Passages by a walk from what a question names and what was found by words. */
  rank(question: string, found: readonly RankSeed[], limit: number): readonly FoundPassageOfGraph[] {
    const entitiesOf = (chunkId: string): readonly string[] => this.entitiesOf(chunkId).slice(0, MAX_SHOWN_ENTITIES);
    return searchByRank({ network: this.passages, named: this.names.named(question), found, limit, entitiesOf });
  }

  /** Ways between two entities. */
  paths(from: GraphEntity, to: GraphEntity): readonly FoundPath[] {
    const made = this.#made();
    made.paths ??= new PathNetwork(made.graph, (id) => this.relationsOf(id));
    return made.paths.find(from.id, to.id);
  }

  #drop(place: string): void {
    const known = this.#contributions.get(place);
    if (known === undefined) return;
    this.#contributions.delete(place);
    this.#sum.remove(known);
  }

  #chunks(): ReadonlyMap<string, string> {
    const made = this.#made();
    made.chunks ??= new Map([...this.#contributions.values()].map(({ chunkId, textHash = '' }) => [chunkId, textHash]));
    return made.chunks;
  }

  #made(): Derived {
    this.#derived ??= { graph: this.#sum.graph };
    return this.#derived;
  }

  /** Documents that contribute. */
  #documents(): number {
    const ids = new Set<string>();
    for (const { documentId } of this.#contributions.values()) ids.add(documentId);
    // What a user gave without a chunk is of none.
    ids.delete('');
    return ids.size;
  }

  /** Passages that mention anything. */
  #passageCount(): number {
    const made = this.#made();
    made.passageCount ??= passagesOf(made.graph).size;
    return made.passageCount;
  }
}

/** Of lists as they come from a store, in its order. */
function isSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left === right || (left.length === right.length && JSON.stringify(left) === JSON.stringify(right));
}

function placeOf({ chunkId, layer }: Pick<ContributionKey, 'chunkId' | 'layer'>): string {
  return `${layer} ${chunkId}`;
}

function entitiesByChunk({ entities }: SummedGraph): Map<string, string[]> {
  const byChunk = new Map<string, GraphEntity[]>();
  for (const entity of entities.values()) {
    for (const chunk of entity.chunks.keys()) {
      const own = byChunk.get(chunk);
      if (own === undefined) byChunk.set(chunk, [entity]);
      else own.push(entity);
    }
  }
  return new Map(
    [...byChunk].map(([chunk, own]) => [
      chunk,
      own.sort((a, b) => a.chunks.size - b.chunks.size || (a.id < b.id ? -1 : 1)).map(({ name }) => name),
    ]),
  );
}

/** Version of contributions that rules and titles make: another one makes them again. */
export const RULES_VERSION = '2';

/** Title of a document without the ending of a file. */
export function titleName(title: string): string {
  return nameForm(title).key === '' ? '' : title.replace(/\.\p{L}[\p{L}\p{N}]{0,4}$/u, '').trim();
}
