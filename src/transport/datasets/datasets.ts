/** Datasets: list, create, read, change, delete. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { RunCounts } from '../../knowledge/base/datasets.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import { type CountedDataset, type DatasetChange, RUN_STATES } from '../../records/knowledge.js';
import { success } from '../envelope.js';
import { given } from '../http/input.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { flagParameter, idDigits, MAX_PAGE_SIZE, parameter, parameters, wholeParameter } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, defineView, none, string, timeFields, whole } from '../shapes.js';
import { datasetChangeBody, deletionBody, methodOf, newDatasetBody, requireEmbeddingModel } from './dataset-input.js';
import { knowledgeOf, lacksPermission, missing, ownDataset, refused } from './find.js';
import { filledConfig, mergedConfig } from './parser-config.js';

/** Datasets with one name that are told apart by a number. */
const MAX_NAMES = 1_000;

/** Datasets that are looked at in one go when all are deleted. */
const BATCH = 100;

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt' } as const;

const times = timeFields<'createdAt', 'updatedAt'>('createdAt', 'updatedAt');

const datasetView = defineView<CountedDataset, [tenant: string]>()({
  id: [string, ({ dataset }) => dataset.id],
  name: [string, ({ dataset }) => dataset.name],
  avatar: [string.nullable(), ({ dataset }) => dataset.avatar],
  description: [string.nullable(), ({ dataset }) => dataset.description],
  language: [string, ({ dataset }) => dataset.language],
  embedding_model: [
    string.describe('Empty: passages are found without a model.'),
    ({ dataset }) => dataset.embeddingModel,
  ],
  permission: [z.enum(['me', 'team']), ({ dataset }) => dataset.permission],
  chunk_method: [string, ({ dataset }) => dataset.chunkMethod],
  parser_config: [anyObject, ({ dataset }) => dataset.parserConfig],
  pipeline_id: [string.nullable(), ({ dataset }) => dataset.pipelineId],
  document_count: [whole, ({ counts }) => counts.documents],
  chunk_count: [whole, ({ counts }) => counts.chunks],
  token_num: [whole, ({ counts }) => counts.tokens],
  similarity_threshold: [z.number(), ({ dataset }) => dataset.similarityThreshold],
  vector_similarity_weight: [z.number(), ({ dataset }) => dataset.vectorSimilarityWeight],
  pagerank: [whole, ({ dataset }) => dataset.pagerank],
  status: [z.literal('1'), () => '1'],
  source: [string.nullable().describe('What it follows, such as a folder.'), ({ dataset }) => dataset.source],
  tenant_id: [string, (_, tenant) => tenant],
  created_by: [string, (_, tenant) => tenant],
  create_time: [times.create_time[0], ({ dataset }) => dataset.createdAt],
  create_date: [times.create_date[0], ({ dataset }) => times.create_date[1](dataset)],
  update_time: [times.update_time[0], ({ dataset }) => dataset.updatedAt],
  update_date: [times.update_date[0], ({ dataset }) => times.update_date[1](dataset)],
});

const datasetRow = defineView<CountedDataset, [tenant: string]>()({
  ...datasetView.fields,
  nickname: [string.describe('The same as `tenant_id`.'), (_, tenant) => tenant],
  tenant_avatar: [z.null(), none],
  embedding_model_name: [string.describe('The same as `embedding_model`.'), ({ dataset }) => dataset.embeddingModel],
});

const rowShape = datasetRow.shape.extend({
  parsing_status: anyObject.optional().describe('Documents by state, with `include_parsing_status`.'),
});

/** An id, which is refused where it is none; an empty one is none. */
const idParameter = parameter.transform((text, issues) => {
  const id = text === undefined ? undefined : idDigits(text);
  if (text === undefined || id !== undefined) return id;
  issues.addIssue({ code: 'custom', message: 'Invalid UUID format' });
  return z.NEVER;
});

const datasetsQuery = z.strictObject({
  id: idParameter,
  ids: parameters.transform((texts, issues) => {
    const ids = texts.map(idDigits);
    if (!ids.includes(undefined) && ids.length <= MAX_PAGE_SIZE) return ids as readonly string[];
    issues.addIssue({ code: 'custom', message: 'Invalid UUID format' });
    return z.NEVER;
  }),
  name: parameter,
  page: wholeParameter(1, 1),
  page_size: wholeParameter(1, 30, MAX_PAGE_SIZE).describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
  orderby: parameter.transform((text, issues) => {
    const order = text ?? 'create_time';
    if (Object.hasOwn(ORDERS, order)) return ORDERS[order as keyof typeof ORDERS];
    issues.addIssue({ code: 'custom', message: "Input should be 'create_time' or 'update_time'" });
    return z.NEVER;
  }),
  desc: flagParameter(true),
  include_parsing_status: flagParameter(false),
  keywords: parameter.describe('Part of the name.'),
  ext: parameter.describe('An object as JSON, of which `keywords` is read.'),
  type: parameter.describe('"filter": how many datasets there are by owner.'),
});

