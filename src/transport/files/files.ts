/** Files of users, and files that agents made: upload and download. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { FileAbout, OpenedFile } from '../../records/files.js';
import type { Caller } from '../access/callers.js';
import { notForPages } from '../access/page-keys.js';
import { findAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { text } from '../http/input.js';
import { type HttpExchange, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { defineView, none, string, whole } from '../shapes.js';
import { contentHeaders, endingOf } from './content-headers.js';
import { fetchFile } from './fetch-file.js';
import { storeUpload } from './receive-upload.js';

/** Types of files that code of an agent may make. */
const ARTIFACTS = new Set(['png', 'jpg', 'jpeg', 'svg', 'pdf', 'csv', 'json', 'html']);

const fileView = defineView<FileAbout & { readonly size: number }, [tenant: string]>()({
  id: [string, 'id'],
  name: [string, 'name'],
  size: [whole.describe('Bytes.'), 'size'],
  extension: [string, ({ name }) => endingOf(name)],
  mime_type: [string, 'mimeType'],
  created_by: [string, (_, tenant) => tenant],
  created_at: [whole.describe('Seconds since 1970.'), ({ createdAt }) => Math.floor(createdAt / 1000)],
  preview_url: [z.null(), none],
});

const uploadQuery = z.object({ url: text.describe('Fetches this instead.') });
const previewQuery = z.object({ ext: text, mime_type: text, filename: text });
const downloadQuery = previewQuery.extend({
  disposition: text.describe('"inline" shows it, when no script can run in it.'),
});
const artifactQuery = z.object({ session_id: text });

export const fileRoutes: RouteGroup = {
  name: 'files',
  description: 'Files of users and files that agents made.',
  routes: [
    route('POST /agents/:id/upload', {
      summary: 'Stores files for an agent; several give a list',
      access: 'page',
      finds: findAgent,
      query: uploadQuery,
      body: 'files',
      data: z.union([fileView.shape, z.array(fileView.shape)]),
      handle: async ({ tenant, page, query, exchange }, parts) => {
        // Pages of strangers would fetch through this server what they like.
        if (page !== undefined && query.url !== undefined) throw notForPages('`url`');
        const { url } = query;
        const fetch = url && ((maxBytes: number) => fetchFile(exchange, parts.services.http, url, maxBytes));
        const files = await storeUpload(parts, { tenant, page, exchange }, fetch || undefined);
        const views = files.map(({ about, draft: { size } }) => fileView.of({ ...about, size }, tenant));
        return success(views.length === 1 ? views[0] : views);
      },
    }),
    route('GET /agents/download', {
      summary: 'Gives a file',
      query: z.object({ id: string }),
      answers: 'file',
      handle: async ({ tenant, query, exchange }, parts) => {
        const file = await openFile(parts, { tenant }, query.id);
        // Bytes of no type that a browser would show.
        const mimeType = 'application/octet-stream';
        exchange.set(contentHeaders({ mimeType, extension: undefined, fileName: file.about.name, isInline: false }));
        sendFile(exchange, file);
      },
    }),
    route('GET /agents/attachments/:file/download', {
      summary: 'Gives a file',
      access: 'page',
      query: downloadQuery,
      answers: 'file',
      handle: (request, parts) => send(request, parts, request.query.disposition === 'inline'),
    }),
    route('DELETE /agents/attachments/:file', {
      summary: 'Deletes a file, which makes room for others',
      data: z.literal(true),
      handle: async ({ tenant, params }, { stores }) => {
        if (!(await stores.files.delete(tenant, fileId(params.file)))) throw noFile();
        return success(true);
      },
    }),
    route('GET /agents/attachments/:file/preview', {
      summary: 'Shows a file',
      query: previewQuery,
      answers: 'file',
      handle: (request, parts) => send(request, parts, true),
    }),
    route('GET /documents/artifact/:file', {
      summary: 'Gives a file that code of an agent made',
      query: artifactQuery,
      answers: 'file',
      // A file that an agent's code made, by its name: the id of the file, with or without the ending.
      handle: async ({ tenant, params, query, exchange }, parts) => {
        const { file: name } = params;
        const ending = endingOf(name);
        if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}$/.test(name)) throw new EngineError('NOT_FOUND', 'Invalid filename.');
        if (!ARTIFACTS.has(ending)) throw new EngineError('NOT_FOUND', 'invalid file type');
        const session = query.session_id;
        const isOwn = session === undefined || (await parts.stores.sessions.find(tenant, session)) !== undefined;
        const file = isOwn ? await findArtifact(parts.stores.files, tenant, name, ending) : undefined;
        if (file === undefined) throw new EngineError('NOT_FOUND', 'Artifact not found.');
        exchange.set(contentHeaders({ mimeType: undefined, extension: ending, fileName: name, isInline: true }));
        sendFile(exchange, file);
      },
    }),
  ],
};

async function send(
  { tenant, page, params, query, exchange }: RouteRequest<'file', typeof previewQuery>,
  parts: ServerParts,
  isInline: boolean,
): Promise<void> {
  const file = await openFile(parts, { tenant, page }, params.file);
  const fileName = query.filename ?? file.about.name;
  exchange.set(
    contentHeaders({
      mimeType: query.mime_type ?? (query.ext === undefined ? file.about.mimeType : undefined),
      extension: query.ext ?? endingOf(fileName),
      fileName,
      isInline,
    }),
  );
  sendFile(exchange, file);
}

/** Sends a file no faster than its client reads it. */
function sendFile(exchange: HttpExchange, file: OpenedFile): void {
  exchange.body = file.read();
  exchange.length = file.size;
}

async function openFile(
  { stores }: ServerParts,
  { tenant, page }: Pick<Caller, 'tenant' | 'page'>,
  id: string,
): Promise<OpenedFile> {
  const file = await stores.files.open(tenant, fileId(id));
  if (file === undefined || (page !== undefined && file.about.page !== page)) {
    throw noFile();
  }
  return file;
}

function noFile(): EngineError {
  return new EngineError('NOT_FOUND', 'document not found');
}

/** @throws EngineError BAD_REQUEST for what is no id of a file. */
function fileId(id: string): string {
  if (!/^[A-Za-z0-9_.-]{1,255}$/.test(id)) throw badArgument('invalid attachment id.');
  return id;
}

async function findArtifact(files: ServerParts['stores']['files'], tenant: string, name: string, ending: string) {
  return (await files.open(tenant, name)) ?? (await files.open(tenant, name.slice(0, -ending.length - 1)));
}
