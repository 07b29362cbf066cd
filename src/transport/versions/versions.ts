/** Published versions of an agent: list, publish, read, delete. */
import { z } from 'zod';
import { noVersion } from '../../hosting/refusals.js';
import { listVersionSummaries, type VersionRecord, type VersionSummary } from '../../records/versions.js';
import { readDsl } from '../agents/agent-input.js';
import { findAgent } from '../agents/find-agent.js';
import { success, successPage } from '../envelope.js';
import { listFitting, PAGE_BYTES, pageOf, pageQuery, readQuery, text, textUpTo } from '../http/input.js';
import { type PathRequest, type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, defineView, string, timeFields } from '../shapes.js';
import { publish, syncPublished } from './publish.js';

/** The most versions of a list that is not divided into pages. */
const MOST = 1_000;

const versionItem = defineView<VersionSummary>()({
  id: [string, 'id'],
  title: [string, 'title'],
  description: [string.nullable(), 'description'],
  user_canvas_id: [string.describe('Id of the agent.'), 'agentId'],
  // There are no others: saving a draft makes no version.
  release: [z.boolean(), () => true],
  ...timeFields('createdAt', 'createdAt'),
});

const versionView = defineView<VersionRecord>()({ ...versionItem.fields, dsl: [anyObject, 'dsl'] });

const versionsQuery = z.object({
  page: text.describe('From 1; default: everything.'),
  page_size: text.describe('At most 100; default: everything.'),
});

/** What to publish. */
const publicationSchema = z.looseObject({
  title: z
    .string({ error: 'expected a text' })
    .max(255)
    .nullish()
    .describe('Title of the version; default: tenant, agent and time.'),
  description: textUpTo(65_536).describe('What is new in it.'),
  dsl: z.unknown().optional().describe('The document, an object or its JSON text; default: the draft.'),
});

export const versionRoutes: RouteGroup = {
  name: 'versions',
  description: 'Published documents of an agent; none is ever changed.',
  routes: [
    route('GET /agents/:id/versions', {
      summary: 'Lists versions, newest first',
      reserves: PAGE_BYTES,
      finds: findAgent,
      query: versionsQuery,
      answers: 'page',
      data: z.array(versionItem.shape),
      handle: async ({ tenant, query, found }, parts) => {
        const isPaged = query.page !== undefined || query.page_size !== undefined;
        const page = isPaged ? pageOf(readQuery(pageQuery, query)) : { offset: 0, limit: MOST, maxBytes: PAGE_BYTES };
        const { items, total } = await listFitting({ ...page, agentId: found.id }, (one) =>
          listVersionSummaries(parts.stores.versions, tenant, one),
        );
        return successPage(items.map(versionItem.of), total, page);
      },
    }),
    ...(['versions', 'publish'] as const).map((name) =>
      route(`POST /agents/:id/${name}`, {
        summary:
          name === 'publish'
            ? 'The same as POST …/versions'
            : 'Publishes the draft or the given document; the draft stays as it is',
        finds: findAgent,
        body: publicationSchema,
        data: versionView.shape,
        handle: async ({ tenant, body, found }, parts) => {
          const { title, description, dsl } = body;
          const version = await publish(parts, tenant, found, {
            ...(title ? { title } : {}),
            ...(description ? { description } : {}),
            ...(dsl === undefined || dsl === null ? {} : { dsl: readDsl(dsl, parts.config.documentBytes) }),
          });
          return success(versionView.of(version));
        },
      }),
    ),
    route('GET /agents/:id/versions/:version', {
      summary: 'Reads a version',
      reserves: PAGE_BYTES,
      finds: findVersion,
      data: versionView.shape,
      handle: ({ found }) => success(versionView.of(found)),
    }),
    route('DELETE /agents/:id/versions/:version', {
      summary: 'Deletes a version; the newest of the others is what runs from then on',
      finds: findVersion,
      data: z.boolean(),
      handle: async ({ tenant, found: { id, agentId } }, parts) => {
        if (!(await parts.stores.versions.delete(tenant, id, agentId))) throw noVersion();
        await syncPublished(parts, tenant, agentId);
        return success(true);
      },
    }),
  ],
};

async function findVersion(request: PathRequest<'id' | 'version'>, parts: ServerParts): Promise<VersionRecord> {
  const agent = await findAgent(request, parts);
  const version = await parts.stores.versions.find(request.tenant, request.params.version, agent.id);
  if (version === undefined) throw noVersion();
  return version;
}
