/** Canvases as files: a draft or a version to take away, and files to make agents of. */
import { formatDocument, toV1, toV2 } from '../../dsl/convert.js';
import { parseDocument } from '../../dsl/read.js';
import { findDocument } from '../../hosting/find-document.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { contentHeaders } from '../files/content-headers.js';
import { readMultipart, type UploadedFile } from '../files/read-multipart.js';
import type { HttpExchange } from '../http/types.js';
import { queryText } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { isTruthy } from '../truth.js';
import { type AgentInput, readAgentInput } from './agent-input.js';
import { requireAgent } from './find-agent.js';

/** Files of one import. */
const MAX_FILES = 100;

/**
 * `GET /agents/:id/export`: the draft or a version as a file, as it was written or in the form `to`.
 *
 * @throws EngineError NOT_FOUND, BAD_REQUEST; DOCUMENT_* when it has to be converted and cannot be.
 */
export async function exportAgent(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query, state } = exchange;
  const agent = await requireAgent(parts, exchange);
  const version = queryText(query, 'version');
  const dsl = await findDocument(parts.stores.versions, state.tenant, agent, 'draft', {
    isReleased: isTruthy(queryText(query, 'release')),
    ...(version === undefined ? {} : { version }),
  });
  exchange.body = formatDocument(converted(dsl, queryText(query, 'to')));
  exchange.set(
    contentHeaders({
      mimeType: 'application/json',
      extension: 'json',
      fileName: `${agent.title}.json`,
      isInline: false,
    }),
  );
}

function converted(dsl: JsonObject, to: string | undefined): JsonObject {
  switch (to) {
    case undefined:
      return dsl;
    case 'v1':
      return toV1(parseDocument(dsl));
    case 'v2':
      return toV2(parseDocument(dsl)).canvas;
    default:
      throw badArgument(`\`to\` must be "v1" or "v2"; received ${JSON.stringify(to)}.`);
  }
}

/**
 * What to make agents of: the files of a multipart body, each titled by its name, or by `?title=` when it is the only one.
 *
 * @throws EngineError BAD_REQUEST for a file that holds no canvas; then none is taken.
 */
export async function readImport(
  { config }: ServerParts,
  { req, query }: HttpExchange,
): Promise<readonly AgentInput[]> {
  const files = await readMultipart(req, 'file', config.uploadBytes);
  const title = queryText(query, 'title');
  if (files.length === 0) throw badArgument('`file` field is required.');
  if (files.length > MAX_FILES) throw badArgument(`At most ${MAX_FILES} files are taken at once.`);
  if (files.length > 1 && title !== undefined) throw badArgument('With `title`, one `file` may be sent.');
  return files.map((file) => {
    const content = parse(file);
    // Template files hold the canvas beside its texts.
    const dsl = isJsonObject(content) && isJsonObject(content.dsl) ? content.dsl : content;
    return readAgentInput({ title: title ?? file.name.replace(/\.json$/i, ''), dsl });
  });
}

function parse({ name, bytes }: UploadedFile): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw badArgument(`The file ${JSON.stringify(name)} is not valid JSON.`);
  }
}
