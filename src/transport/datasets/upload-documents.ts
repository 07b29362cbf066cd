/** New documents: files that are received, pages that are fetched, documents without a file. */
import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { NewDocument } from '../../knowledge/base/documents.js';
import type { FileDraft, FileStore } from '../../records/files.js';
import type { DocumentRecord } from '../../records/knowledge.js';
import { usageOfFiles } from '../../records/quotas.js';
import { success } from '../envelope.js';
import { endingOf } from '../files/content-headers.js';
import { fetchFile } from '../files/fetch-file.js';
import type { Flight } from '../http/bytes-in-flight.js';
import { FormFields } from '../http/form-fields.js';
import { isMultipart, readParts } from '../http/multipart.js';
import { readJsonOf } from '../http/read-body.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { LOOSE, looseRoute } from '../ragflow/dialect.js';
import { parameter } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { documentView } from './document-view.js';
import { requireName } from './documents.js';
import { type FoundDataset, ownDataset, refused } from './find.js';

/** Bytes that a form has beside its files, at most. */
const FORM_BYTES = 64 * 1_024;

/** Settings of a dataset that an upload can have its own of. */
const OWN_SETTINGS = ['table_column_mode', 'table_column_roles'];

const uploadQuery = z.looseObject({
  type: parameter.describe('"local" (default): files of a form; "web": `url` and `name`; "empty": `name`.'),
  return_raw_files: parameter,
});

type UploadRequest = RouteRequest<'dataset', typeof uploadQuery, z.ZodUnknown, FoundDataset>;

export const uploadRoutes: RouteGroup = {
  name: 'documents',
  description: 'Documents of datasets.',
  routes: [
    looseRoute('POST /datasets/:dataset/documents', {
      summary:
        'Adds documents: files of a form, what a URL gives, or an empty one; they are parsed when that is asked for',
      finds: ownDataset((id) => `Can't find the dataset with ID ${id}!`),
      query: uploadQuery,
      body: 'files',
      data: z.union([z.array(documentView.shape), documentView.shape]),
      handle: async (request, parts) => {
        const { query, tenant } = request;
        switch (query.type || 'local') {
          case 'local':
            return addFiles(request, parts);
          case 'web':
            return success(documentView.of(await addPage(request, parts), tenant));
          case 'empty':
            return success(documentView.of(await addEmpty(request, parts), tenant));
          default:
            throw badArgument('`type` must be one of "local", "web", or "empty".');
        }
      },
    }),
  ],
};

/** A file of a form whose bytes are in a draft. */
interface ReceivedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly draft: FileDraft;
  readonly hash: Hash;
}

/** Receives all files before the first becomes a document, so that a form that breaks off leaves nothing. */
async function addFiles({ tenant, found, exchange }: UploadRequest, parts: ServerParts) {
  const { base, dataset } = found;
  const { config, uploads } = parts;
  const { files: store } = base.parts;
  const { req } = exchange;
  const announced = Math.min(config.uploadBytes, Number(req.headers['content-length'] ?? 0));
  await store.requireRoom(tenant, usageOfFiles([{ size: Math.max(0, announced - FORM_BYTES) }]));
  const files: ReceivedFile[] = [];
  const flight = uploads.open({ tenant, isPage: false }, announced);
  try {
    const fields = await receiveForm(exchange, parts, flight, { store, files });
    if (files.length === 0) throw badArgument('No file part!');
    const settings = ownSettings(fields.get('parser_config'));
    const documents: DocumentRecord[] = [];
    const problems: string[] = [];
    for (const { name, mimeType, draft, hash } of files) {
      if (!base.documents.isReadable(name)) {
        problems.push(`${name}: This type of file has not been supported yet!`);
        continue;
      }
      const received = { draft, sha256: hash.digest('hex') };
      const given: NewDocument = { name, mimeType, received };
      const { document } = await base.documents.add(tenant, dataset.id, given);
      const parserConfig = { ...document.parserConfig, ...settings };
      documents.push(
        settings === undefined
          ? document
          : await base.documents.update(tenant, dataset.id, document.id, { parserConfig }),
      );
    }
    const data = documents.map((document) => documentView.of(document, tenant));
    if (problems.length === 0) return success(data);
    const message = problems.join('\n');
    if (data.length === 0) throw new EngineError('INGEST_FAILED', message);
    return { code: 500, message, data };
  } finally {
    flight.close();
    await Promise.all(files.map(({ draft }) => draft.discard()));
  }
}

