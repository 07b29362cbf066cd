/** Questions to one graph in memory and their answers, as plain values: they may come from another thread, and stand in public signatures. */
import type { GraphLayer } from './facts.js';
import type { GraphForm } from './given/graph-forms.js';
import type { NamePair } from './graph-records.js';
import type { GraphPoint } from './graph-search.js';
import type { FoundPassageOfGraph, FoundPath } from './search/found-passages.js';

/** A finding of a report, with the chunks that show it. */
export interface ReportFinding {
  readonly summary: string;
  readonly chunks: readonly string[];
}

/** A report on a community. */
export interface CommunityReport {
  readonly community: string;
  readonly level: number;
  readonly size: number;
  readonly title: string;
  readonly summary: string;
  /** 0 to 10: how much of the graph hangs on it. */
  readonly rating: number;
  readonly findings: readonly ReportFinding[];
  /** Changes with the members of the community, what is said of them, and the passages that say it. */
  readonly fingerprint: string;
  /** Whether something of the community has changed since a model wrote the report. @default false */
  readonly isStale?: boolean;
  /** Who wrote it. */
  readonly by: 'rules' | 'model';
}

/** A report with how much its words have to do with a question, 0 to 100. */
export interface RatedReport extends CommunityReport {
  readonly relevance: number;
}

/** What a model is to read of a community whose report is missing or stale. */
export interface ReportMaterial {
  readonly community: string;
  readonly level: number;
  readonly fingerprint: string;
  readonly entities: readonly { readonly name: string; readonly type: string; readonly description: string }[];
  readonly relations: readonly {
    readonly source: string;
    readonly target: string;
    readonly relation: string;
    readonly description: string;
  }[];
  /** Ids of the passages that show it, those of the strongest relations first. */
  readonly chunks: readonly string[];
}

/** Which part. */
export interface ShowQuery {
  /** Id, name or alias of the entity in the middle. @default the most mentioned ones */
  readonly around?: string | undefined;
  /** Steps from it. @default 1 */
  readonly depth?: number | undefined;
  /** Types of entities. @default all */
  readonly types?: readonly string[] | undefined;
  /** Id of a community. @default all */
  readonly community?: string | undefined;
  /** Nodes at most. */
  readonly limit: number;
}

/** A part of a graph. */
export interface GraphPart {
  readonly nodes: readonly {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly mentions: number;
    readonly documents: number;
    readonly community: string | null;
    /** Whether a user gave it. */
    readonly isGiven: boolean;
    readonly x: number;
    readonly y: number;
  }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly relation: string;
    readonly weight: number;
    readonly isExplicit: boolean;
    readonly isGiven: boolean;
  }[];
  readonly communities: readonly { readonly id: string; readonly level: number; readonly size: number }[];
  /** Entities that fit, of which `limit` are given. */
  readonly total: number;
}

/** A passage that a search by words found, with its score, 0 to 1. */
export interface RankSeed {
  readonly chunkId: string;
  readonly score: number;
}

/** An entity as it is told. */
export interface ToldEntity {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly aliases: readonly string[];
  /** Of a model, where it made one of several; else a sentence of a text. */
  readonly description: string;
  /** Whether what the description of a model was made of has changed since. @default false */
  readonly isStale?: boolean;
  readonly mentions: number;
  readonly documents: readonly string[];
}

/** What a model is to read of an entity whose description is missing or stale. */
export interface DescribedMaterial {
  /** Its id. */
  readonly entity: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly descriptions: readonly string[];
  /** Of these descriptions: chunk and hash of its text. */
  readonly sources: readonly string[];
}

/** What a graph says of a name. */
export interface SaidOfName {
  readonly name: string;
  readonly type: string;
  readonly descriptions: readonly string[];
  /** Whether a user gave what it names. */
  readonly isGiven: boolean;
}

/** What passages were found, and around what. */
export interface FoundInGraph {
  readonly entities: readonly ToldEntity[];
  readonly passages: readonly FoundPassageOfGraph[];
}

/** One question. */
export type GraphAsk =
  | { readonly kind: 'counts' }
  /** How large the graph is, without its communities. */
  | { readonly kind: 'sizes' }
  | { readonly kind: 'local'; readonly question: string; readonly limit: number }
  | { readonly kind: 'rank'; readonly question: string; readonly found: readonly RankSeed[]; readonly limit: number }
  | { readonly kind: 'path'; readonly question: string; readonly between?: readonly [string, string] | undefined }
  | { readonly kind: 'global'; readonly question: string; readonly level?: number | undefined; readonly limit: number }
  /** Reports that a model is to read about a question: of a level, else of the finest one whose reports are within `maxTokens`. */
  | {
      readonly kind: 'rated';
      readonly question: string;
      readonly level?: number | undefined;
      readonly maxTokens: number;
    }
  | { readonly kind: 'reports'; readonly level?: number | undefined; readonly limit: number }
  /** Communities on which a model is to write a report, the largest first. */
  | { readonly kind: 'material'; readonly limit: number }
  | ({ readonly kind: 'show' } & ShowQuery)
  /** @default `layers`: all */
  | { readonly kind: 'export'; readonly form: GraphForm; readonly layers?: readonly GraphLayer[] | undefined }
  | { readonly kind: 'find'; readonly name: string }
  | { readonly kind: 'merges'; readonly limit: number }
  /** Entities of which a model is to make one description of several, the most mentioned first. */
  | { readonly kind: 'undescribed'; readonly limit: number }
  /** What is said of names. */
  | { readonly kind: 'said'; readonly names: readonly string[] };

/** The answer to each kind. */
export interface GraphAnswers {
  readonly counts: { readonly entities: number; readonly relations: number; readonly communities: number };
  readonly sizes: {
    readonly entities: number;
    readonly relations: number;
    /** Those that contribute to it. */
    readonly chunks: number;
    /** Reports of a model in which something has changed since they were written. */
    readonly staleReports: number;
  };
  readonly local: FoundInGraph;
  readonly rank: FoundInGraph;
  readonly path: { readonly entities: readonly ToldEntity[]; readonly paths: readonly FoundPath[] };
  readonly global: FoundInGraph & {
    readonly points: readonly GraphPoint[];
    readonly read: number;
    readonly of: number;
    readonly isStale: boolean;
  };
  readonly rated: {
    readonly entities: readonly ToldEntity[];
    /** Those that have most to do with the question first. */
    readonly reports: readonly RatedReport[];
    readonly of: number;
  };
  readonly reports: { readonly reports: readonly CommunityReport[]; readonly of: number };
  readonly material: {
    readonly material: readonly ReportMaterial[];
    readonly of: number;
    /** Keys of written reports that no community has any more. */
    readonly lost: readonly string[];
  };
  readonly show: GraphPart;
  readonly export: { readonly text: string; readonly nodes: number; readonly edges: number };
  readonly find: { readonly entities: readonly ToldEntity[] };
  readonly merges: {
    readonly merges: readonly NamePair[];
    readonly maybe: readonly NamePair[];
  };
  readonly undescribed: {
    readonly material: readonly DescribedMaterial[];
    readonly of: number;
    /** Keys of written descriptions of which no entity has use any more. */
    readonly lost: readonly string[];
  };
  /** In the order of the names; null for one that nothing mentions. */
  readonly said: { readonly said: readonly (SaidOfName | null)[] };
}
