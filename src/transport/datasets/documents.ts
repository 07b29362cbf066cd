/** Documents of datasets: list, change, delete, download, enable. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import { CHUNK_METHODS, type ChunkMethod, type DocumentRecord } from '../../records/knowledge.js';
import { success } from '../envelope.js';
import { contentHeaders } from '../files/content-headers.js';
import type { HttpExchange, RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute, misfits, strictRoute } from '../ragflow/dialect.js';
import {
  anything,
  dictionaryField,
  flagField,
  idsField,
  idsIn,
  numberField,
  objectField,
  plainText,
  textField,
  wholeField,
} from '../ragflow/fields.js';
import { pythonText } from '../ragflow/python-text.js';
import { anyObject, whole } from '../shapes.js';
import { documentView } from './document-view.js';
import {
  type FoundDataset,
  type FoundDocument,
  missing,
  notYourDataset,
  ownDataset,
  ownDocument,
  refused,
} from './find.js';
import { documentsQuery, listDocuments } from './list-documents.js';
import { mergedConfig, parserConfigField } from './parser-config.js';

/** Bytes of a name at most, in UTF-8. */
export const MAX_NAME_BYTES = 255;

/** Documents that are deleted, or looked up, in one go. */
const BATCH = 100;

/** Methods that RAGFlow has for documents. */
const RAGFLOW_METHODS: ReadonlySet<string> = new Set([...CHUNK_METHODS, 'knowledge_graph', 'audio']);

const chunkMethodField = textField().superRefine((method, issues) => {
  if (method === '' || RAGFLOW_METHODS.has(method)) return;
  issues.addIssue({ code: 'custom', message: `\`chunk_method\` ${method.slice(0, 100)} doesn't exist` });
});

const metaField = dictionaryField().superRefine((values, issues) => {
  for (const value of Object.values(values)) {
    const isPlain = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
    if (Array.isArray(value) ? value.every(isPlain) : isPlain(value)) continue;
    const where = Array.isArray(value) ? 'The type is not supported in list' : 'The type is not supported';
    issues.addIssue({ code: 'custom', message: `${where}: ${pythonText(value)}` });
    return;
  }
});

/** What changes of a document; what is unknown is left alone, as RAGFlow does. */
const changeFields = z
  .looseObject({
    name: textField(),
    chunk_method: chunkMethodField.nullable(),
    pipeline_id: textField().nullable(),
    enabled: wholeField(0, 1).nullable(),
    chunk_count: wholeField(0).nullable(),
    token_count: wholeField(0).nullable(),
    progress: numberField(0, 1).nullable(),
    parser_config: parserConfigField.nullable(),
    meta_fields: metaField.nullable(),
  })
  .partial();

const deletionBody = objectField({
  ids: idsField(textField({ most: 255 })).nullish(),
  delete_all: flagField().default(false),
});

const statusShape = z.record(z.string(), anyObject);

