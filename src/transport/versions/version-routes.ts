import { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { noVersion } from '../../hosting/refusals.js';
import type { VersionRecord } from '../../records/durable-stores.js';
import { readDsl } from '../agents/agent-input.js';
import { requireAgent } from '../agents/find-agent.js';
import { success, successPage } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryText, readInput, readPage } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { publish, syncPublished } from './publish.js';
import { versionItem, versionView } from './version-view.js';

/** The versions of a list that nobody asked to have in pages. */
const MOST = 1_000;

const text = z.string({ error: 'expected a text' }).max(255).nullish();

/** What to publish. */
export const publicationSchema = z.looseObject({
  title: text.describe('Title of the version; default: tenant, agent and time.'),
  description: z.string({ error: 'expected a text' }).nullish().describe('What is new in it.'),
  dsl: z.unknown().optional().describe('The document, an object or its JSON text; default: the draft.'),
});

/** Published versions of an agent: list, publish, read, delete. */
export function versionRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents/:id/versions', (exchange) => list(parts, exchange));
    router.post('/agents/:id/versions', (exchange) => create(parts, exchange));
    router.post('/agents/:id/publish', (exchange) => create(parts, exchange));
    router.get('/agents/:id/versions/:version', async (exchange) => {
      exchange.body = success(versionView(await findVersion(parts, exchange)));
    });
    router.delete('/agents/:id/versions/:version', (exchange) => remove(parts, exchange));
  };
}

async function list(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query, state } = exchange;
  const { id } = await requireAgent(parts, exchange);
  const isPaged = queryText(query, 'page') !== undefined || queryText(query, 'page_size') !== undefined;
  const page = isPaged ? readPage(query) : { offset: 0, limit: MOST };
  const { items, total } = await parts.stores.versions.list(state.tenant, { ...page, agentId: id });
  exchange.body = successPage(items.map(versionItem), total);
}

async function create(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const agent = await requireAgent(parts, exchange);
  const { title, description, dsl } = readInput(publicationSchema, exchange.request.body ?? {});
  const version = await publish(parts, exchange.state.tenant, agent, {
    ...(title ? { title } : {}),
    ...(description ? { description } : {}),
    ...(dsl === undefined || dsl === null ? {} : { dsl: readDsl(dsl) }),
  });
  exchange.body = success(versionView(version));
}

/** What is left is as it was; the newest of it is what runs from now on. */
async function remove(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const { id, agentId } = await findVersion(parts, exchange);
  if (!(await parts.stores.versions.delete(tenant, id, agentId))) throw noVersion();
  await syncPublished(parts, tenant, agentId);
  exchange.body = success(true);
}

async function findVersion(parts: ServerParts, exchange: HttpExchange): Promise<VersionRecord> {
  const agent = await requireAgent(parts, exchange);
  const id = checkId('version_id', exchange.params.version as string);
  const version = await parts.stores.versions.find(exchange.state.tenant, id, agent.id);
  if (version === undefined) throw noVersion();
  return version;
}
