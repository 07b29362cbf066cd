/** The graphs of datasets: what a build costs, builds, a part to be drawn, searches, names that are one. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import { buildRequestSchema } from '../../knowledge/graph/build/build-options.js';
import { toldBuild } from '../../knowledge/graph/build/graph-builds.js';
import { GRAPH_SEARCHES, type GraphHit, type GraphQuery } from '../../knowledge/graph/graph-search.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import {
  flagField,
  flagParameter,
  listField,
  numberField,
  objectField,
  oneOf,
  parameter,
  parameters,
  textField,
  wholeField,
  wholeParameter,
} from '../ragflow/fields.js';
import { anyObject, defineView, string, whole } from '../shapes.js';
import { buildsOf, lacksPermission, missing, ownDataset } from './find.js';
import { ragflowGraph } from './graph-index.js';

const find = ownDataset(lacksPermission);

/** Nodes of a part, and merges of a list. */
const MAX_NODES = 1_000;
const MAX_MERGES = 500;

const layers = oneOf(['links', 'rules', 'model']);

const buildBody = z.strictObject({
  layers: listField(layers).optional().describe('links, rules, model; default links and rules.'),
  budget: objectField({
    tokens: numberField(0, 1e12).optional(),
    calls: numberField(0, 1e9).optional(),
    money: numberField(0, 1e9).optional(),
    ms: numberField(0, 1e12).optional(),
  })
    .optional()
    .describe('What models may spend; what is absent has no bound.'),
  entity_types: listField(textField({ least: 1, most: 100 }))
    .optional()
    .describe('Types that a model chooses from.'),
  chunks: listField(textField({ least: 1, most: 100 }))
    .optional()
    .describe('Ids of the chunks that are read; others stay as they are. Default: all.'),
  reports: flagField()
    .optional()
    .describe('Whether a model writes reports on communities; default with the layer model.'),
  model: textField({ most: 200 }).optional().describe('Id of the model; default the default one.'),
});

const searchBody = z.strictObject({
  kind: oneOf(GRAPH_SEARCHES).default('local'),
  question: textField({ least: 1, most: 10_000, isTrimmed: true }),
  limit: wholeField(1, 100).optional(),
  max_tokens: wholeField(1, 1_000_000).optional(),
  between: listField(textField({ least: 1, most: 200 }))
    .optional()
    .describe('Names of the two ends of `path`.'),
  level: wholeField(0, 16).optional(),
  budget: objectField({ tokens: numberField(0, 1e12).optional(), calls: numberField(0, 1e9).optional() })
    .optional()
    .describe('What a model may spend on `global` and `drift`; without it they work by rules.'),
  model: textField({ most: 200 }).optional().describe('Id of the model; default the default one.'),
  llm_id: textField({ most: 200 }).optional().describe('Another name of `model`.'),
});

const namesBody = z.strictObject({ names: listField(textField({ least: 1, most: 120 })).describe('Two names.') });

const showQuery = z.looseObject({
  around: parameter.describe('Id, name or alias of an entity.'),
  depth: wholeParameter(0, 1, 5),
  types: parameters,
  community: parameter,
  limit: wholeParameter(1, 200, MAX_NODES),
});

const costQuery = z.looseObject({
  layers: parameters,
  model: parameter,
  reports: flagParameter(undefined).describe('Whether a model writes reports; default with the layer model.'),
  sample: flagParameter(false).describe('Whether the model reads ten chunks, so that its answers are measured.'),
});

const hitView = defineView<GraphHit>()({
  id: [string, ({ chunk }) => chunk.id],
  content: [string, ({ chunk }) => (chunk.context === '' ? chunk.text : `${chunk.context}\n${chunk.text}`)],
  document_id: [string, ({ document }) => document.id],
  document_keyword: [string.describe('Name of the document.'), ({ document }) => document.name],
  dataset_id: [string, ({ chunk }) => chunk.datasetId],
  page: [whole.nullable(), ({ chunk }) => chunk.page],
  start: [whole.nullable().describe('In the text of the document, in UTF-16 units.'), ({ chunk }) => chunk.start],
  end: [whole.nullable(), ({ chunk }) => chunk.end],
  score: [z.number().describe('0 to 1.'), 'score'],
  why: [
    anyObject.describe('Entities, steps of the way, and the community that led to it.'),
    ({ why }) => why as unknown as JsonObject,
  ],
});