/** Writes the files of the field `file` into drafts; gives the other fields. */
async function receiveForm(
  { req }: UploadRequest['exchange'],
  { config }: ServerParts,
  flight: Flight,
  { store, files }: { readonly store: Pick<FileStore, 'draft'>; readonly files: ReceivedFile[] },
): Promise<ReadonlyMap<string, string>> {
  if (!isMultipart(req)) throw badArgument('No file part!');
  const fields = new FormFields(FORM_BYTES);
  const limits = {
    maxBytes: config.uploadBytes,
    maxFiles: config.uploadFiles,
    onBytes: (bytes: number) => flight.add(bytes),
  };
  await readParts(req, limits, ({ field, fileName, mimeType }) => {
    if (fileName === undefined) return fields.open(field);
    if (field !== 'file') return undefined;
    if (fileName === '') throw badArgument('No file selected!');
    requireName(fileName);
    const [draft, hash] = [store.draft(), createHash('sha256')];
    // What is said where nothing is known says nothing.
    files.push({ name: fileName, mimeType: mimeType === 'text/plain' ? '' : mimeType, draft, hash });
    return (bytes) => {
      hash.update(bytes);
      return draft.write(bytes);
    };
  });
  return fields.texts();
}

function ownSettings(text: string | undefined): JsonObject | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const own = Object.entries(value).filter(([name]) => OWN_SETTINGS.includes(name));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** @throws EngineError those of the egress client, such as URL_BLOCKED for addresses inside, also behind a redirect. */
async function addPage(request: UploadRequest, parts: ServerParts): Promise<DocumentRecord> {
  const fields = await fieldsOf(request, parts);
  const name = textOf(fields, 'name').trim();
  const url = textOf(fields, 'url').trim();
  if (name === '') throw badArgument('Lack of "name"');
  if (url === '') throw badArgument('Lack of "url"');
  requireName(name);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw badArgument('The URL format is invalid');
  const { config, uploads } = parts;
  const flight = uploads.open({ tenant: request.tenant, isPage: false }, config.uploadBytes);
  try {
    // As large as it may be: how much comes is not known before.
    flight.add(config.uploadBytes);
    return await addFetched(request, parts, { name, url });
  } finally {
    flight.close();
  }
}

async function addFetched(
  { tenant, found: { base, dataset }, exchange }: UploadRequest,
  { services, config }: ServerParts,
  { name, url }: { readonly name: string; readonly url: string },
): Promise<DocumentRecord> {
  const file = await fetchFile(exchange, services.http, url, config.uploadBytes);
  const ending = endingOf(file.name) || 'html';
  if (!base.documents.isReadable(`page.${ending}`)) {
    throw new EngineError('INGEST_FAILED', `${file.name}: This type of file has not been supported yet!`);
  }
  const named = endingOf(name) === ending ? name : `${name}.${ending}`;
  const { mimeType, bytes } = file;
  const given: NewDocument = { name: named, mimeType, content: [bytes], source: 'web' };
  return (await base.documents.add(tenant, dataset.id, given)).document;
}

async function addEmpty(request: UploadRequest, parts: ServerParts): Promise<DocumentRecord> {
  const { tenant, found } = request;
  const { documents } = found.base;
  const name = textOf(await fieldsOf(request, parts), 'name').trim();
  if (name === '') throw badArgument("File name can't be empty.");
  requireName(name);
  const { id } = found.dataset;
  const query = { datasetIds: [id], name, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  if ((await documents.list(tenant, query)).total > 0) throw refused('Duplicated document name in the same dataset.');
  return (await documents.add(tenant, id, { name })).document;
}

/** The fields of a form without files, or of a JSON object. */
async function fieldsOf({ exchange }: UploadRequest, parts: ServerParts): Promise<Readonly<Record<string, unknown>>> {
  const { config, bodies } = parts;
  if (!isMultipart(exchange.req)) {
    await readJsonOf(LOOSE, config.jsonBytes, bodies)(exchange);
    return LOOSE.body(z.looseObject({}), exchange.request.body);
  }
  const form = new FormFields(FORM_BYTES);
  const limits = { maxBytes: FORM_BYTES, maxFiles: 0 };
  await readParts(exchange.req, limits, ({ field }) => form.open(field));
  return Object.fromEntries(form.texts());
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : '';
}
