import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { Database } from '../database.js';
import { createPostgresChunks } from './chunks.js';
import { createPostgresDatasets } from './datasets.js';
import { createPostgresKnowledgeDocuments } from './documents.js';
import { createPostgresGraphs } from './graphs.js';
import { createPostgresIngestion } from './ingestion.js';
import { createPostgresRemains } from './remains.js';

/** Knowledge bases in Postgres, embedded or on a server, in the tables of migrations 8 and 16. */
export function createPostgresKnowledge(database: Database): KnowledgeStore {
  return {
    ...createPostgresDatasets(database),
    ...createPostgresKnowledgeDocuments(database),
    ...createPostgresIngestion(database),
    ...createPostgresChunks(database),
    ...createPostgresRemains(database),
    ...createPostgresGraphs(database),
  };
}
