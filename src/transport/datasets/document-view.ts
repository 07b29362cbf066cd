/** Documents as the API gives them. */
import { z } from 'zod';
import type { DocumentRecord } from '../../records/knowledge.js';
import { anyObject, defineView, formatTime, string, timeFields, whole } from '../shapes.js';

/** What RAGFlow's clients look for in the progress of a document that is searchable. */
const DONE = 'Task done';

const times = timeFields<'createdAt', 'updatedAt'>('createdAt', 'updatedAt');

/** A document. */
export const documentView = defineView<DocumentRecord, [tenant: string]>()({
  id: [string, 'id'],
  dataset_id: [string, 'datasetId'],
  name: [string, 'name'],
  location: [string.describe('The same as `name`.'), 'name'],
  size: [whole.describe('Bytes.'), 'size'],
  type: [string, 'type'],
  suffix: [string, 'suffix'],
  source_type: [string, ({ source }) => source.split(/[:/]/, 1)[0]],
  thumbnail: [string, () => ''],
  chunk_method: [string, 'chunkMethod'],
  parser_config: [anyObject, 'parserConfig'],
  pipeline_id: [string.nullable(), 'pipelineId'],
  chunk_count: [whole, 'chunkCount'],
  token_count: [whole, 'tokenCount'],
  run: [z.enum(['UNSTART', 'RUNNING', 'CANCEL', 'DONE', 'FAIL']), 'run'],
  status: [
    z.enum(['0', '1']).describe('"0": its chunks are not searched.'),
    ({ isEnabled }) => (isEnabled ? '1' : '0'),
  ],
  progress: [z.number().describe('0 to 1; -1 when it failed.'), 'progress'],
  progress_msg: [string, ({ progressMsg, run }) => (run === 'DONE' ? `${progressMsg}\n${DONE}`.trim() : progressMsg)],
  process_begin_at: [string.nullable(), ({ beganAt }) => (beganAt === null ? null : formatTime(beganAt))],
  process_duration: [z.number().describe('Seconds.'), ({ durationMs }) => durationMs / 1_000],
  meta_fields: [anyObject, 'metadata'],
  content_hash: [string.describe('SHA-256 of the bytes; empty without a file.'), 'sha256'],
  duplicate_of: [string.nullable().describe('The document of the same bytes that was there before.'), 'duplicateOf'],
  created_by: [string, (_, tenant) => tenant],
  ...times,
});
