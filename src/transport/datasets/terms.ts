/** The terms of a dataset that mean the same, by which questions to it are expanded. */
import { z } from 'zod';
import { readTerms } from '../../knowledge/base/terms.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { lacksPermission, ownDataset } from './find.js';

const PAIRS =
  'Pairs of terms, such as `[["泵", "pump"]]`, beside those of the package and of the server; at most 2,000.';

const termsShape = z.object({ terms: z.array(z.array(z.string())).describe(PAIRS) });

const termsBody = z.strictObject({ terms: z.unknown().describe(PAIRS) });

const find = ownDataset(lacksPermission);

export const termRoutes: RouteGroup = {
  name: 'datasets',
  description: 'Datasets: documents that are searched together.',
  routes: [
    strictRoute('GET /datasets/:dataset/terms', {
      summary: 'Terms that mean the same in a dataset',
      finds: find,
      data: termsShape,
      handle: ({ found: { dataset } }) => success({ terms: dataset.terms ?? [] }),
    }),
    strictRoute('PUT /datasets/:dataset/terms', {
      summary: 'Replaces the terms of a dataset; the next search finds by them',
      finds: find,
      body: termsBody,
      data: termsShape,
      handle: async ({ tenant, body, found: { base, dataset } }) => {
        const terms = readTerms(body.terms, 'The terms');
        await base.datasets.update(tenant, dataset.id, { terms });
        return success({ terms });
      },
    }),
  ],
};
