/** Records of knowledge bases with everything that a test does not care about. */
import type { ChunkRecord, DatasetRecord, DocumentRecord } from '../../../src/records/knowledge.js';
import { newId } from './records.js';

export function datasetRecord(change: Partial<DatasetRecord> = {}): DatasetRecord {
  const id = change.id ?? newId();
  return {
    id,
    name: `Dataset ${id}`,
    description: null,
    avatar: null,
    language: 'English',
    embeddingModel: '',
    permission: 'me',
    chunkMethod: 'naive',
    parserConfig: {},
    pipelineId: null,
    similarityThreshold: 0.2,
    vectorSimilarityWeight: 0.3,
    pagerank: 0,
    source: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...change,
  };
}

export function documentRecord(datasetId: string, change: Partial<DocumentRecord> = {}): DocumentRecord {
  const id = change.id ?? newId();
  return {
    id,
    datasetId,
    name: `${id}.txt`,
    type: 'doc',
    suffix: 'txt',
    source: 'local',
    fileId: null,
    mimeType: 'text/plain',
    sha256: '',
    size: 0,
    chunkMethod: 'naive',
    parserConfig: {},
    pipelineId: null,
    isEnabled: true,
    metadata: {},
    duplicateOf: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    run: 'UNSTART',
    progress: 0,
    progressMsg: '',
    beganAt: null,
    durationMs: 0,
    characters: 0,
    chunkCount: 0,
    tokenCount: 0,
    attempt: 0,
    ...change,
  };
}

export function chunkRecord(
  { id: documentId, datasetId }: Pick<DocumentRecord, 'id' | 'datasetId'>,
  index: number,
  change: Partial<ChunkRecord> = {},
): ChunkRecord {
  return {
    id: `${documentId}-${index}`,
    datasetId,
    documentId,
    index,
    text: `Text ${index}`,
    tokens: 2,
    start: index * 10,
    end: index * 10 + 6,
    page: null,
    positions: [],
    headings: [],
    context: '',
    keywords: [],
    questions: [],
    tags: [],
    isAvailable: true,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...change,
  };
}