export const documentRoutes: RouteGroup = {
  name: 'documents',
  description: 'Documents of datasets.',
  routes: [
    looseRoute('GET /datasets/:dataset/documents', {
      summary: 'Lists documents',
      finds: ownDataset((id) => `${notYourDataset(id)} `),
      query: documentsQuery,
      data: z.looseObject({ total: whole, docs: z.array(documentView.shape).optional(), filter: anyObject.optional() }),
      handle: listDocuments,
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      looseRoute(`${method} /datasets/:dataset/documents/:document`, {
        summary: method === 'PUT' ? 'The same as PATCH' : 'Changes a document',
        finds: ownDocument(
          () => "you don't own the dataset",
          () => "the dataset doesn't own the document",
        ),
        body: z.looseObject({}),
        takes: changeFields,
        data: documentView.shape,
        handle: change,
      }),
    ),
    strictRoute('DELETE /datasets/:dataset/documents', {
      summary: 'Deletes documents with all that belongs to them, all or none of those that are named',
      finds: ownDataset((id) => `${notYourDataset(id)} `),
      body: deletionBody,
      data: z.looseObject({ deleted: whole }),
      handle: remove,
    }),
    looseRoute('GET /datasets/:dataset/documents/:document', {
      summary: 'Gives the file of a document',
      finds: ownDocument(
        () => 'document not found',
        () => 'document not found',
      ),
      answers: 'file',
      handle: download,
    }),
    looseRoute('POST /datasets/:dataset/documents/batch-update-status', {
      summary: 'Lets the chunks of documents be found, or not',
      finds: ownDataset(() => "you don't own the dataset"),
      body: z.looseObject({ doc_ids: anything, status: anything }),
      data: statusShape,
      handle: enable,
    }),
  ],
};

/** The name, if it may be that of the document now. @throws EngineError BAD_REQUEST */
export function requireName(name: string): void {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return;
  throw new EngineError('BAD_REQUEST', `File name must be ${MAX_NAME_BYTES} bytes or less.`);
}

async function change({
  tenant,
  found: { base, document },
  body,
}: RouteRequest<'dataset' | 'document', z.ZodObject, z.ZodObject, FoundDocument>) {
  const problem =
    body.name === null ? misfits(changeFields.required({ name: true }), body) : misfits(changeFields, body);
  if (problem !== undefined) throw refused(problem);
  const given = changeFields.parse(body);
  requireUnchanged(document, given);
  const { name, chunk_method, pipeline_id, enabled, parser_config, meta_fields } = given;
  if (name !== undefined && name !== document.name) {
    requireName(name);
    if (endOf(name) !== endOf(document.name)) {
      throw new EngineError('BAD_REQUEST', "The extension of file can't be changed");
    }
  }
  const chunkMethod = methodOf(chunk_method);
  const config = parser_config as JsonObject | null | undefined;
  const change = {
    ...(name !== undefined && { name }),
    ...(chunkMethod !== undefined && { chunkMethod }),
    ...(pipeline_id !== undefined && { pipelineId: pipeline_id || null }),
    ...(enabled !== undefined && enabled !== null && { isEnabled: enabled === 1 }),
    ...(config && { parserConfig: mergedConfig(document.parserConfig, config) }),
    ...(meta_fields !== undefined && { metadata: (meta_fields ?? {}) as JsonObject }),
  };
  if (Object.keys(change).length === 0) return success(documentView.of(document, tenant));
  const changed = await base.documents
    .update(tenant, document.datasetId, document.id, change)
    .catch((error: unknown) => {
      if (!EngineError.is(error) || error.code !== 'CONFLICT') throw error;
      throw refused('Duplicated document name in the same dataset.');
    });
  return success(documentView.of(changed, tenant));
}

function requireUnchanged(
  { chunkCount, tokenCount, progress }: DocumentRecord,
  given: z.output<typeof changeFields>,
): void {
  const facts = { chunk_count: chunkCount, token_count: tokenCount, progress } as const;
  for (const [name, value] of Object.entries(facts)) {
    const wanted = given[name as keyof typeof facts];
    if (wanted !== undefined && wanted !== null && wanted !== value) throw refused(`can't change \`${name}\``);
  }
}

function methodOf(name: string | null | undefined): ChunkMethod | undefined {
  if (name === null || name === undefined) return undefined;
  if (name === '') throw refused('`chunk_method` (empty string) is not valid');
  const method = CHUNK_METHODS.find((one) => one === name);
  if (method !== undefined) return method;
  throw missing(`The chunk method '${name}' is not available on this server.`);
}

function endOf(name: string): string {
  return /\.[^.]+$/.exec(name.toLowerCase())?.[0] ?? '';
}

async function remove({
  tenant,
  params,
  body: { ids, delete_all },
  found: { base },
}: RouteRequest<'dataset', z.ZodObject, typeof deletionBody, FoundDataset>) {
  const { dataset } = params;
  const wanted = ids ?? [];
  if (wanted.length === 0 && !delete_all)
    throw refused(`should either provide doc ids or set delete_all(true), dataset: ${dataset}. `);
  if (wanted.length > 0 && delete_all)
    throw refused(`should not provide both doc ids and delete_all(true), dataset: ${dataset}. `);
  const unknown = await unknownAmong(base, tenant, dataset, wanted);
  if (unknown.length > 0) {
    const message = `These documents do not belong to dataset ${dataset} or Document not found: ${unknown.join(', ')}`;
    throw missing(message);
  }
  let deleted = 0;
  for (let at = 0; at < wanted.length; at += BATCH)
    deleted += (await base.documents.delete(tenant, dataset, wanted.slice(at, at + BATCH))).length;
  while (delete_all) {
    const page = { datasetIds: [dataset], offset: 0, limit: BATCH, orderBy: 'createdAt', descending: false } as const;
    const { items } = await base.documents.list(tenant, page);
    if (items.length === 0) break;
    const gone = await base.documents.delete(
      tenant,
      dataset,
      items.map(({ id }) => id),
    );
    deleted += gone.length;
  }
  return success({ deleted });
}

/** Those of some ids that no document of a dataset has. */
export async function unknownAmong(
  { documents }: FoundDataset['base'],
  tenant: string,
  datasetId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const known = new Set<string>();
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH);
    const page = { offset: 0, limit: some.length, orderBy: 'createdAt', descending: false } as const;
    const { items } = await documents.list(tenant, { ...page, datasetIds: [datasetId], ids: some });
    for (const { id } of items) known.add(id);
  }
  return ids.filter((id) => !known.has(id));
}

