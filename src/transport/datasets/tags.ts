/** The tags of the chunks of datasets: counted, taken out, renamed. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { success } from '../envelope.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { anything, parameters } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { knowledgeOf, missing, ownDataset, refused } from './find.js';

/** Datasets of one request. */
const MAX_DATASETS = 100;

const find = ownDataset(() => 'no authorization');

const removalBody = z.looseObject({ tags: anything.describe('Tags that are taken from all chunks.') });

const renameBody = z.looseObject({
  from_tag: anything.describe('The tag as it is.'),
  to_tag: anything.describe('The tag as it is to be.'),
});

export const tagRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    looseRoute('GET /datasets/tags/aggregation', {
      summary: 'How many chunks of several datasets have each tag',
      query: z.looseObject({ dataset_ids: parameters }),
      data: z.array(z.object({ value: z.string(), count: z.number() })),
      handle: aggregate,
    }),
    looseRoute('GET /datasets/:dataset/tags', {
      summary: 'How many chunks of a dataset have each tag, as pairs of tag and number',
      finds: find,
      data: z.array(z.tuple([z.string(), z.number()])),
      handle: async ({ tenant, found: { base, dataset } }) =>
        success((await base.tags.counts(tenant, dataset.id)).map(({ tag, count }) => [tag, count])),
    }),
    looseRoute('DELETE /datasets/:dataset/tags', {
      summary: 'Takes tags from all chunks of a dataset',
      finds: find,
      body: removalBody,
      handle: async ({ tenant, body: { tags }, found: { base, dataset } }) => {
        if (tags === undefined || tags === null) throw refused('Lack of tags in request body');
        if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) {
          throw badArgument('tags must be a list of strings');
        }
        await base.tags.remove(tenant, dataset.id, tags);
        return success(true);
      },
    }),
    looseRoute('PUT /datasets/:dataset/tags', {
      summary: 'Gives a tag of all chunks of a dataset another name',
      finds: find,
      body: renameBody,
      handle: async ({ tenant, body: { from_tag: from, to_tag: to }, found: { base, dataset } }) => {
        if (from === undefined || to === undefined) throw refused('Lack of from_tag or to_tag in request body');
        if (typeof from !== 'string' || typeof to !== 'string')
          throw badArgument('from_tag and to_tag must be strings');
        if (from.trim() === '' || to.trim() === '') throw badArgument('from_tag and to_tag must not be empty');
        await base.tags.rename(tenant, dataset.id, from, to.trim());
        return success(true);
      },
    }),
  ],
};

async function aggregate({ tenant, query }: RouteRequest<never, z.ZodObject>, parts: ServerParts) {
  const ids = (query as { readonly dataset_ids: readonly string[] }).dataset_ids;
  if (ids.length === 0) throw refused('Lack of dataset_ids in query parameters');
  if (ids.length > MAX_DATASETS) throw badArgument(`dataset_ids must contain at most ${MAX_DATASETS} IDs`);
  const base = await knowledgeOf(parts);
  const merged = new Map<string, number>();
  for (const id of new Set(ids)) {
    if ((await base.datasets.find(tenant, id)) === undefined) throw missing(`No authorization for dataset '${id}'`);
    for (const { tag, count } of await base.tags.counts(tenant, id)) merged.set(tag, (merged.get(tag) ?? 0) + count);
  }
  return success([...merged].map(([value, count]) => ({ value, count })));
}
