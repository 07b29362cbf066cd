/** What searches of the graph of a dataset are asked, and what they give: passages with the reason why each is there. */
import type { TokenUsage } from '../../models/chat-model.js';
import type { ChunkRecord, DocumentRecord } from '../../records/knowledge.js';

/** The ways to search a graph: around entities, over communities, first one then the other, between two entities, by a walk over everything. */
export const GRAPH_SEARCHES = ['local', 'global', 'drift', 'path', 'rank'] as const;

/** One of {@link GRAPH_SEARCHES}. */
export type GraphSearchKind = (typeof GRAPH_SEARCHES)[number];

/** One question to the graphs of datasets. */
export interface GraphQuery {
  readonly kind: GraphSearchKind;
  readonly question: string;
  /** Ids of datasets; at least one. */
  readonly datasetIds: readonly string[];
  /** Passages at most, 1 to 100. @default 8 */
  readonly limit?: number | undefined;
  /** Tokens that the texts of the passages may have together. @default 8,000 */
  readonly maxTokens?: number | undefined;
  /** The two entities of `path`, by name, alias or id. @default those that the question names */
  readonly between?: readonly [string, string] | undefined;
  /** Level of the communities of `global` and `drift`, from 0, the coarsest. @default chosen by `maxTokens` */
  readonly level?: number | undefined;
  /**
   * Tokens and calls of a model that `global` and `drift` may spend. @default none: the search uses no model, unless one is named, which may be called 10
   * times
   */
  readonly budget?: GraphSearchBudget | undefined;
  /** Id of the model. @default the default one */
  readonly model?: string | undefined;
  /** Told what each call of the model took, estimated, as soon as it is over. @default none is told */
  readonly onCall?: ((usage: TokenUsage) => void) | undefined;
}

/** What a search may spend on models; what is absent has no bound. */
export interface GraphSearchBudget {
  readonly calls?: number | undefined;
  readonly tokens?: number | undefined;
}

/** A step of the way that led to a passage. */
export interface GraphStep {
  /** Names of entities. */
  readonly from: string;
  readonly to: string;
  /** Name of the relation, such as `uses`; `mentions` between a passage and an entity, `links` between passages. */
  readonly relation: string;
  /** Whether a text says so, as opposed to names that stand in one paragraph. */
  readonly isExplicit: boolean;
}

/** Why a passage was found. */
export interface GraphReason {
  /** Names of the entities of the question that it is about, or that lead to it. */
  readonly entities: readonly string[];
  /** The way from the question to the passage; empty where an entity of the question stands in it. */
  readonly steps: readonly GraphStep[];
  /** Title of the community whose report named it. @default none */
  readonly community?: string | undefined;
  /** The question that led to it, where `drift` asked one of its own. @default none */
  readonly question?: string | undefined;
}

/** A passage that the graph led to; it is cited as any passage of a dataset is. */
export interface GraphHit {
  readonly chunk: ChunkRecord;
  readonly document: DocumentRecord;
  /** 0 to 1; never larger than that of the hit before it. */
  readonly score: number;
  readonly why: GraphReason;
}

/** An entity that the question names. */
export interface NamedEntity {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly datasetId: string;
}

/** What the map of `global` made of the reports. */
export interface GraphPoint {
  readonly text: string;
  /** 0 to 100. */
  readonly rating: number;
  /** Titles of the reports that it comes from. */
  readonly reports: readonly string[];
}

/** What a search gave. */
export interface GraphFindings {
  readonly kind: GraphSearchKind;
  /** The best first. */
  readonly hits: readonly GraphHit[];
  /** Entities that the question names; empty where it names none that the graph has. */
  readonly entities: readonly NamedEntity[];
  /** Of `path` the ways, the best first; else none. */
  readonly paths: readonly (readonly GraphStep[])[];
  /** Of `global` and `drift` what the reports say, the best first; else none. */
  readonly points: readonly GraphPoint[];
  /** How much of what there is was read: reports, or passages. */
  readonly read: { readonly done: number; readonly of: number };
  /** Whether descriptions or reports were used that lost or gained a source since they were written. */
  readonly isStale: boolean;
  /** Of `drift` the questions that a model asked on the way; else none. */
  readonly questions: readonly string[];
  /** Whether a model failed at a part of the work, which rules did then, or which is missing. */
  readonly isDegraded: boolean;
  readonly spent: { readonly calls: number; readonly tokens: number };
}

/** Searches the graphs of datasets. The tenant is a parameter of every call; what another tenant owns does not exist. */
export interface KnowledgeGraphSearch {
  /**
   * What the graphs of datasets know of a question.
   *
   * @throws EngineError NOT_FOUND for a dataset that does not exist; MODEL_UNKNOWN for a model that does not exist; GRAPH_MISSING where none of the datasets has a graph; BAD_REQUEST for a
   * `path` whose ends cannot be told.
   */
  search(tenant: string, query: GraphQuery, signal: AbortSignal): Promise<GraphFindings>;
}
