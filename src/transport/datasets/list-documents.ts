/** The list of the documents of a dataset, with all of RAGFlow's filters. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { MetadataQuery } from '../../knowledge/base/metadata.js';
import { type DocumentRun, RUN_STATES } from '../../records/knowledge.js';
import type { DocumentQuery } from '../../records/knowledge-store.js';
import { success } from '../envelope.js';
import { isTruthy } from '../http/input.js';
import type { RouteRequest } from '../http/route.js';
import { loosePage, loosePageSize, MAX_PAGE_SIZE, parameter, parameters } from '../ragflow/fields.js';
import { documentView } from './document-view.js';
import { type FoundDataset, missing, notYourDocument, refused } from './find.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', name: 'name', size: 'size' } as const;

const TYPES: ReadonlySet<string> = new Set(['pdf', 'doc', 'visual', 'aural', 'virtual', 'folder', 'other']);

/** Which documents. What RAGFlow does not know is passed over. */
export const documentsQuery = z.looseObject({
  id: parameter,
  ids: parameters,
  name: parameter,
  keywords: parameter.describe('Part of the name.'),
  page: loosePage,
  page_size: loosePageSize.describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
  orderby: parameter,
  desc: parameter.transform((text) => text?.trim().toLowerCase() !== 'false'),
  suffix: parameters,
  types: parameters,
  run: parameters.describe('UNSTART, RUNNING, CANCEL, DONE, FAIL, or 0 to 4.'),
  run_status: parameters,
  create_time_from: parameter.describe('Milliseconds since 1970.'),
  create_time_to: parameter,
  metadata_condition: parameter.describe('Conditions on the metadata, as JSON.'),
  metadata: parameter.describe('Values by name, as JSON; one of several is enough.'),
  return_empty_metadata: parameter.describe('"true": only documents without metadata.'),
  type: parameter.describe('"filter": how often each value occurs that can be filtered by.'),
});

type ListRequest = RouteRequest<'dataset', typeof documentsQuery, z.ZodUnknown, FoundDataset>;

