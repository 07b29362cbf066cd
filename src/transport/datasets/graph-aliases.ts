/** Other names of the entities of a graph, added by hand. */
import { z } from 'zod';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { textField } from '../ragflow/fields.js';
import { string } from '../shapes.js';
import { lacksPermission, missing, ownDataset } from './find.js';

const find = ownDataset(lacksPermission);

const aliasShape = z.looseObject({ id: string, entity: string.describe('Name of the entity.'), alias: string });

const aliasBody = z.strictObject({
  entity: textField({ least: 1, most: 300 }).describe('Id, name or alias of the entity.'),
  alias: textField({ least: 1, most: 120 }),
});

export const graphAliasRoutes: RouteGroup = {
  name: 'graphs',
  description: 'Graphs of datasets: what names in documents have to do with each other.',
  routes: [
    strictRoute('GET /datasets/:dataset/graph/aliases', {
      summary: 'Other names of entities that were added by hand',
      finds: find,
      data: z.looseObject({ aliases: z.array(aliasShape) }),
      handle: async ({ tenant, found: { base, dataset } }) =>
        success({ aliases: await base.graphs.aliases(tenant, dataset.id) }),
    }),
    strictRoute('POST /datasets/:dataset/graph/aliases', {
      summary: 'Adds another name of an entity',
      finds: find,
      body: aliasBody,
      data: aliasShape,
      handle: async ({ tenant, body: { entity, alias }, found: { base, dataset } }) =>
        success({ ...(await base.graphs.addAlias(tenant, dataset.id, entity, alias)) }),
    }),
    strictRoute('DELETE /datasets/:dataset/graph/aliases/:alias', {
      summary: 'Takes a name away that was added',
      finds: find,
      data: z.literal(true),
      handle: async ({ tenant, params, found: { base, dataset } }) => {
        if (await base.graphs.removeAlias(tenant, dataset.id, params.alias)) return success(true);
        throw missing(`There is no alias "${params.alias}" in the graph of dataset ${dataset.id}.`);
      },
    }),
  ],
};
