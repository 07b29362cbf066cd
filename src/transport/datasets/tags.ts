/** The tags of the chunks of datasets: counted, taken out, renamed. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { success } from '../envelope.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { anything } from '../ragflow/fields.js';
import type { ServerParts } from '../server-parts.js';
import { datasetsQuery, knowledgeOf, ownDataset, ownDatasets, refused } from './find.js';

/** Tags that one request takes out, and the longest that one can become, in UTF-16 units. */
const MAX_TAGS = 1_000;
const MAX_TAG = 1_000;

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
      query: datasetsQuery,
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
        if (tags.length > MAX_TAGS) throw badArgument(`tags must contain at most ${MAX_TAGS} strings`);
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
        if (to.length > MAX_TAG) throw badArgument(`to_tag must have at most ${MAX_TAG} characters`);
        await base.tags.rename(tenant, dataset.id, from, to.trim());
        return success(true);
      },
    }),
  ],
};

async function aggregate({ tenant, query }: RouteRequest<never, typeof datasetsQuery>, parts: ServerParts) {
  const base = await knowledgeOf(parts);
  const merged = new Map<string, number>();
  for (const id of await ownDatasets(base, tenant, query, (one) => `No authorization for dataset '${one}'`)) {
    for (const { tag, count } of await base.tags.counts(tenant, id)) merged.set(tag, (merged.get(tag) ?? 0) + count);
  }
  return success([...merged].map(([value, count]) => ({ value, count })));
}
