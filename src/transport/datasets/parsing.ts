/** Parsing of documents: put in line, stopped, begun anew. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import type { DocumentRecord } from '../../records/knowledge.js';
import { type Envelope, success } from '../envelope.js';
import { isTruthy } from '../http/input.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { anything, idsIn, plainText, twiceIn } from '../ragflow/fields.js';
import { pythonLiteral } from '../ragflow/python-text.js';
import type { ServerParts } from '../server-parts.js';
import { string, whole } from '../shapes.js';
import { unknownAmong } from './documents.js';
import {
  type FoundDataset,
  knowledgeOf,
  missing,
  notYourDataset,
  notYourDocument,
  ownDataset,
  refused,
} from './find.js';

/** Documents that are put in line, or stopped, in one go. */
const BATCH = 100;

const CANNOT_STOP = "Can't stop parsing document that has not started or already completed";

const idsBody = z.looseObject({ document_ids: anything.describe('A list of ids.') });

const ingestBody = z.looseObject({
  doc_ids: anything.describe('A list of ids, of any datasets of the caller.'),
  run: anything.describe('1: parse; 2: stop.'),
  delete: anything.describe('Whether chunks that users wrote are deleted first.'),
});

const outcomeShape = z.looseObject({ success_count: whole, errors: z.array(string).optional() });

type IdsRequest = RouteRequest<'dataset', z.ZodObject, typeof idsBody, FoundDataset>;

export const parsingRoutes: RouteGroup = {
  name: 'parsing',
  description: 'How documents become searchable.',
  routes: [
    looseRoute('POST /datasets/:dataset/chunks', {
      summary: 'Parses documents',
      finds: ownDataset(notYourDataset),
      body: idsBody,
      data: outcomeShape,
      handle: parseAll,
    }),
    looseRoute('DELETE /datasets/:dataset/chunks', {
      summary: 'Stops the parsing of documents; chunks that are searchable stay',
      finds: ownDataset(notYourDataset),
      body: idsBody,
      data: outcomeShape,
      handle: stopAll,
    }),
    looseRoute('POST /datasets/:dataset/documents/parse', {
      summary: 'Parses documents; those that are being parsed are passed over',
      finds: ownDataset(notYourDataset),
      body: idsBody,
      data: outcomeShape,
      handle: async (request) => {
        const { ids, errors } = await knownIds(request);
        for await (const _ of inBatches(ids, (some) => parse(request, some)));
        return success(outcome(ids.length, errors));
      },
    }),
    looseRoute('POST /datasets/:dataset/documents/stop', {
      summary: 'Stops the parsing of documents; those that are at rest are told',
      finds: ownDataset(notYourDataset),
      body: idsBody,
      data: outcomeShape,
      handle: async (request) => {
        const { ids, errors } = await knownIds(request);
        let stopped = 0;
        for await (const some of inBatches(ids, (batch) => stop(request, batch))) stopped += some.length;
        const atRest = Array.from({ length: ids.length - stopped }, () => CANNOT_STOP);
        return success(outcome(stopped, [...errors, ...atRest]));
      },
    }),
    looseRoute('POST /documents/ingest', {
      summary: 'Parses or stops documents of any datasets',
      body: ingestBody,
      data: z.literal(true),
      handle: ingest,
    }),
  ],
};

async function parseAll(request: IdsRequest): Promise<Envelope> {
  const { base } = request.found;
  const { tenant, params } = request;
  const given = idsOf(request.body);
  const ids = [...new Set(given)];
  const unknown = await unknownAmong(base, tenant, params.dataset, ids);
  const known = ids.filter((id) => !unknown.includes(id));
  let queued = 0;
  for await (const some of inBatches(known, (batch) => parse(request, batch))) queued += some.length;
  if (queued < known.length) throw refused("Can't parse document that is currently being processed");
  if (unknown.length > 0) throw missing(`Documents not found: ${pythonLiteral(unknown)}`);
  return told('parsed', queued, duplicates(given));
}

