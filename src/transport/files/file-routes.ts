import { EngineError } from '../../errors.js';
import type { FileRecord } from '../../graph/service-ports.js';
import type { JsonObject } from '../../json.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { checkId, createId } from '../ids.js';
import { queryText } from '../read-input.js';
import { badArgument, noAgent } from '../refusals.js';
import type { ServerParts } from '../server-parts.js';
import { contentHeaders, endingOf } from './content-headers.js';
import { readMultipart } from './read-multipart.js';

/** Files: upload for an agent, download by id. Must come before routes of `/agents/:id`. */
export function fileRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.post('/agents/:id/upload', (exchange) => upload(parts, exchange));
    router.get('/agents/download', (exchange) => {
      const id = queryText(exchange.query, 'id');
      if (id === undefined) throw badArgument('`id` is required.');
      return send(parts, exchange, id, false);
    });
    router.get('/agents/attachments/:file/download', (exchange) => {
      const isInline = queryText(exchange.query, 'disposition') === 'inline';
      return send(parts, exchange, exchange.params.file as string, isInline);
    });
    router.get('/agents/attachments/:file/preview', (exchange) =>
      send(parts, exchange, exchange.params.file as string, true),
    );
  };
}

async function upload(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { stores, config, now } = parts;
  const { tenant } = exchange.state;
  const agent = await stores.agents.find(tenant, checkId('agent_id', exchange.params.id as string));
  if (agent === undefined) throw noAgent();
  if (queryText(exchange.query, 'url') !== undefined) {
    throw badArgument('This server does not fetch files from a `url`; send the file in the field `file`.');
  }
  const files = await readMultipart(exchange.req, 'file', config.uploadBytes);
  if (files.length === 0) throw badArgument('`file` field is required.');
  const records = files.map((file): FileRecord => ({ ...file, id: createId(), createdAt: now() }));
  for (const record of records) await stores.files.save(tenant, record);
  const views = records.map((record) => fileView(record, tenant));
  exchange.body = success(views.length === 1 ? views[0] : views);
}

async function send({ stores }: ServerParts, exchange: HttpExchange, id: string, isInline: boolean): Promise<void> {
  const { query, state } = exchange;
  if (!/^[A-Za-z0-9_.-]{1,255}$/.test(id)) throw badArgument('invalid attachment id.');
  const file = await stores.files.find(state.tenant, id);
  if (file === undefined) throw new EngineError('NOT_FOUND', 'document not found');
  const fileName = queryText(query, 'filename') ?? file.name;
  exchange.set(
    contentHeaders({
      mimeType: queryText(query, 'mime_type') ?? (queryText(query, 'ext') === undefined ? file.mimeType : undefined),
      extension: queryText(query, 'ext') ?? endingOf(fileName),
      fileName,
      isInline,
    }),
  );
  exchange.body = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
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