/** Lists documents, or with `type=filter` counts what they can be filtered by. */
export async function listDocuments(request: ListRequest) {
  const { tenant, params, query, found } = request;
  const { documents } = found.base;
  const datasetIds = [params.dataset];
  const wanted = filtersOf(query);
  if (query.type === 'filter') return success(await countsOf(request));
  const order = query.orderby ?? 'create_time';
  if (!Object.hasOwn(ORDERS, order)) throw badArgument(`invalid orderby field: ${order.slice(0, 100)}`);
  const one = { datasetIds, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  if (query.id && (await documents.find(tenant, params.dataset, query.id)) === undefined)
    throw missing(notYourDocument(query.id));
  if (query.name && (await documents.list(tenant, { ...one, name: query.name })).total === 0)
    throw missing(notYourDocument(query.name));
  const ids = await idsOf(request);
  const { createdFrom, createdTo, ...others } = {
    ...wanted,
    ...(ids !== undefined && { ids }),
    ...(query.name && { name: query.name }),
    ...(query.keywords && { keywords: query.keywords }),
    createdFrom: timeOf('create_time_from', query.create_time_from),
    createdTo: timeOf('create_time_to', query.create_time_to),
  };
  const page: DocumentQuery = {
    ...others,
    datasetIds,
    offset: (query.page - 1) * query.page_size,
    limit: query.page_size,
    orderBy: ORDERS[order as keyof typeof ORDERS],
    descending: query.desc,
  };
  const { items, total } = await documents.list(tenant, { ...page, createdFrom, createdTo });
  const isTimed = createdFrom !== undefined || createdTo !== undefined;
  // RAGFlow's clients read how many there are apart from the times.
  const all = isTimed ? (await documents.list(tenant, { ...page, offset: 0, limit: 1 })).total : total;
  return success({ total: all, docs: items.map((document) => documentView.of(document, tenant)) });
}

function filtersOf({ types, run, run_status, suffix }: ListRequest['query']): Partial<DocumentQuery> {
  const unknown = types.filter((type) => !TYPES.has(type));
  if (unknown.length > 0)
    throw refused(`Invalid filter conditions: ${unknown.join(', ')} type${unknown.length > 1 ? 's' : ''}`);
  const runs = [...run, ...run_status].map((text) => [text, runOf(text)] as const);
  const invalid = runs.flatMap(([text, state]) => (state === undefined ? [text] : []));
  if (invalid.length > 0) throw refused(`Invalid filter run status conditions: ${invalid.join(', ')}`);
  return {
    ...(types.length > 0 && { types }),
    ...(runs.length > 0 && { runs: runs.flatMap(([, state]) => state ?? []) }),
    ...(suffix.length > 0 && { suffixes: suffix.map((one) => one.toLowerCase()) }),
  };
}

function runOf(text: string): DocumentRun | undefined {
  return RUN_STATES.find((state, at) => state === text.toUpperCase() || String(at) === text);
}

/** The documents that are meant; undefined: all. */
async function idsOf({ tenant, params, query, found }: ListRequest): Promise<readonly string[] | undefined> {
  const { id, ids } = query;
  if (ids.length > MAX_PAGE_SIZE) throw badArgument(`ids must contain at most ${MAX_PAGE_SIZE} IDs`);
  if (id && ids.length > 0) throw refused(`Should not provide both 'id':${id} and 'ids'.`);
  if (id) return [id];
  if (ids.length > 0) return ids;
  const wanted = metadataOf(query);
  return wanted === undefined ? undefined : found.base.metadata.documents(tenant, params.dataset, wanted);
}

function metadataOf(query: ListRequest['query']): MetadataQuery | undefined {
  const { metadata_condition: condition, metadata } = query;
  const filter = objectOf('metadata_condition', condition, `must be valid JSON: ${condition?.slice(0, 500)}.`);
  const { empty_metadata: isEmpty, ...given } = objectOf('metadata', metadata, 'must be valid JSON.');
  if (isTruthy(isEmpty) || isTruthy(query.return_empty_metadata)) return { isEmpty: true };
  const values = Object.entries(given).flatMap(([name, value]) => {
    const texts = [value].flat().flatMap((one: Json) => {
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      return one === null || text.trim() === '' ? [] : [text];
    });
    return texts.length === 0 ? [] : [[name, texts] as const];
  });
  const hasFilter = Object.keys(filter).length > 0;
  if (!hasFilter && values.length === 0) return undefined;
  return { ...(hasFilter && { filter }), values: Object.fromEntries(values) };
}

/** @param complaint is said of a text that is no JSON */
function objectOf(name: string, text: string | undefined, complaint: string): JsonObject {
  if (!text) return {};
  const value = parseJson(text);
  if (value === undefined) throw refused(`${name} ${complaint}`);
  if (isJsonObject(value)) return value;
  throw refused(`${name} must be an object.`);
}

/** 0 is no bound. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value === 0 ? undefined : value;
  throw badArgument(`\`${name}\` must be milliseconds since 1970; received ${JSON.stringify(text.slice(0, 100))}.`);
}

async function countsOf({ tenant, params, found }: ListRequest): Promise<object> {
  const { store } = found.base.parts;
  const ids = [params.dataset];
  const of = async (by: 'run' | 'suffix'): Promise<Record<string, number>> =>
    Object.fromEntries((await store.tallyDocuments(tenant, ids, by)).map(({ value, count }) => [value, count]));
  const runs = await of('run');
  const total = Object.values(runs).reduce((sum, count) => sum + count, 0);
  const run_status = Object.fromEntries(RUN_STATES.flatMap((run, at) => (runs[run] ? [[String(at), runs[run]]] : [])));
  const summary = await found.base.metadata.summary(tenant, params.dataset);
  const metadata = Object.fromEntries(
    summary.map(({ name, values }) => [name, Object.fromEntries(values.map(({ value, count }) => [value, count]))]),
  );
  const empty = await found.base.metadata.documents(tenant, params.dataset, { isEmpty: true });
  return {
    total,
    filter: {
      suffix: await of('suffix'),
      run_status,
      metadata: { ...metadata, empty_metadata: { true: empty.length } },
    },
  };
}
