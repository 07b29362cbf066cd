/** Terms and patterns that the rules of a dataset's graph have beside those of the package. */
import { z } from 'zod';
import type { DatasetRules } from '../../knowledge/graph/knowledge-graphs.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { listField, objectField, textField } from '../ragflow/fields.js';
import { string } from '../shapes.js';
import { lacksPermission, ownDataset } from './find.js';

const find = ownDataset(lacksPermission);

const rulesBody = z.strictObject({
  terms: listField(objectField({ name: textField(), type: textField(), aliases: listField(textField()).optional() }))
    .optional()
    .describe('Names that are known wherever they stand, at most 2,000; default none.'),
  patterns: listField(objectField({ pattern: textField(), relation: textField() }))
    .optional()
    .describe('Patterns in the syntax of RE2 with the groups `source` and `target`, at most 100; default none.'),
});

const rulesShape = z.looseObject({
  terms: z.array(z.looseObject({ name: string, type: string, aliases: z.array(string) })),
  patterns: z.array(z.looseObject({ pattern: string, relation: string })),
  to_build: z.boolean().describe('Whether there are chunks that these rules have not read: the next build reads them.'),
});

export const graphRuleRoutes: RouteGroup = {
  name: 'graphs',
  description: 'Graphs of datasets: what names in documents have to do with each other.',
  routes: [
    strictRoute('GET /datasets/:dataset/graph/rules', {
      summary: 'Terms and patterns of the dataset, and whether they are still to be read by',
      finds: find,
      data: rulesShape,
      handle: async ({ tenant, found: { base, dataset } }) =>
        success(told(await base.graphs.rules(tenant, dataset.id))),
    }),
    strictRoute('PUT /datasets/:dataset/graph/rules', {
      summary: 'Replaces the terms and patterns of the dataset; the next build reads all chunks by them',
      finds: find,
      body: rulesBody,
      data: rulesShape,
      handle: async ({ tenant, body, found: { base, dataset } }) =>
        success(told(await base.graphs.setRules(tenant, dataset.id, body))),
    }),
  ],
};

function told({ terms, patterns, isToBuild }: DatasetRules) {
  return { terms, patterns, to_build: isToBuild };
}