async function stopAll(request: IdsRequest): Promise<Envelope> {
  const { base } = request.found;
  const { tenant, params } = request;
  const given = idsOf(request.body);
  const ids = [...new Set(given)];
  const [unknown] = await unknownAmong(base, tenant, params.dataset, ids);
  if (unknown !== undefined) throw missing(notYourDocument(unknown));
  let stopped = 0;
  for await (const some of inBatches(ids, (batch) => stop(request, batch))) stopped += some.length;
  if (stopped < ids.length) {
    return { code: 102, message: CANNOT_STOP, data: { error_code: 'DOC_STOP_PARSING_INVALID_STATE' } };
  }
  return told('stopped', stopped, duplicates(given));
}

function told(what: string, count: number, errors: readonly string[]): Envelope {
  if (errors.length === 0) return { code: 0, message: 'success' };
  const message = `Partially ${what} ${count} documents with ${errors.length} errors`;
  return { ...success(outcome(count, errors)), message };
}

function outcome(count: number, errors: readonly string[]) {
  return { success_count: count, ...(errors.length > 0 && { errors }) };
}

/** Ids of documents that there are, once each. @throws EngineError NOT_FOUND when one of them is not there */
async function knownIds({ tenant, params, body, found: { base } }: IdsRequest) {
  const given = idsOf(body);
  const ids = [...new Set(given)];
  const unknown = await unknownAmong(base, tenant, params.dataset, ids);
  if (unknown.length > 0) throw missing(`Documents not found: ${pythonLiteral(unknown)}`);
  return { ids, errors: duplicates(given) };
}

function idsOf({ document_ids: ids }: z.output<typeof idsBody>): readonly string[] {
  if (!Array.isArray(ids) || ids.length === 0) throw refused('`document_ids` is required');
  return idsIn('document_ids', ids);
}

function duplicates(ids: readonly string[]): readonly string[] {
  return twiceIn(ids).map((id) => `Duplicate document ids: ${id}`);
}

function parse({ tenant, params, found }: IdsRequest, ids: readonly string[]): Promise<readonly DocumentRecord[]> {
  return found.base.documents.parse(tenant, params.dataset, ids);
}

function stop({ tenant, params, found }: IdsRequest, ids: readonly string[]): Promise<readonly DocumentRecord[]> {
  return found.base.documents.stop(tenant, params.dataset, ids);
}

async function* inBatches<T>(
  ids: readonly string[],
  work: (ids: readonly string[]) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < ids.length; at += BATCH) yield await work(ids.slice(at, at + BATCH));
}

async function ingest({ tenant, body }: RouteRequest<never, z.ZodObject, typeof ingestBody>, parts: ServerParts) {
  if (!Array.isArray(body.doc_ids)) throw badArgument('`doc_ids` must be a list of ids.');
  const ids = idsIn('doc_ids', body.doc_ids);
  const run = plainText(body.run);
  if (run !== '1' && run !== '2') throw badArgument('`run` must be 1, to parse, or 2, to stop.');
  const base = await knowledgeOf(parts);
  const documents: DocumentRecord[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH);
    const page = { ids: some, offset: 0, limit: some.length, orderBy: 'createdAt', descending: false } as const;
    documents.push(...(await base.documents.list(tenant, page)).items);
  }
  const known = new Set(documents.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw missing(notYourDocument(unknown));
  for (const { id, datasetId, run: state } of documents) {
    if (run === '2') {
      const [stopped] = await base.documents.stop(tenant, datasetId, [id]);
      if (stopped === undefined) throw refused('Cannot cancel a task that is not in RUNNING status');
      continue;
    }
    if (isTruthy(body.delete) && state !== 'RUNNING') await base.chunks.delete(tenant, id);
    await base.documents.parse(tenant, datasetId, [id]);
  }
  return success(true);
}
