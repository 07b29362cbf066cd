/** The datasets and documents that paths name, and the refusals of what is not there or not the caller's. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import type { GraphBuilds } from '../../knowledge/graph/build/graph-builds.js';
import type { DatasetRecord, DocumentRecord } from '../../records/knowledge.js';
import type { PathRequest } from '../http/route.js';
import { parameters } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';

/** A dataset of the caller, and the knowledge base that it is in. */
export interface FoundDataset {
  readonly base: KnowledgeBase;
  readonly dataset: DatasetRecord;
}

/** A document of such a dataset. */
export interface FoundDocument extends FoundDataset {
  readonly document: DocumentRecord;
}

/** @throws EngineError CONFIG_INVALID on a server without a knowledge base. */
export function knowledgeOf({ openKnowledge }: Pick<ServerParts, 'openKnowledge'>): Promise<KnowledgeBase> {
  if (openKnowledge !== undefined) return openKnowledge();
  throw new EngineError(
    'CONFIG_INVALID',
    'This server has no knowledge base; `openKnowledge` of its options gives one.',
  );
}

/** @throws EngineError CONFIG_INVALID on a server that builds no graphs. */
export function buildsOf({ openGraphBuilds }: Pick<ServerParts, 'openGraphBuilds'>): Promise<GraphBuilds> {
  if (openGraphBuilds !== undefined) return openGraphBuilds();
  throw new EngineError(
    'CONFIG_INVALID',
    'This server builds no graphs of datasets; `openGraphBuilds` of its options does.',
  );
}

/** Finds the dataset of a path. `refusal` is what RAGFlow says where there is none, or it is another tenant's. */
export function ownDataset(refusal: (id: string, tenant: string) => string) {
  return async ({ tenant, params }: PathRequest<'dataset'>, parts: ServerParts): Promise<FoundDataset> => {
    const base = await knowledgeOf(parts);
    const found = await base.datasets.find(tenant, params.dataset);
    if (found === undefined) throw missing(refusal(params.dataset, tenant));
    return { base, dataset: found.dataset };
  };
}

/** Finds the document of a path, in its dataset. */
export function ownDocument(
  noDataset: (id: string, tenant: string) => string,
  noDocument: (id: string, datasetId: string) => string,
) {
  const find = ownDataset(noDataset);
  return async (request: PathRequest<'dataset' | 'document'>, parts: ServerParts): Promise<FoundDocument> => {
    const found = await find(request, parts);
    const { dataset, document: id } = request.params;
    const document = await found.base.documents.find(request.tenant, dataset, id);
    if (document === undefined) throw missing(noDocument(id, dataset));
    return { ...found, document };
  };
}

/** Datasets of one request at most. */
export const MAX_DATASETS = 100;

/** The query of routes over several datasets. */
export const datasetsQuery = z.looseObject({ dataset_ids: parameters });

/**
 * The ids of a query, once each, all of datasets of the caller.
 *
 * @throws EngineError CONFLICT without an id, BAD_REQUEST for more than 100, and as {@link requireDatasets}
 */
export async function ownDatasets(
  base: KnowledgeBase,
  tenant: string,
  { dataset_ids: ids }: z.output<typeof datasetsQuery>,
  refusal: (id: string, tenant: string) => string,
): Promise<readonly string[]> {
  if (ids.length === 0) throw refused('Lack of dataset_ids in query parameters');
  if (ids.length > MAX_DATASETS) throw badArgument(`dataset_ids must contain at most ${MAX_DATASETS} IDs`);
  const once = [...new Set(ids)];
  await requireDatasets(base, tenant, once, refusal);
  return once;
}

/** @throws EngineError NOT_FOUND, with the refusal of the first id of which the caller has no dataset */
export async function requireDatasets(
  { datasets }: KnowledgeBase,
  tenant: string,
  ids: readonly string[],
  refusal: (id: string, tenant: string) => string,
): Promise<void> {
  for (const id of ids) if ((await datasets.find(tenant, id)) === undefined) throw missing(refusal(id, tenant));
}

export const lacksPermission = (id: string, tenant: string): string =>
  `User '${tenant}' lacks permission for dataset '${id}'`;

export const notYourDataset = (id: string): string => `You don't own the dataset ${id}.`;

export const notYourDocument = (id: string): string => `you don't own the document ${id}`;

/** What is not there, or not the caller's: the answer is the same. */
export function missing(message: string): EngineError {
  return new EngineError('NOT_FOUND', message);
}

/** A request that what is stored does not allow. */
export function refused(message: string): EngineError {
  return new EngineError('CONFLICT', message);
}
