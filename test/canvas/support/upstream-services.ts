/** What canvases of others use beside models: every upstream of every tool is a server in this process. */
import { onTestFinished } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { createEmbeddedRunner } from '../../../src/adapters/sandbox/embedded/embedded-runner.js';
import type { DatabaseSession } from '../../../src/adapters/sql/session.js';
import type { Services } from '../../../src/components/services.js';
import { tools } from '../../../src/tools/index.js';
import { type Reply, type Routes, startUpstream } from '../../tools/support/upstream.js';

const RESULTS = [{ url: 'https://a.example/', title: 'A', content: 'alpha', raw_content: 'alpha', score: 1 }];
const PAGE: Reply = { text: '<html><body><h1>A</h1><p>alpha</p></body></html>', type: 'text/html' };

/** What stands for every upstream of every tool. */
const UPSTREAM: Routes = {
  'POST /search': { json: { results: RESULTS } },
  'POST /extract': { json: { results: RESULTS, failed_results: [] } },
  'GET /search.json': { json: { organic_results: [{ title: 'A', link: 'https://a.example/', snippet: 'alpha' }] } },
  'GET /html/': PAGE,
  'GET /w/api.php': {
    json: { query: { pages: { 1: { index: 1, title: 'A', extract: 'alpha', fullurl: 'https://a' } } } },
  },
  'GET /v1/finance/search': { json: { quotes: [{ symbol: 'NVDA' }], news: [] } },
  'GET /': { status: 404, headers: { 'set-cookie': 'A3=x; Path=/' } },
  'GET /v1/test/getcrumb': { text: 'crumb' },
  'GET /v10/finance/quoteSummary/NVDA': {
    json: { quoteSummary: { result: [{ balanceSheetHistory: {} }], error: null } },
  },
};

/** A database that has one answer. */
const SESSION: DatabaseSession = {
  dialect: 'mysql',
  query: async () => ({ columns: ['answer'], rows: [[42]], isCut: false }),
  isAlive: true,
  close: async () => {},
  abandon: () => {},
};

/** Gone with the test. */
export async function upstreamServices(): Promise<Omit<Services, 'models'>> {
  const { origin } = await startUpstream(UPSTREAM);
  const code = createEmbeddedRunner({ maxSpares: 0 });
  onTestFinished(() => code.close());
  const passage = { id: 'p', content: 'alpha', documentId: 'd', documentName: 'D', datasetId: 'k', similarity: 1 };
  return {
    http: createEgressClient({ allowPrivateNetwork: true }),
    code,
    retriever: { search: async () => [passage] },
    databases: { kinds: ['mysql'], open: async () => SESSION },
    tools: { baseUrls: Object.fromEntries(tools.map((tool) => [tool.name, origin])) },
  } as unknown as Services;
}
