/** What RAGFlow's clients ask of graphs of knowledge, summaries and mind maps, of which there are none: they get empty ones, and no new ones. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { parameter } from '../ragflow/fields.js';
import { anyObject } from '../shapes.js';
import { ownDataset } from './find.js';

const KINDS: ReadonlySet<string> = new Set(['graph', 'raptor', 'mindmap']);

const kindQuery = z.looseObject({ type: parameter.describe('graph, raptor or mindmap.') });

const find = ownDataset(() => 'no authorization');

export const noGraphRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    looseRoute('GET /datasets/:dataset/graph', {
      summary: 'An empty graph',
      finds: find,
      data: z.looseObject({ graph: anyObject, mind_map: anyObject }),
      handle: () => success({ graph: {}, mind_map: {} }),
    }),
    looseRoute('POST /datasets/:dataset/index', {
      summary: 'Refuses to make a graph',
      finds: find,
      query: kindQuery,
      handle: ({ query }) => {
        const kind = kindOf(query.type);
        const message = `This server makes no ${kind} of a dataset; passages are found by words, vectors and titles.`;
        throw new EngineError('NOT_FOUND', message);
      },
    }),
    looseRoute('GET /datasets/:dataset/index', {
      summary: 'Nothing is being made',
      finds: find,
      query: kindQuery,
      data: z.looseObject({}),
      handle: ({ query }) => {
        kindOf(query.type);
        return success({});
      },
    }),
    looseRoute('DELETE /datasets/:dataset/:index', {
      summary: 'There is nothing to delete',
      finds: find,
      data: z.literal(true),
      handle: ({ params }) => {
        kindOf(params.index);
        return success(true);
      },
    }),
  ],
};

function kindOf(type: string | undefined): string {
  const kind = (type ?? '').toLowerCase();
  if (KINDS.has(kind)) return kind;
  throw badArgument(`Invalid index type '${kind.slice(0, 100)}'`);
}
