/**
 * `runnel/knowledge`: datasets whose documents are parsed, cut into passages and found. For programs that keep knowledge bases of their own; the server and
 * the command line use the same. Stores are those of `runnel/server`.
 */

export type { PageRange } from '../documents/reading/paged-text.js';
export { type BackgroundOptions, embedInBackground } from '../ingestion/embed-in-background.js';
export { type IngestionOptions, runIngestions } from '../ingestion/run-ingestions.js';
export type {
  FindChat,
  FindPipeline,
  IngestionServices,
  IngestionWork,
  IngestionWorkOptions,
  Pipeline,
  StepPlace,
} from '../ingestion/work.js';
export type { Cut, TitleCut, TokenCut } from '../knowledge/base/chunking/cut.js';
export type { Beside, ChunkContent, ChunkEdit, Chunks } from '../knowledge/base/chunks.js';
export type { Datasets, NewDataset, RunCounts } from '../knowledge/base/datasets.js';
export type {
  AddedDocument,
  AddOptions,
  DocumentSettings,
  Documents,
  NewDocument,
  ReceivedBytes,
} from '../knowledge/base/documents.js';
export type { FoundPart } from '../knowledge/base/give-parents.js';
export {
  createIngestionHub,
  type IngestionHub,
  type IngestionProgress,
  type StoppedDocuments,
} from '../knowledge/base/ingestion-hub.js';
export {
  createKnowledgeBase,
  type KnowledgeBase,
  type KnowledgeBaseOptions,
} from '../knowledge/base/knowledge-base.js';
export type { LaidOutText, LayoutQuestion, RecogniseLayout } from '../knowledge/base/layout/layout.js';
export type { Metadata, MetadataChange, MetadataQuery, MetadataSummary } from '../knowledge/base/metadata.js';
export type { LocalModel } from '../knowledge/base/minilm/local-model.js';
export type { MiniLmPackages } from '../knowledge/base/minilm/minilm-packages.js';
export { type MiniLm, type MiniLmOptions, openMiniLm } from '../knowledge/base/minilm/open-minilm.js';
export type { BaseParts, FindEmbedder, FindReranker, TranslateQuestion } from '../knowledge/base/parts.js';
export type {
  BaseDraft,
  ChunkerConfig,
  DocumentChunker,
  DocumentText,
  EnrichChunks,
  Enrichment,
  PassageHit,
  PassageIndex,
  PassageIndexes,
  PassageModel,
  PassageQuery,
} from '../knowledge/base/ports.js';
export type { KnowledgeHit, KnowledgeHits, KnowledgeQuery } from '../knowledge/base/retrieval.js';
export { createKnowledgeSearch, type SearchedBase } from '../knowledge/base/search-datasets.js';
export { createSearchIndexes, type SearchIndexesOptions } from '../knowledge/base/search-indexes.js';
export { type FolderToSync, type SyncedFile, type SyncedFolder, syncFolder } from '../knowledge/base/sync-folder.js';
export type { Tags } from '../knowledge/base/tags.js';
export type { DocumentTexts } from '../knowledge/base/texts.js';
export { type ByHeadingsOptions, byHeadings } from '../knowledge/chunkers/by-headings.js';
export { byPages } from '../knowledge/chunkers/by-pages.js';
export { byQuestions } from '../knowledge/chunkers/by-questions.js';
export { type ByTableRowsOptions, byTableRows } from '../knowledge/chunkers/by-table-rows.js';
export { type ByTokensOptions, byTokens } from '../knowledge/chunkers/by-tokens.js';
export type {
  ChunkDraft,
  Chunker,
  ChunkerOptions,
  ParsedDocument,
  Range,
  TableRange,
} from '../knowledge/chunkers/chunker.js';
export { type CountTokens, loadTokenCounter } from '../knowledge/chunkers/count-tokens.js';
export { compileHeadings, type HeadingFamily, type IsHeading } from '../knowledge/chunkers/heading-levels.js';
export { whole } from '../knowledge/chunkers/whole.js';
export { withChildren } from '../knowledge/chunkers/with-children.js';
export type {
  BuildLayer,
  BuildPart,
  BuildProgress,
  BuildRequest,
  BuildSpent,
} from '../knowledge/graph/build/build-options.js';
export type { BuildCost, BuildCostRequest, BuildReport, GraphBuilds } from '../knowledge/graph/build/graph-builds.js';
export type { FindGraphModel, GraphModel, GraphModelQuestion } from '../knowledge/graph/calls/graph-model.js';
export type { GraphLayer } from '../knowledge/graph/facts.js';
export type { GraphForm } from '../knowledge/graph/given/graph-forms.js';
export type {
  CommunityReport,
  DescribedMaterial,
  FoundInGraph,
  GraphAnswers,
  GraphAsk,
  GraphPart,
  RankSeed,
  RatedReport,
  ReportFinding,
  ReportMaterial,
  SaidOfName,
  ShowQuery,
  ToldEntity,
} from '../knowledge/graph/graph-answers.js';
export type { NameDecision, NamePair } from '../knowledge/graph/graph-records.js';
export type {
  GraphFindings,
  GraphHit,
  GraphPoint,
  GraphQuery,
  GraphReason,
  GraphSearchBudget,
  GraphSearchKind,
  GraphStep,
  KnowledgeGraphSearch,
  NamedEntity,
} from '../knowledge/graph/graph-search.js';
export type { DatasetRules, EntityAlias, GivenGraph, KnowledgeGraphs } from '../knowledge/graph/knowledge-graphs.js';
export type { OwnPattern } from '../knowledge/graph/rules/own-patterns.js';
export type { OwnRules } from '../knowledge/graph/rules/own-rules.js';
export type { TechnicalTerm } from '../knowledge/graph/rules/technical-terms.js';
export type { FoundPassageOfGraph, FoundPath } from '../knowledge/graph/search/found-passages.js';
export type { DatasetsQuery, FoundByGraphs, GraphsQuery, KnowledgeSearch } from '../knowledge/knowledge-search.js';
export {
  definePostProcessor,
  type FoundPassage,
  type PostProcess,
  type PostProcessor,
  type ProcessorReport,
} from '../knowledge/search/after/post-processor.js';
export {
  type DefaultProcessorsOptions,
  defaultProcessors,
  processHits,
} from '../knowledge/search/after/process-hits.js';
export type { LoadNeighbours, WindowOptions } from '../knowledge/search/after/window.js';
export type { Bm25Options } from '../knowledge/search/bm25.js';
export { ByteCache } from '../knowledge/search/byte-cache.js';
export type { DenseVectorsOptions } from '../knowledge/search/dense-vectors.js';
export type { TermTable } from '../knowledge/search/expand-terms.js';
export type { Rm3Options } from '../knowledge/search/features.js';
export type { FeatureName, FeatureWeights, FusionKind } from '../knowledge/search/fusion.js';
export { createRowCache, type RowCache } from '../knowledge/search/index-view.js';
export { createMemoryIndexStorage } from '../knowledge/search/memory-index-storage.js';
export type { MergedBlocks, TermPortion, TermSource } from '../knowledge/search/merge-terms.js';
export type { MetadataCondition, MetadataFilter, MetadataOperator } from '../knowledge/search/metadata-filter.js';
export type { HitParts, Passage, PassageHead, SearchHit } from '../knowledge/search/passage.js';
export {
  openSearchIndex,
  type SearchIndex,
  type SearchIndexOptions,
  type SearchQuery,
} from '../knowledge/search/search-index.js';
export { type LinkSettings, readSearchSettings, type SearchSettings } from '../knowledge/search/search-settings.js';
export type { SegmentRows, SegmentThreads } from '../knowledge/search/segment-rows.js';
export type { Language } from '../knowledge/words/language.js';
export type { TextWords, Words } from '../knowledge/words/words.js';
export { LoopSlices, type LoopSlicesOptions } from '../operators/loop-slices.js';
export { LoopTurns, type LoopTurnsOptions } from '../operators/loop-turns.js';
export type {
  BuildState,
  ClaimedBuild,
  ContributionHead,
  ContributionPlace,
  ContributionRecord,
  GraphBuildRecord,
  GraphNote,
  GraphStore,
  MissingChunks,
  ShardPlace,
} from '../records/graph-store.js';
export type {
  IndexChange,
  IndexRow,
  IndexScope,
  IndexState,
  IndexStorage,
  NearestVectors,
  SegmentEntry,
} from '../records/index-storage.js';
export type {
  ChunkChange,
  ChunkMethod,
  ChunkRecord,
  ChunkVector,
  CountedDataset,
  DatasetChange,
  DatasetCounts,
  DatasetRecord,
  DocumentChange,
  DocumentProgress,
  DocumentRecord,
  DocumentRun,
  IngestionStep,
} from '../records/knowledge.js';
export type {
  ChunkPlace,
  ChunkQuery,
  ChunkStore,
  Claim,
  DatasetQuery,
  DatasetStore,
  DocumentQuery,
  DocumentStore,
  IngestionStore,
  KnowledgeStore,
  Remains,
  RemainsStore,
  VectorGap,
  VectorStore,
  WaitingDataset,
} from '../records/knowledge-store.js';
export { createMemoryKnowledge, type MemoryKnowledgeOptions } from '../stores/memory-knowledge.js';
