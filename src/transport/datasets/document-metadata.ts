/** Metadata of documents: which a dataset wants, what there is, changes of many at once. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { MetadataSummary } from '../../knowledge/base/metadata.js';
import { success } from '../envelope.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute, strictRoute } from '../ragflow/dialect.js';
import { anything, idsIn, MAX_PAGE_SIZE, parameters } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, whole } from '../shapes.js';
import { metadataConfigBody } from './dataset-input.js';
import { documentView } from './document-view.js';
import { unknownAmong } from './documents.js';
import {
  datasetsQuery,
  type FoundDataset,
  knowledgeOf,
  lacksPermission,
  missing,
  notYourDataset,
  ownDataset,
  ownDatasets,
  ownDocument,
  refused,
} from './find.js';

const summaryQuery = z.looseObject({ doc_ids: parameters });

const changeBody = z.looseObject({
  selector: anything.describe('`document_ids`, and conditions in `metadata_condition`.'),
  updates: anything.describe('A list of `{key, value, match?}`.'),
  deletes: anything.describe('A list of `{key, value?}`.'),
});

const changedShape = z.looseObject({ updated: whole, matched_docs: whole });

const configShape = z.looseObject({ metadata: z.array(anyObject), built_in_metadata: z.array(anyObject) });

const summaryShape = z.record(
  z.string(),
  z.looseObject({ type: z.string(), values: z.array(z.tuple([z.string(), whole])) }),
);

export const documentMetadataRoutes: RouteGroup = {
  name: 'metadata',
  description: 'Metadata of the documents of datasets.',
  routes: [
    strictRoute('GET /datasets/:dataset/metadata/config', {
      summary: 'Which metadata documents are to have',
      finds: ownDataset(lacksPermission),
      data: configShape,
      handle: ({ found: { dataset } }) => success(configOf(dataset.parserConfig)),
    }),
    strictRoute('PUT /datasets/:dataset/metadata/config', {
      summary: 'Replaces which metadata documents are to have',
      finds: ownDataset(lacksPermission),
      body: metadataConfigBody,
      data: configShape,
      handle: async ({ tenant, body, found: { base, dataset } }) => {
        const filled = (fields: typeof body.metadata) =>
          fields.map(({ description = null, enum: values = null, ...field }) => ({
            ...field,
            description,
            enum: values,
          }));
        const config = { metadata: filled(body.metadata), built_in_metadata: filled(body.built_in_metadata) };
        const parserConfig = { ...dataset.parserConfig, ...config };
        await base.datasets.update(tenant, dataset.id, { parserConfig });
        return success(config);
      },
    }),
    looseRoute('GET /datasets/:dataset/metadata/summary', {
      summary: 'The values that there are, and how often',
      finds: ownDataset((id) => `${notYourDataset(id)} `),
      query: summaryQuery,
      data: z.looseObject({ summary: summaryShape }),
      handle: async ({ tenant, params, query: { doc_ids: ids }, found: { base } }) => {
        if (ids.length > MAX_PAGE_SIZE) throw badArgument(`doc_ids must contain at most ${MAX_PAGE_SIZE} IDs`);
        const summary = await base.metadata.summary(tenant, params.dataset, ids.length === 0 ? undefined : ids);
        return success({ summary: summaryOf(summary) });
      },
    }),
    looseRoute('GET /datasets/metadata/flattened', {
      summary: 'The documents of each value of several datasets',
      query: datasetsQuery,
      data: anyObject,
      handle: flattened,
    }),
    ...(['POST /datasets/:dataset/metadata/update', 'PATCH /datasets/:dataset/documents/metadatas'] as const).map(
      (address) =>
        looseRoute(address, {
          summary: 'Changes the metadata of several documents',
          finds: ownDataset(notYourDataset),
          body: changeBody,
          data: changedShape,
          handle: change,
        }),
    ),
    looseRoute('PUT /datasets/:dataset/documents/:document/metadata/config', {
      summary: 'Replaces which metadata a document is to have',
      finds: ownDocument(
        () => "you don't own the dataset",
        (id, datasetId) => `document ${id} not found in dataset ${datasetId}`,
      ),
      body: z.looseObject({ metadata: anything }),
      data: documentView.shape,
      handle: async ({ tenant, body: { metadata }, found: { base, document } }) => {
        if (metadata === undefined) throw badArgument('metadata is required');
        const parserConfig = { ...document.parserConfig, metadata: metadata as Json };
        const changed = await base.documents.update(tenant, document.datasetId, document.id, { parserConfig });
        return success(documentView.of(changed, tenant));
      },
    }),
  ],
};

function configOf({ metadata, built_in_metadata: builtIn }: JsonObject) {
  return {
    metadata: Array.isArray(metadata) ? metadata : [],
    built_in_metadata: Array.isArray(builtIn) ? builtIn : [],
  };
}

function summaryOf(summary: readonly MetadataSummary[]): object {
  const entries = summary.map(({ name, values }) => {
    const filled = values.filter(({ value }) => value !== '');
    return [name, { type: 'string', values: filled.map(({ value, count }) => [value, count]) }];
  });
  return Object.fromEntries(entries);
}

async function flattened({ tenant, query }: RouteRequest<never, typeof datasetsQuery>, parts: ServerParts) {
  const base = await knowledgeOf(parts);
  const found = await base.metadata.documentsByValue(tenant, await ownDatasets(base, tenant, query, lacksPermission));
  return success(Object.fromEntries([...found].map(([name, values]) => [name, Object.fromEntries(values)])));
}

async function change({
  tenant,
  params,
  body,
  found: { base },
}: RouteRequest<'dataset', z.ZodObject, typeof changeBody, FoundDataset>) {
  const { selector, updates, deletes } = readChange(body);
  const { document_ids: ids, metadata_condition: condition } = selector;
  const { dataset } = params;
  const unknown = await unknownAmong(base, tenant, dataset, ids);
  if (unknown.length > 0)
    throw missing(`These documents do not belong to dataset ${dataset}: ${[...new Set(unknown)].join(', ')}`);
  // Nothing is chosen: RAGFlow changes nothing then.
  if (ids.length === 0 && condition === undefined) return success({ updated: 0, matched_docs: 0 });
  const { matched, updated } = await base.metadata.change(tenant, dataset, {
    ...(ids.length > 0 && { documentIds: [...new Set(ids)] }),
    filter: condition,
    updates,
    deletes,
  });
  return success({ updated, matched_docs: matched });
}

/** Names that one request sets or takes out, each in every document that it chooses. */
const MAX_CHANGES = 1_000;

