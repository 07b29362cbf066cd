/** What a graph is the sum of: what each chunk says, by each layer. */

/** The types of entities that there are without the user's own. */
export const ENTITY_TYPES = [
  'technology',
  'concept',
  'stage',
  'shortcut',
  'storage',
  'framework',
  'model',
  'layer',
  'priority',
  'tool',
  'metric',
] as const;

/** Where what is known comes from: titles as names, rules, a model, or a graph that a user gave. */
export const GRAPH_LAYERS = ['links', 'rules', 'model', 'given'] as const;

/** One of {@link GRAPH_LAYERS}. */
export type GraphLayer = (typeof GRAPH_LAYERS)[number];

/** A name where it stands in a chunk. */
export interface Mention {
  readonly name: string;
  /** One of {@link ENTITY_TYPES}, or one of the user's; `concept` where nothing is known. */
  readonly type: string;
  /** In the text of the chunk, in UTF-16 units; both 0 for the title of its document, which is not in the text. */
  readonly start: number;
  readonly end: number;
  /** What the text says of it. @default nothing */
  readonly description?: string;
  /** Other names that the text gives it. @default none */
  readonly aliases?: readonly string[];
  /** Whether it is the title of the document. @default false */
  readonly isTitle?: boolean;
  /** Of the layer `given`: how often the chunk mentions it at least; 0 for a name that only a relation of the chunk needs. @default 1 */
  readonly count?: number;
}

/** Two names that a chunk says something of. */
export interface Relation {
  readonly source: string;
  readonly target: string;
  /** Such as `uses`; `co_occurs` for names of one paragraph. */
  readonly relation: string;
  readonly description: string;
  readonly weight: number;
  /** Whether the text says so, as opposed to names that stand in one paragraph. */
  readonly isExplicit: boolean;
}

/** What one chunk says, by one layer. */
export interface Contribution {
  readonly mentions: readonly Mention[];
  readonly relations: readonly Relation[];
}

/** A contribution with where it comes from. */
export interface ChunkContribution extends Contribution {
  /** Empty for what a user gave without a chunk, and so is the id of the document then. */
  readonly chunkId: string;
  readonly documentId: string;
  readonly layer: GraphLayer;
}

/** Relation of names that stand in one paragraph. */
export const CO_OCCURS = 'co_occurs';
/** Relation of the title of a document and the names in its text, which says that they have to do with each other, not how. */
export const LINKS_TO = 'links_to';
/** What names of one paragraph weigh. */
export const CO_OCCURRENCE_WEIGHT = 0.5;
/** Names of one paragraph that are joined. */
export const MAX_NAMES_A_PARAGRAPH = 30;
/** Longest name, in UTF-16 units; longer ones are no names. */
export const MAX_NAME = 120;
