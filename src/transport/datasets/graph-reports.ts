/** Reports on the communities of a graph. */
import { z } from 'zod';
import type { CommunityReport } from '../../knowledge/graph/graph-answers.js';
import { success } from '../envelope.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { wholeParameter } from '../ragflow/fields.js';
import { defineView, string, whole } from '../shapes.js';
import { lacksPermission, ownDataset } from './find.js';

const MAX_REPORTS = 500;

const reportQuery = z.looseObject({
  level: wholeParameter(0, 0, 16).describe('From 0, the coarsest.'),
  limit: wholeParameter(1, 50, MAX_REPORTS),
});

const reportView = defineView<CommunityReport>()({
  community: [string, 'community'],
  level: [whole, 'level'],
  size: [whole.describe('Entities.'), 'size'],
  title: [string, 'title'],
  summary: [string, 'summary'],
  rating: [z.number().describe('0 to 10.'), 'rating'],
  findings: [
    z.array(z.looseObject({ summary: string, chunks: z.array(string) })),
    ({ findings }) => findings.map(({ summary, chunks }) => ({ summary, chunks: [...chunks] })),
  ],
  by: [string.describe('rules or model.'), 'by'],
  is_stale: [
    z.boolean().describe('Whether a source came or went since a model wrote it.'),
    ({ isStale = false }) => isStale,
  ],
});

export const graphReportRoutes: RouteGroup = {
  name: 'graphs',
  description: 'Graphs of datasets: what names in documents have to do with each other.',
  routes: [
    strictRoute('GET /datasets/:dataset/graph/reports', {
      summary: 'Reports on the communities of a level, the largest first',
      finds: ownDataset(lacksPermission),
      query: reportQuery,
      data: z.looseObject({ reports: z.array(reportView.shape), of: whole }),
      handle: async ({ tenant, query: { level, limit }, found: { base, dataset } }) => {
        const { reports, of } = await base.graphs.ask(tenant, dataset.id, { kind: 'reports', level, limit });
        return success({ reports: reports.map((report) => reportView.of(report)), of });
      },
    }),
  ],
};