/** What a client changes, checked in RAGFlow's order. @throws EngineError with its messages */
function readChange(body: z.output<typeof changeBody>) {
  const selector = body.selector || {};
  const updates = body.updates || [];
  const deletes = body.deletes || [];
  if (!isJsonObject(selector)) throw refused('selector must be an object.');
  if (!Array.isArray(updates) || !Array.isArray(deletes)) throw refused('updates and deletes must be lists.');
  if (updates.length + deletes.length > MAX_CHANGES) {
    throw badArgument(`updates and deletes must have at most ${MAX_CHANGES} items together.`);
  }
  const condition = selector.metadata_condition || undefined;
  if (condition !== undefined && !isJsonObject(condition)) throw refused('metadata_condition must be an object.');
  const ids = selector.document_ids || [];
  if (!Array.isArray(ids) || ids.some((id: Json) => typeof id !== 'string'))
    throw refused('document_ids must be a list.');
  const keyOf = (one: unknown): string | undefined => {
    const key = isJsonObject(one) ? one.key : undefined;
    return typeof key === 'string' ? key : undefined;
  };
  return {
    selector: { document_ids: idsIn('document_ids', ids), metadata_condition: condition },
    updates: updates.map((one: JsonObject) => {
      const name = keyOf(one);
      if (!name || one.value === undefined) throw refused('Each update requires key and value.');
      return { name, value: one.value, match: one.match };
    }),
    deletes: deletes.map((one: JsonObject) => {
      const name = keyOf(one);
      if (!name) throw refused('Each delete requires key.');
      return { name, value: one.value };
    }),
  };
}
