import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import type { FileRecord } from '../../records/stores.js';
import { requireAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryText } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { contentHeaders, endingOf } from './content-headers.js';
import { fetchFile } from './fetch-file.js';
import { isMultipart, readMultipart, type UploadedFile } from './read-multipart.js';

/** Files that code of an agent may have made. */
const ARTIFACTS = new Set(['png', 'jpg', 'jpeg', 'svg', 'pdf', 'csv', 'json', 'html']);

/** Files that chat pages work with: upload for an agent, download of an attachment. Must come before routes of `/agents/:id`. */
export function pageFileRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents/:id/upload', (exchange) => upload(parts, exchange));
    router.get('/agents/attachments/:file/download', (exchange) => {
      const isInline = queryText(exchange.query, 'disposition') === 'inline';
      return send(parts, exchange, exchange.params.file as string, isInline);
    });
  };
}

/** The other files, for keys of the API alone. Must come before routes of `/agents/:id`. */
export function fileRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents/download', (exchange) => {
      const id = queryText(exchange.query, 'id');
      if (id === undefined) throw badArgument('`id` is required.');
      return sendBytes(parts, exchange, id);
    });
    router.get('/agents/attachments/:file/preview', (exchange) =>
      send(parts, exchange, exchange.params.file as string, true),
    );
    router.get('/documents/artifact/:file', (exchange) => sendArtifact(parts, exchange));
  };
}

async function upload(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { stores, now } = parts;
  const { tenant } = exchange.state;
  await requireAgent(parts, exchange);
  const files = await receive(parts, exchange);
  if (files.length === 0) throw badArgument('`file` field is required.');
  const records = files.map((file): FileRecord => ({ ...file, id: createId(), createdAt: now() }));
  for (const record of records) await stores.files.save(tenant, record);
  const views = records.map((record) => fileView(record, tenant));
  exchange.body = success(views.length === 1 ? views[0] : views);
}

/** What was sent, or what lies behind `?url=`; that counts more than one file that comes along. */
async function receive({ config, services }: ServerParts, { req, query }: HttpExchange) {
  const url = queryText(query, 'url');
  if (url === undefined) return readMultipart(req, 'file', config.uploadBytes);
  const sent: readonly UploadedFile[] = isMultipart(req) ? await readMultipart(req, 'file', config.uploadBytes) : [];
  if (sent.length > 1) throw badArgument('With `url`, at most one `file` may be sent.');
  return [await fetchFile(services.http, url, config.uploadBytes)];
}

/** Bytes to keep, of no type that a browser would show. */
async function sendBytes(parts: ServerParts, exchange: HttpExchange, id: string): Promise<void> {
  const file = await findFile(parts, exchange, id);
  const mimeType = 'application/octet-stream';
  exchange.set(contentHeaders({ mimeType, extension: undefined, fileName: file.name, isInline: false }));
  exchange.body = bodyOf(file);
}

async function send(parts: ServerParts, exchange: HttpExchange, id: string, isInline: boolean): Promise<void> {
  const { query } = exchange;
  const file = await findFile(parts, exchange, id);
  const fileName = queryText(query, 'filename') ?? file.name;
  const extension = queryText(query, 'ext');
  exchange.set(
    contentHeaders({
      mimeType: queryText(query, 'mime_type') ?? (extension === undefined ? file.mimeType : undefined),
      extension: extension ?? endingOf(fileName),
      fileName,
      isInline,
    }),
  );
  exchange.body = bodyOf(file);
}

async function findFile({ stores }: ServerParts, { state }: HttpExchange, id: string): Promise<FileRecord> {
  if (!/^[A-Za-z0-9_.-]{1,255}$/.test(id)) throw badArgument('invalid attachment id.');
  const file = await stores.files.find(state.tenant, id);
  if (file === undefined) throw new EngineError('NOT_FOUND', 'document not found');
  return file;
}

/** A file that an agent's code made, by its name: the id of the file, with or without the ending. */
async function sendArtifact({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const name = exchange.params.file as string;
  const ending = endingOf(name);
  if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}$/.test(name)) throw new EngineError('NOT_FOUND', 'Invalid filename.');
  if (!ARTIFACTS.has(ending)) throw new EngineError('NOT_FOUND', 'invalid file type');
  const session = queryText(exchange.query, 'session_id');
  const isOwn = session === undefined || (await stores.sessions.find(tenant, session)) !== undefined;
  const file = isOwn ? await findArtifact(stores.files, tenant, name, ending) : undefined;
  if (file === undefined) throw new EngineError('NOT_FOUND', 'Artifact not found.');
  exchange.set(contentHeaders({ mimeType: undefined, extension: ending, fileName: name, isInline: true }));
  exchange.body = bodyOf(file);
}

async function findArtifact(files: ServerParts['stores']['files'], tenant: string, name: string, ending: string) {
  return (await files.find(tenant, name)) ?? (await files.find(tenant, name.slice(0, -ending.length - 1)));
}

function bodyOf({ bytes }: FileRecord): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fileView({ id, name, mimeType, bytes, createdAt }: FileRecord, tenant: string): JsonObject {
  return {
    id,
    name,
    size: bytes.byteLength,
    extension: endingOf(name),
    mime_type: mimeType,
    created_by: tenant,
    created_at: Math.floor(createdAt / 1000),
    preview_url: null,
  };
}