const deletedShape = z.looseObject({ success_count: whole });

export const datasetRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    strictRoute('POST /datasets', {
      summary: 'Creates a dataset; a name that is taken gets a number',
      body: newDatasetBody,
      data: datasetView.shape,
      handle: create,
    }),
    strictRoute('GET /datasets', {
      summary: 'Lists datasets',
      query: datasetsQuery,
      data: z.array(rowShape),
      handle: list,
    }),
    strictRoute('DELETE /datasets', {
      summary: 'Deletes datasets with all that is in them, all or none of those that are named',
      body: deletionBody,
      data: deletedShape,
      handle: remove,
    }),
    strictRoute('GET /datasets/:dataset', {
      summary: 'Reads a dataset',
      finds: ownDataset(lacksPermission),
      data: datasetView.shape,
      handle: async ({ tenant, params, found: { base } }) => {
        const found = await base.datasets.find(tenant, params.dataset);
        if (found === undefined) throw missing(lacksPermission(params.dataset, tenant));
        return success({ ...datasetView.of(found, tenant), connectors: [] });
      },
    }),
    strictRoute('PUT /datasets/:dataset', {
      summary: 'Changes a dataset; its documents are cut anew when they are parsed again',
      body: datasetChangeBody,
      data: datasetView.shape,
      handle: change,
    }),
  ],
};

async function create({ tenant, body }: RouteRequest<never, z.ZodObject, typeof newDatasetBody>, parts: ServerParts) {
  const { models } = parts.services;
  const { name, chunk_method, parser_config, embedding_model, pipeline_id, auto_metadata_config, ...rest } = body;
  const chunkMethod = methodOf(chunk_method) ?? 'naive';
  if (embedding_model) requireEmbeddingModel(models, embedding_model);
  const { defaults = {}, datasetModel = defaults.embedding ?? '' } = models?.describe() ?? {};
  const config = filledConfig(chunkMethod, (parser_config ?? undefined) as JsonObject | undefined);
  const base = await knowledgeOf(parts);
  const created = await createNamed(base, tenant, name, {
    ...given({
      avatar: rest.avatar,
      description: rest.description,
      permission: rest.permission,
      language: rest.language,
    }),
    chunkMethod,
    pipelineId: pipeline_id || null,
    embeddingModel: embedding_model || datasetModel,
    parserConfig: {
      ...config,
      ...(chunkMethod === 'naive' && { llm_id: defaults.chat ?? '' }),
      ...(auto_metadata_config ?? {}),
    } as JsonObject,
  });
  return success(datasetView.of(created, tenant));
}

/** Puts a number behind a name that is taken. */
async function createNamed(
  { datasets }: KnowledgeBase,
  tenant: string,
  name: string,
  dataset: DatasetChange,
): Promise<CountedDataset> {
  for (let number = 0; ; number += 1) {
    try {
      return await datasets.create(tenant, { ...dataset, name: number === 0 ? name : `${name}(${number})` });
    } catch (error) {
      if (!EngineError.is(error) || error.code !== 'CONFLICT' || number >= MAX_NAMES) throw error;
    }
  }
}