export const graphRoutes: RouteGroup = {
  name: 'graphs',
  description: 'Graphs of datasets: what names in documents have to do with each other.',
  routes: [
    strictRoute('GET /datasets/:dataset/graph/cost', {
      summary: 'What a build would take: chunks, calls, tokens, money, time; nothing is started',
      finds: find,
      query: costQuery,
      data: anyObject,
      handle: async ({ tenant, query, exchange, found: { dataset } }, parts) => {
        const given = query.layers.length === 0 ? {} : { layers: query.layers };
        const request = buildRequestSchema.pick({ layers: true, model: true, reports: true });
        const { model, reports, sample } = query;
        const asked = parsedBuild(request, {
          ...given,
          ...(model !== undefined && { model }),
          ...(reports !== undefined && { reports }),
        });
        const builds = await buildsOf(parts);
        const told = await forClient(
          exchange,
          fromAbortable((signal) => builds.cost(tenant, dataset.id, { ...asked, sample }, signal)),
        );
        return told && success({ ...told });
      },
    }),
    strictRoute('POST /datasets/:dataset/graph', {
      summary: 'Begins to build the graph; what was read before is not read again',
      finds: find,
      body: buildBody,
      data: anyObject,
      handle: async ({ tenant, body, found: { dataset } }, parts) => {
        const request = parsedBuild(buildRequestSchema, body);
        return success(told(await (await buildsOf(parts)).start(tenant, dataset.id, request)));
      },
    }),
    strictRoute('GET /datasets/:dataset/graph/build', {
      summary: 'How far the last build is',
      finds: find,
      data: anyObject,
      handle: async ({ tenant, found: { dataset } }, parts) => {
        const build = await (await buildsOf(parts)).find(tenant, dataset.id);
        if (build === undefined) throw missing(`The graph of dataset ${dataset.id} was never built.`);
        return success(told(build));
      },
    }),
    strictRoute('POST /datasets/:dataset/graph/cancel', {
      summary: 'Stops the build; what was read stays',
      finds: find,
      data: z.boolean(),
      handle: async ({ tenant, found: { dataset } }, parts) =>
        success(await (await buildsOf(parts)).cancel(tenant, dataset.id)),
    }),
    strictRoute('GET /datasets/:dataset/graph', {
      summary: 'A part of the graph to be drawn, and the whole in the form of RAGFlow',
      finds: find,
      query: showQuery,
      data: z.looseObject({ graph: anyObject, mind_map: anyObject }),
      handle: async ({ tenant, query, found: { base, dataset } }) => {
        if (!(await base.graphs.has(tenant, dataset.id))) return success({ graph: {}, mind_map: {} });
        const { around, depth, types, community, limit } = query;
        const part = await base.graphs.ask(tenant, dataset.id, {
          ...{ kind: 'show', depth, types, limit },
          around: around === '' ? undefined : around,
          community: community === '' ? undefined : community,
        });
        return success({ ...(await ragflowGraph(base.graphs, tenant, dataset.id)), ...part });
      },
    }),
    strictRoute('POST /datasets/:dataset/graph/search', {
      summary: 'What the graph knows of a question: passages with the reason why each is there',
      finds: find,
      body: searchBody,
      data: z.looseObject({ hits: z.array(hitView.shape) }),
      handle: async ({ tenant, body, exchange, found: { base, dataset } }) => {
        const {
          kind,
          question,
          limit,
          max_tokens: maxTokens,
          between,
          level,
          budget,
          llm_id: llmId,
          model = llmId,
        } = body;
        const query: GraphQuery = {
          ...{ kind, question, limit, maxTokens, level, budget, model, datasetIds: [dataset.id] },
          ...(between !== undefined && { between: [between[0] ?? '', between[1] ?? ''] }),
        };
        const found = await forClient(
          exchange,
          fromAbortable((signal) => base.graphs.search(tenant, query, signal)),
        );
        if (found === undefined) return undefined;
        const { hits, isStale, isDegraded, ...others } = found;
        return success({
          ...others,
          is_stale: isStale,
          is_degraded: isDegraded,
          hits: hits.map((hit) => hitView.of(hit)),
        });
      },
    }),
    strictRoute('GET /datasets/:dataset/graph/merges', {
      summary: 'Names that were taken for one, names that are perhaps one, and what was decided by hand',
      finds: find,
      data: anyObject,
      handle: async ({ tenant, found: { base, dataset } }) => {
        const { merges, maybe } = await base.graphs.ask(tenant, dataset.id, { kind: 'merges', limit: MAX_MERGES });
        return success({ merges, maybe, decisions: await base.graphs.decisions(tenant, dataset.id) });
      },
    }),
    strictRoute('POST /datasets/:dataset/graph/merge', {
      summary: 'Takes two names for one',
      finds: find,
      body: namesBody,
      data: anyObject,
      handle: async ({ tenant, body, found: { base, dataset } }) =>
        success({ ...(await base.graphs.decide(tenant, dataset.id, 'same', body.names)) }),
    }),
    strictRoute('POST /datasets/:dataset/graph/split', {
      summary: 'Keeps two names apart',
      finds: find,
      body: namesBody,
      data: anyObject,
      handle: async ({ tenant, body, found: { base, dataset } }) =>
        success({ ...(await base.graphs.decide(tenant, dataset.id, 'apart', body.names)) }),
    }),
    strictRoute('DELETE /datasets/:dataset/graph/decisions/:decision', {
      summary: 'Undoes a merge or a split',
      finds: find,
      data: z.literal(true),
      handle: async ({ tenant, params, found: { base, dataset } }) => {
        if (await base.graphs.undo(tenant, dataset.id, params.decision)) return success(true);
        throw missing(`There is no decision "${params.decision}" in the graph of dataset ${dataset.id}.`);
      },
    }),
  ],
};

/** Reads what was checked field by field before. @throws EngineError BAD_REQUEST */
function parsedBuild<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw badArgument(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
}

function told(build: Parameters<typeof toldBuild>[0]) {
  const {
    id,
    state,
    request,
    done,
    of,
    spent,
    missing: lacking,
    progress,
    message,
    startedAt,
    finishedAt,
  } = toldBuild(build);
  return {
    ...{ id, state, progress, message, layers: request.layers, budget: request.budget, done, of, spent },
    ...{ missing: lacking, started_at: startedAt, finished_at: finishedAt },
  };
}
