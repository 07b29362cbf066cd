/** What a knowledge base does with the graphs of its datasets. */
import type { GraphForm } from './given/graph-forms.js';
import type { GraphAnswers, GraphAsk } from './graph-answers.js';
import type { NameDecision } from './graph-records.js';
import type { KnowledgeGraphSearch } from './graph-search.js';
import type { OwnRules } from './rules/own-rules.js';

/** How much of a graph was taken. */
export interface GivenGraph {
  readonly nodes: number;
  readonly edges: number;
  /** Chunks that it names, each once. */
  readonly chunks: number;
}

/** Another name of an entity that a user added. */
export interface EntityAlias {
  readonly id: string;
  /** Name that the entity had then. */
  readonly entity: string;
  readonly alias: string;
}

/** What users added to the rules of a dataset. */
export interface DatasetRules extends OwnRules {
  /** Whether chunks are there that the rules as they are now have not read; the next build reads them. */
  readonly isToBuild: boolean;
}

/** Graphs of datasets. Errors of all: those of the store; LIMIT_REACHED for a graph that needs too much memory. */
export interface KnowledgeGraphs extends KnowledgeGraphSearch {
  /** Answers a question about one graph. @throws EngineError GRAPH_MISSING */
  ask<A extends GraphAsk>(tenant: string, datasetId: string, ask: A): Promise<GraphAnswers[A['kind']]>;
  /** Whether a dataset has a graph. */
  has(tenant: string, datasetId: string): Promise<boolean>;
  /**
   * Puts a graph of a user in place of the one that was given before; an empty one takes it away. Its parts are contributions of the chunks that they name, and
   * go with these; others belong to no document.
   *
   * @throws EngineError BAD_REQUEST with the place of each problem, 20 at most; GRAPH_BUSY while the graph is built
   */
  give(tenant: string, datasetId: string, form: GraphForm, text: string): Promise<GivenGraph>;
  /** Takes two names for one, or keeps them apart, from now on. @throws EngineError BAD_REQUEST for what are no two names */
  decide(
    tenant: string,
    datasetId: string,
    kind: NameDecision['kind'],
    names: readonly string[],
  ): Promise<NameDecision>;
  /** Undoes a decision; whether there was one. */
  undo(tenant: string, datasetId: string, id: string): Promise<boolean>;
  decisions(tenant: string, datasetId: string): Promise<readonly NameDecision[]>;
  /**
   * Adds another name of an entity, by which questions and texts find it from now on.
   *
   * @param entity id, name or alias
   * @throws EngineError GRAPH_MISSING; NOT_FOUND for an unknown entity; CONFLICT for a name of another entity, for one of the same, and for a cycle; BAD_REQUEST for what
   * is no name; LIMIT_REACHED for more than 5,000
   */
  addAlias(tenant: string, datasetId: string, entity: string, alias: string): Promise<EntityAlias>;
  /** Takes an alias away; whether there was one. */
  removeAlias(tenant: string, datasetId: string, id: string): Promise<boolean>;
  /** All that were added. */
  aliases(tenant: string, datasetId: string): Promise<readonly EntityAlias[]>;
  /** Terms and patterns that the rules of a dataset have beside those of the package. @throws EngineError NOT_FOUND */
  rules(tenant: string, datasetId: string): Promise<DatasetRules>;
  /**
   * Replaces them. They stay when the graph is deleted; the layers that are made by rules are to be built again.
   *
   * @throws EngineError BAD_REQUEST with the place of each problem, 20 at most; NOT_FOUND
   */
  setRules(
    tenant: string,
    datasetId: string,
    given: { readonly [K in keyof OwnRules]?: readonly object[] | undefined },
  ): Promise<DatasetRules>;
  /** Deletes the graph of a dataset; whether there was one. @throws EngineError GRAPH_BUSY while it is built */
  clear(tenant: string, datasetId: string): Promise<boolean>;
  close(): Promise<void>;
}