async function list({ tenant, query }: RouteRequest<never, typeof datasetsQuery>, parts: ServerParts) {
  const { id, ids, name, page, page_size, orderby, desc } = query;
  const base = await knowledgeOf(parts);
  const one = { offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  if (query.type === 'filter') {
    const { total } = await base.datasets.list(tenant, one);
    const owner = total === 0 ? [] : [{ id: tenant, label: tenant, count: total }];
    return success({ filter: { owner }, total });
  }
  if (id !== undefined && ids.length > 0) throw refused(`Should not provide both 'id':${id} and 'ids'.`);
  if (id !== undefined && (await base.datasets.find(tenant, id)) === undefined)
    throw missing(lacksPermission(id, tenant));
  if (name && (await base.datasets.list(tenant, { ...one, name })).total === 0) {
    throw missing(lacksPermission(name, tenant));
  }
  const { items, total } = await base.datasets.list(tenant, {
    ...given({ name: name || undefined, keywords: query.keywords || keywordsOf(query.ext) }),
    ...(id !== undefined ? { ids: [id] } : ids.length > 0 && { ids }),
    offset: (page - 1) * page_size,
    limit: page_size,
    orderBy: orderby,
    descending: desc,
  });
  const counts = query.include_parsing_status
    ? await base.datasets.runCounts(
        tenant,
        items.map(({ dataset }) => dataset.id),
      )
    : undefined;
  const data = items.map((found) => ({
    ...datasetRow.of(found, tenant),
    ...(counts !== undefined && { parsing_status: parsingStatus(counts.get(found.dataset.id) ?? {}) }),
  }));
  return { ...success(data), total_datasets: total };
}

/** How many documents are in each state; all states are there. */
export function parsingStatus(counts: RunCounts): Readonly<Record<string, number>> {
  return Object.fromEntries(RUN_STATES.map((run) => [`${run.toLowerCase()}_count`, counts[run] ?? 0]));
}

function keywordsOf(ext: string | undefined): string | undefined {
  const value = ext === undefined ? undefined : parseJson(ext);
  const keywords = isJsonObject(value) ? value.keywords : undefined;
  return typeof keywords === 'string' && keywords !== '' ? keywords : undefined;
}

async function remove({ tenant, body }: RouteRequest<never, z.ZodObject, typeof deletionBody>, parts: ServerParts) {
  const base = await knowledgeOf(parts);
  const ids = body.ids ?? [];
  let count = 0;
  const named = ids.length > 0;
  const page = { offset: 0, limit: ids.length, orderBy: 'createdAt', descending: false } as const;
  if (named) {
    const known = new Set((await base.datasets.list(tenant, { ...page, ids })).items.map(({ dataset }) => dataset.id));
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0) throw missing(`User '${tenant}' lacks permission for datasets: '${unknown.join(', ')}'`);
    for (const id of ids) if (await base.datasets.delete(tenant, id)) count += 1;
  } else if (body.delete_all) {
    for (;;) {
      const { items } = await base.datasets.list(tenant, { ...page, limit: BATCH });
      if (items.length === 0) break;
      for (const { dataset } of items) if (await base.datasets.delete(tenant, dataset.id)) count += 1;
    }
  }
  return success({ success_count: count });
}

async function change(
  { tenant, params, body }: RouteRequest<'dataset', z.ZodObject, typeof datasetChangeBody>,
  parts: ServerParts,
) {
  const id = idDigits(params.dataset);
  if (id === undefined) {
    const value = params.dataset;
    throw new EngineError('BAD_REQUEST', `Field: <dataset_id> - Message: <Invalid UUID format> - Value: <${value}>`);
  }
  if (Object.keys(body).length === 0) throw refused('no properties were modified');
  const base = await knowledgeOf(parts);
  const found = await base.datasets.find(tenant, id);
  if (found === undefined) throw missing(lacksPermission(id, tenant));
  const { connectors = [] } = body;
  if (connectors.length > 0) throw refused('There are no connectors on this server; documents are uploaded.');
  if (body.embedding_model) requireEmbeddingModel(parts.services.models, body.embedding_model);
  const changed = await base.datasets.update(tenant, id, changeOf(found, body)).catch((error: unknown) => {
    if (!EngineError.is(error) || error.code !== 'CONFLICT') throw error;
    throw refused(`Dataset name '${body.name}' already exists`);
  });
  return success({ ...datasetView.of(changed, tenant), connectors });
}

function changeOf({ dataset }: CountedDataset, body: z.output<typeof datasetChangeBody>): DatasetChange {
  const { name, avatar, description, permission, language, embedding_model, pagerank, pipeline_id } = body;
  const chunkMethod = methodOf(body.chunk_method);
  const isOther = chunkMethod !== undefined && chunkMethod !== dataset.chunkMethod;
  const config = (body.parser_config ?? undefined) as JsonObject | undefined;
  const before = isOther && config === undefined ? filledConfig(chunkMethod, undefined) : dataset.parserConfig;
  const metadata = body.auto_metadata_config as JsonObject | null | undefined;
  const parserConfig = { ...(config === undefined ? before : mergedConfig(before, config)), ...metadata };
  return {
    ...given({ name, permission, pagerank, chunkMethod, language: language ?? undefined }),
    ...(avatar !== undefined && { avatar }),
    ...(description !== undefined && { description }),
    ...(embedding_model && { embeddingModel: embedding_model }),
    ...(pipeline_id !== undefined
      ? { pipelineId: pipeline_id || null }
      : chunkMethod !== undefined && { pipelineId: null }),
    parserConfig,
  };
}