async function download({
  tenant,
  exchange,
  found: { base, document },
}: RouteRequest<'dataset' | 'document', z.ZodObject, z.ZodUnknown, FoundDocument>): Promise<void> {
  const file = await base.documents.open(tenant, document.datasetId, document.id);
  if (file === undefined || file.size === 0) throw missing('This file is empty.');
  const { name, suffix, mimeType } = document;
  exchange.set(contentHeaders({ mimeType: mimeType || undefined, extension: suffix, fileName: name, isInline: false }));
  send(exchange, file);
}

function send(
  exchange: HttpExchange,
  file: NonNullable<Awaited<ReturnType<FoundDataset['base']['documents']['open']>>>,
) {
  exchange.body = file.read();
  exchange.length = file.size;
}

async function enable({
  tenant,
  params,
  body,
  found: { base },
}: RouteRequest<'dataset', z.ZodObject, z.ZodObject, FoundDataset>) {
  const { doc_ids: ids, status } = body as { readonly doc_ids?: unknown; readonly status?: unknown };
  if (!Array.isArray(ids) || ids.length === 0) throw badArgument('"doc_ids" must be a non-empty list.');
  if (ids.some((id) => typeof id !== 'string' || id === ''))
    throw badArgument('"doc_ids" must contain non-empty document IDs.');
  const wanted = plainText(status ?? -1);
  if (wanted !== '0' && wanted !== '1')
    throw badArgument(`"Status" must be either 0 or 1:${pythonText(status ?? -1)}!`);
  const result = new Map<string, object>();
  for (const id of new Set(idsIn('doc_ids', ids))) {
    const known = await base.documents.find(tenant, params.dataset, id);
    if (known === undefined) result.set(id, { error: 'Document not found' });
    else {
      if (known.isEnabled !== (wanted === '1'))
        await base.documents.update(tenant, params.dataset, id, { isEnabled: wanted === '1' });
      result.set(id, { status: wanted });
    }
  }
  const data = Object.fromEntries(result);
  const isWhole = [...result.values()].every((one) => 'status' in one);
  return isWhole ? success(data) : { code: 500, message: 'Partial failure', data };
}
