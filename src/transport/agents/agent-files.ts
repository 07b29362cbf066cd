/** Canvases as files: a draft or a version to download, and files that become agents. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { formatDocument, toV1, toV2 } from '../../dsl/convert.js';
import { parseDocument } from '../../dsl/read.js';
import { findDocument } from '../../hosting/canvases.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject, parseJson, whyNotJson } from '../../json.js';
import { success } from '../envelope.js';
import { contentHeaders } from '../files/content-headers.js';
import { checked, given, PAGE_BYTES, text, versionQuery } from '../http/input.js';
import { readMultipart, type UploadedFile } from '../http/read-body.js';
import { type RouteGroup, route } from '../http/route.js';
import { type AgentInput, readAgentInput } from './agent-input.js';
import { createdAgentShape, insertAgent } from './agents.js';
import { findAgent } from './find-agent.js';

/** Files of one import. */
const MAX_FILES = 100;

const exportQuery = versionQuery.extend({
  to: checked('to', '"v1" or "v2"', (given) => (['v1', 'v2'] as const).find((version) => version === given)).describe(
    '"v1" or "v2"; default: as it was written.',
  ),
});
const importQuery = z.object({ title: text.describe('For a single file; default: its name.') });

export const agentFileRoutes: RouteGroup = {
  name: 'agent files',
  description: 'Canvases as files.',
  routes: [
    route('GET /agents/:id/export', {
      summary: 'Gives the draft or a version as a file',
      reserves: PAGE_BYTES,
      finds: findAgent,
      query: exportQuery,
      answers: 'file',
      // As it was written, or in the form `to`. @throws EngineError NOT_FOUND, BAD_REQUEST; DOCUMENT_* when it cannot be converted.
      handle: async ({ tenant, query, exchange, found: agent }, parts) => {
        const dsl = await findDocument(parts.stores.versions, tenant, agent, 'draft', {
          isReleased: query.release,
          ...given({ version: query.version }),
        });
        const text = formatDocument(converted(dsl, query.to));
        exchange.set(
          contentHeaders({
            mimeType: 'application/json',
            extension: 'json',
            fileName: `${agent.title}.json`,
            isInline: false,
          }),
        );
        return text;
      },
    }),
    route('POST /agents/import', {
      summary: 'Makes agents of canvas files; several give a list',
      query: importQuery,
      body: 'files',
      data: z.union([createdAgentShape, z.array(createdAgentShape)]),
      // All files are read before the first becomes an agent.
      handle: async ({ tenant, query, exchange }, parts) => {
        const views: object[] = [];
        const { uploadBytes: maxBytes, documentBytes } = parts.config;
        const flight = parts.bodies.open(
          { tenant, isPage: false },
          Number(exchange.req.headers['content-length'] ?? 0),
        );
        try {
          const files = await readMultipart(exchange.req, 'file', { maxBytes, maxFiles: MAX_FILES, flight });
          for (const input of await readImport(files, query.title, documentBytes))
            views.push(await insertAgent(parts, tenant, input));
        } finally {
          flight.close();
        }
        return success(views.length === 1 ? views[0] : views);
      },
    }),
  ],
};

function converted(dsl: JsonObject, to: 'v1' | 'v2' | undefined): JsonObject {
  if (to === undefined) return dsl;
  const document = parseDocument(dsl);
  return to === 'v1' ? toV1(document) : toV2(document).canvas;
}

/** Each file is titled by its name, or by `title` when it is the only one. @throws EngineError BAD_REQUEST for a file without a canvas. */
async function readImport(
  files: readonly UploadedFile[],
  title: string | undefined,
  maxBytes: number,
): Promise<readonly AgentInput[]> {
  if (files.length === 0) throw badArgument('`file` field is required.');
  if (files.length > 1 && title !== undefined) throw badArgument('With `title`, one `file` may be sent.');
  // Template files hold texts and a picture beside the canvas. All are measured before the first is decoded.
  const largest = 2 * maxBytes;
  const tooLarge = files.find(({ bytes }) => bytes.byteLength > largest);
  if (tooLarge !== undefined) throw badArgument(`${nameOf(tooLarge)} has more than ${largest} bytes.`);
  const inputs: AgentInput[] = [];
  for (const file of files) {
    // Reading one takes its time, and other requests have their turn in between.
    await setImmediate();
    inputs.push(readFile(file, title, maxBytes));
  }
  return inputs;
}

function readFile(file: UploadedFile, title: string | undefined, maxBytes: number): AgentInput {
  const text = new TextDecoder().decode(file.bytes);
  const content = parseJson(text);
  if (content === undefined) throw badArgument(`${nameOf(file)} ${whyNotJson(text)}.`);
  const dsl = isJsonObject(content) && isJsonObject(content.dsl) ? content.dsl : content;
  return readAgentInput({ title: title ?? file.name.replace(/\.json$/i, ''), dsl }, maxBytes);
}

function nameOf({ name }: UploadedFile): string {
  return `The file ${JSON.stringify(name)}`;
}
