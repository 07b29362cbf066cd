/** The routes of datasets, their documents and chunks. */
import type { RouteGroup } from '../http/route.js';
import { chunkRoutes } from './chunks.js';
import { datasetRoutes } from './datasets.js';
import { documentMetadataRoutes } from './document-metadata.js';
import { documentRoutes } from './documents.js';
import { embeddingCheckRoutes } from './embedding-check.js';
import { evaluationRoutes } from './evaluate.js';
import { graphRoutes } from './graph.js';
import { graphAliasRoutes } from './graph-aliases.js';
import { graphIndexRoutes } from './graph-index.js';
import { graphReportRoutes } from './graph-reports.js';
import { graphRuleRoutes } from './graph-rules.js';
import { ingestionEventRoutes } from './ingestion-events.js';
import { ingestionLogRoutes } from './ingestion-logs.js';
import { ownGraphRoutes } from './own-graphs.js';
import { parsingRoutes } from './parsing.js';
import { retrievalRoutes } from './retrieval.js';
import { tagRoutes } from './tags.js';
import { termRoutes } from './terms.js';
import { uploadRoutes } from './upload-documents.js';

export const datasetGroups: readonly RouteGroup[] = [
  datasetRoutes,
  embeddingCheckRoutes,
  graphRoutes,
  ownGraphRoutes,
  graphAliasRoutes,
  graphReportRoutes,
  graphRuleRoutes,
  graphIndexRoutes,
  documentRoutes,
  uploadRoutes,
  documentMetadataRoutes,
  parsingRoutes,
  ingestionEventRoutes,
  ingestionLogRoutes,
  chunkRoutes,
  retrievalRoutes,
  evaluationRoutes,
  tagRoutes,
  termRoutes,
];
