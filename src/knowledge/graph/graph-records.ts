/** What a graph is made of once it is summed. */
import type { Mention } from './facts.js';

/** Something that texts mention. */
export interface GraphEntity {
  /** The key of its name; the same for the same contributions. */
  readonly id: string;
  /** The name that is used most. */
  readonly name: string;
  /** Other names that were taken for it, sorted. */
  readonly aliases: readonly string[];
  readonly type: string;
  /** Of several sentences, the first by their letters. */
  readonly descriptions: readonly string[];
  readonly mentionCount: number;
  /** Ids of documents, sorted. */
  readonly documents: readonly string[];
  /** Ids of chunks, sorted, with how often each mentions it. */
  readonly chunks: ReadonlyMap<string, number>;
  /** Chunks of documents whose title it is, sorted. */
  readonly titleOf: readonly string[];
  /** Whether a user gave it. */
  readonly isGiven: boolean;
}

/** What texts say of two entities. */
export interface GraphRelation {
  /** Ids of entities; of relations that are not explicit the smaller one is the source. */
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly descriptions: readonly string[];
  /** The sum over the chunks. */
  readonly weight: number;
  readonly isExplicit: boolean;
  /** Ids of chunks, sorted. */
  readonly chunks: readonly string[];
  /** Whether a user gave it. */
  readonly isGiven: boolean;
}

/** Two names that were taken for one, or are perhaps one. */
export interface NamePair {
  readonly names: readonly [string, string];
  /** 0 to 1. */
  readonly score: number;
  /** What says so: `abbreviation`, `typing`, `alias`, `user`, `model` … */
  readonly by: string;
}

/** A graph: the sum of what chunks say. */
export interface SummedGraph {
  /** By id, sorted. */
  readonly entities: ReadonlyMap<string, GraphEntity>;
  /** Sorted by source, target and relation. */
  readonly relations: readonly GraphRelation[];
  /** Merges of names that are spelled differently, each of which can be undone. */
  readonly merges: readonly NamePair[];
  /** Names that are perhaps the same and were kept apart. */
  readonly maybe: readonly NamePair[];
  /** The entity of each spelling of a name. */
  readonly idOf: ReadonlyMap<string, string>;
}

/** A decision about two names: of a user, or of a model that was asked. The newest of a pair counts; those of users before those of models. */
export interface NameDecision {
  readonly id: string;
  readonly kind: 'same' | 'apart';
  /** Sorted. */
  readonly names: readonly [string, string];
  readonly by: 'user' | 'model';
}

/** A mention with its chunk. */
export interface PlacedMention extends Mention {
  readonly chunkId: string;
  readonly documentId: string;
}
