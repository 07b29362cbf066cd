import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { type Page, type Query, type Repository, resource } from './repository.js';

const versionSchema = z.object({
  id: z.string(),
  agentId: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  dsl: jsonObject,
  createdAt: z.number(),
});

/** A published document; never changed after it was inserted. Times are milliseconds since 1970. */
export type VersionRecord = Readonly<z.infer<typeof versionSchema>>;

const versionSummarySchema = versionSchema.omit({ dsl: true });

/** A version without its document, as lists give it. */
export type VersionSummary = Readonly<z.infer<typeof versionSummarySchema>>;

/** Which versions, newest first. */
export interface VersionQuery extends Query {
  readonly agentId: string;
}

/** Where the versions of agents are stored. */
export type VersionStore = Pick<
  Repository<VersionRecord, VersionQuery>,
  'insert' | 'find' | 'list' | 'select' | 'delete' | 'deleteOf'
>;

/** Versions without their documents, which are not read. */
export async function listVersionSummaries(
  versions: Pick<VersionStore, 'select'>,
  tenant: string,
  query: VersionQuery,
): Promise<Page<VersionSummary>> {
  const { items, total } = await versions.select(tenant, query, ['summary']);
  return { items: items.map(({ summary }) => versionSummarySchema.parse(summary)), total };
}

/** The newest version of an agent; of the same time, the one that was inserted last. */
export async function latestVersion(
  versions: Pick<VersionStore, 'list'>,
  tenant: string,
  agentId: string,
): Promise<VersionRecord | undefined> {
  const { items } = await versions.list(tenant, { agentId, offset: 0, limit: 1 });
  return items[0];
}

export const versions = resource<VersionRecord, VersionQuery>({
  name: 'versions',
  singular: 'Version',
  schema: versionSchema,
  id: ({ id }) => id,
  columns: {
    agent: { type: 'text', of: ({ agentId }) => agentId },
    created_at: { type: 'number', of: ({ createdAt }) => createdAt },
    summary: { type: 'json', of: ({ dsl: _, ...others }) => others },
  },
  owner: { resource: 'agents', column: 'agent' },
  filters: { agentId: ['is', 'agent'] },
  orders: { createdAt: 'created_at' },
  indexes: [['tenant', 'agent', 'created_at', 'position']],
  quota: { name: 'versions', per: 'owner' },
  memory: { maxCount: 10_000, maxBytes: 256 * 1024 ** 2 },
});
