import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { Database } from '../database.js';
import { createPostgresChunks } from './chunks.js';
import { createPostgresDatasets } from './datasets.js';
import { createPostgresKnowledgeDocuments } from './documents.js';
import { createPostgresIngestion } from './ingestion.js';
import { createPostgresRemains } from './remains.js';

/** Knowledge bases in Postgres, embedded or on a server, in the tables of migration 8. */
export function createPostgresKnowledge(database: Database): KnowledgeStore {
  return {
    ...createPostgresDatasets(database),
    ...createPostgresKnowledgeDocuments(database),
    ...createPostgresIngestion(database),
    ...createPostgresChunks(database),
    ...createPostgresRemains(database),
  };
}
