/** Graphs of datasets in RAGFlow's routes: to build one, to look at it, to delete it. Of summaries and mind maps there are none. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import { buildRequestSchema } from '../../knowledge/graph/build/build-options.js';
import { toldBuild } from '../../knowledge/graph/build/graph-builds.js';
import type { KnowledgeGraphs } from '../../knowledge/graph/knowledge-graphs.js';
import type { GraphBuildRecord } from '../../records/graph-store.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { parameter } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject } from '../shapes.js';
import { buildsOf, type FoundDataset, ownDataset } from './find.js';

const KINDS: ReadonlySet<string> = new Set(['graph', 'raptor', 'mindmap']);

const kindQuery = z.looseObject({ type: parameter.describe('graph, raptor or mindmap.') });

const find = ownDataset(() => 'no authorization');

const graphShape = z.looseObject({ graph: anyObject, mind_map: anyObject });

/** Entities and relations of a graph as RAGFlow gives them. */
const MAX_NODES = 256;

export const graphIndexRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    looseRoute('GET /datasets/:dataset/knowledge_graph', {
      summary: 'The graph of a dataset in the form of RAGFlow',
      finds: find,
      data: graphShape,
      handle: async ({ tenant, found: { base, dataset } }) =>
        success(await ragflowGraph(base.graphs, tenant, dataset.id)),
    }),
    looseRoute('DELETE /datasets/:dataset/knowledge_graph', {
      summary: 'Deletes the graph of a dataset',
      finds: find,
      data: z.literal(true),
      handle: async ({ tenant, found }, parts) => {
        await discardGraph(parts, tenant, found);
        return success(true);
      },
    }),
    looseRoute('POST /datasets/:dataset/run_graphrag', {
      summary: 'Builds the graph of a dataset by links and rules',
      finds: find,
      data: z.looseObject({ graphrag_task_id: z.string() }),
      handle: async ({ tenant, found }, parts) => {
        const { id } = await startLinks(parts, tenant, found);
        return success({ graphrag_task_id: id });
      },
    }),
    looseRoute('GET /datasets/:dataset/trace_graphrag', {
      summary: 'How far the build of the graph is',
      finds: find,
      data: z.looseObject({}),
      handle: async ({ tenant, found: { dataset } }, parts) =>
        success(traceOf(await (await buildsOf(parts)).find(tenant, dataset.id))),
    }),
    looseRoute('POST /datasets/:dataset/run_raptor', {
      summary: 'Refuses to make summaries of summaries',
      finds: find,
      handle: () => {
        throw new EngineError('NOT_FOUND', NO_RAPTOR);
      },
    }),
    looseRoute('POST /datasets/:dataset/index', {
      summary: 'Builds the graph; other kinds are refused',
      finds: find,
      query: kindQuery,
      data: z.looseObject({ task_id: z.string() }),
      handle: async ({ tenant, query, found }, parts) => {
        const kind = kindOf(query.type);
        if (kind !== 'graph') throw new EngineError('NOT_FOUND', kind === 'raptor' ? NO_RAPTOR : NO_MIND_MAP);
        return success({ task_id: (await startLinks(parts, tenant, found)).id });
      },
    }),
    looseRoute('GET /datasets/:dataset/index', {
      summary: 'What is being made',
      finds: find,
      query: kindQuery,
      data: z.looseObject({}),
      handle: async ({ tenant, query, found: { dataset } }, parts) => {
        if (kindOf(query.type) !== 'graph' || parts.openGraphBuilds === undefined) return success({});
        return success(traceOf(await (await buildsOf(parts)).find(tenant, dataset.id)));
      },
    }),
    looseRoute('DELETE /datasets/:dataset/:index', {
      summary: 'Deletes the graph; of other kinds there is nothing to delete',
      finds: find,
      data: z.literal(true),
      handle: async ({ tenant, params, found }, parts) => {
        if (kindOf(params.index) === 'graph') await discardGraph(parts, tenant, found);
        return success(true);
      },
    }),
  ],
};

const NO_RAPTOR =
  'This server makes no summaries of summaries (RAPTOR): communities of the graph and the window around passages do that work. Build the graph instead.';
const NO_MIND_MAP = 'This server makes no mind map of a dataset; a chat makes one of an answer.';

/** @throws EngineError NOT_FOUND in RAGFlow's words for a dataset without documents. */
async function startLinks(parts: ServerParts, tenant: string, { base, dataset }: FoundDataset) {
  const { counts } = (await base.datasets.find(tenant, dataset.id)) ?? {};
  if (counts?.documents === 0) throw new EngineError('NOT_FOUND', `No documents in Dataset ${dataset.id}`);
  return (await buildsOf(parts)).start(tenant, dataset.id, buildRequestSchema.parse({}));
}

/** Deletes a graph also while it is built, as RAGFlow does: the build is cancelled first. */
async function discardGraph(parts: ServerParts, tenant: string, { base, dataset }: FoundDataset): Promise<void> {
  if (parts.openGraphBuilds !== undefined) await (await buildsOf(parts)).cancel(tenant, dataset.id);
  await base.graphs.clear(tenant, dataset.id);
}

function kindOf(type: string | undefined): string {
  const kind = (type ?? '').toLowerCase();
  if (KINDS.has(kind)) return kind;
  throw badArgument(`Invalid index type '${kind.slice(0, 100)}'`);
}

/** The most mentioned entities and their relations; empty without a graph. */
export async function ragflowGraph(graphs: KnowledgeGraphs, tenant: string, datasetId: string): Promise<JsonObject> {
  if (!(await graphs.has(tenant, datasetId))) return { graph: {}, mind_map: {} };
  const { nodes, edges } = await graphs.ask(tenant, datasetId, { kind: 'show', limit: MAX_NODES });
  const all = nodes.reduce((sum, { mentions }) => sum + mentions, 0) || 1;
  return {
    graph: {
      directed: false,
      multigraph: false,
      graph: {},
      nodes: nodes.map(({ id, name, type, mentions, community }) => ({
        ...{ id: name, entity_name: name, entity_type: type, source_id: [], description: '' },
        ...{
          pagerank: mentions / all,
          rank: mentions,
          communities: community === null ? {} : { [community]: {} },
          key: id,
        },
      })),
      edges: edges.map(({ source, target, relation, weight }) => ({
        ...{ source: nameIn(nodes, source), target: nameIn(nodes, target) },
        ...{ description: relation, keywords: [relation], weight, source_id: [] },
      })),
    },
    mind_map: {},
  };
}

function nameIn(nodes: readonly { readonly id: string; readonly name: string }[], id: string): string {
  return nodes.find((node) => node.id === id)?.name ?? id;
}

/** A build as RAGFlow traces it; empty before the first. */
function traceOf(build: GraphBuildRecord | undefined): JsonObject {
  if (build === undefined) return {};
  const { id, state, progress, message, startedAt, spent } = toldBuild(build);
  const share = state === 'DONE' ? 1 : state === 'RUNNING' ? progress : -1;
  return {
    ...{ id, task_type: 'graphrag', progress: share, progress_msg: message },
    ...{ begin_at: new Date(startedAt).toISOString(), process_duration: spent.ms / 1000 },
  };
}
