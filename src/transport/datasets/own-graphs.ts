/** Graphs that users give, and graphs as files. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { GRAPH_LAYERS, type GraphLayer } from '../../knowledge/graph/facts.js';
import {
  FORM_TYPES,
  formOfType,
  GRAPH_FORMS,
  type GraphForm,
  MAX_GRAPH_BYTES,
} from '../../knowledge/graph/given/graph-forms.js';
import { success } from '../envelope.js';
import { contentHeaders } from '../files/content-headers.js';
import { readBytes } from '../http/read-body.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { parameter, parameters } from '../ragflow/fields.js';
import { whole } from '../shapes.js';
import { lacksPermission, ownDataset } from './find.js';

const find = ownDataset(lacksPermission);

/** UTF-16 units in which the first element of a text of XML stands. */
const BEGINNING = 10_000;

const FORMS = `${GRAPH_FORMS.join(', ')}.`;

const putQuery = z.looseObject({ format: parameter.describe(`${FORMS} Default: what the type of the content says.`) });

const exportQuery = z.looseObject({
  format: parameter.describe(`${FORMS} Default json.`),
  layers: parameters.describe(`${GRAPH_LAYERS.join(', ')}. Default all.`),
});

export const ownGraphRoutes: RouteGroup = {
  name: 'graphs',
  description: 'Graphs of datasets: what names in documents have to do with each other.',
  routes: [
    strictRoute('PUT /datasets/:dataset/graph', {
      summary: 'Puts nodes and edges of a user in place of those that were given before',
      finds: find,
      query: putQuery,
      body: 'anything',
      data: z.looseObject({ nodes: whole, edges: whole, chunks: whole.describe('Chunks that are named, each once.') }),
      handle: async ({ tenant, query, exchange, found: { base, dataset } }, parts) => {
        const { req } = exchange;
        const flight = parts.bodies.open(
          { tenant, isPage: false },
          Math.min(MAX_GRAPH_BYTES, Number(req.headers['content-length'] ?? 0)),
        );
        try {
          const text = textIn(await readBytes(req, MAX_GRAPH_BYTES, { flight }));
          const form = query.format === undefined ? formOfBody(req, text) : formOf(query.format);
          return success({ ...(await base.graphs.give(tenant, dataset.id, form, text)) });
        } finally {
          flight.close();
        }
      },
    }),
    strictRoute('GET /datasets/:dataset/graph/export', {
      summary: 'The whole graph as a file, which can be put again',
      finds: find,
      query: exportQuery,
      answers: 'file',
      handle: async ({ tenant, query, exchange, found: { base, dataset } }) => {
        const form = formOf(query.format ?? 'json');
        const layers = query.layers.length === 0 ? undefined : query.layers.map(layerOf);
        const { text } = await base.graphs.ask(tenant, dataset.id, { kind: 'export', form, layers });
        const fileName = `graph-${dataset.id}.${form}`;
        exchange.set(contentHeaders({ mimeType: FORM_TYPES[form], extension: form, fileName, isInline: false }));
        exchange.body = Buffer.from(text);
      },
    }),
  ],
};

function formOf(given: string): GraphForm {
  const form = GRAPH_FORMS.find((one) => one === given);
  if (form !== undefined) return form;
  throw badArgument(`\`format\` must be one of ${GRAPH_FORMS.join(', ')}; received "${given.slice(0, 100)}".`);
}

function layerOf(given: string): GraphLayer {
  const layer = GRAPH_LAYERS.find((one) => one === given);
  if (layer !== undefined) return layer;
  throw badArgument(`\`layers\` takes ${GRAPH_LAYERS.join(', ')}; received "${given.slice(0, 100)}".`);
}

function formOfBody({ headers }: IncomingMessage, text: string): GraphForm {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const form = formOfType(type, text.slice(0, BEGINNING));
  if (form !== undefined) return form;
  const types = Object.values(FORM_TYPES).join(', ');
  throw badArgument(
    `A graph has one of the types ${types}, or names its \`format\`; received "${type.slice(0, 100)}".`,
  );
}

/** Without the mark that some programs begin a text with. */
function textIn(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badArgument('A graph is text in UTF-8; what was received is not.');
  }
}
