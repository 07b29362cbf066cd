import { z } from 'zod';
import { jsonObject } from '../dsl/json-object.js';
import { foldCase, type Page, type Query, type Repository, resource } from './repository.js';

const agentSchema = z.object({
  id: z.string(),
  /** Unique per tenant and category, without regard to case. */
  title: z.string(),
  description: z.string().nullable(),
  avatar: z.string().nullable(),
  permission: z.enum(['me', 'team']),
  canvasType: z.string().nullable(),
  canvasCategory: z.string(),
  /** Comma-separated. */
  tags: z.string(),
  /** The draft, as its author wrote it. */
  dsl: jsonObject,
  /** The document that was published last. */
  published: z.object({ dsl: jsonObject, at: z.number() }).exactOptional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A stored canvas with its owner's description of it. Times are milliseconds since 1970. */
export type AgentRecord = Readonly<z.infer<typeof agentSchema>>;

/** The category of assistants that people chat with: they are listed and changed as chats, not as agents. */
export const CHAT_CATEGORY = 'chat_assistant';

/** Whether an agent is an assistant, which is asked as a chat. */
export function isAssistant({ canvasCategory }: Pick<AgentRecord, 'canvasCategory'>): boolean {
  return canvasCategory === CHAT_CATEGORY;
}

const agentSummarySchema = agentSchema
  .omit({ dsl: true })
  .extend({ published: z.object({ at: z.number() }).exactOptional() });

/** An agent without its documents, as lists give it. */
export type AgentSummary = Readonly<z.infer<typeof agentSummarySchema>>;

/** What of an agent can change. */
export type AgentChange = Partial<Omit<AgentRecord, 'id' | 'createdAt'>>;

/** Which agents; every condition that is given must hold. */
export interface AgentQuery extends Query {
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly title?: string;
  /** Part of the title or of a tag, without regard to case. */
  readonly keywords?: string;
  readonly categories?: readonly string[];
  /** Agents of any category but this one. */
  readonly notCategory?: string;
  readonly canvasType?: string;
  /** At least one of them. */
  readonly tags?: readonly string[];
  readonly orderBy: 'createdAt' | 'updatedAt' | 'title';
  readonly descending: boolean;
}

/** In a database, deleting an agent deletes what belongs to it. */
export type AgentStore = Pick<
  Repository<AgentRecord, AgentQuery>,
  'insert' | 'find' | 'ownersOf' | 'update' | 'delete' | 'list' | 'select' | 'tally'
>;

/** Agents without their documents, which are not read. */
export async function listAgentSummaries(
  agents: Pick<AgentStore, 'select'>,
  tenant: string,
  query: AgentQuery,
): Promise<Page<AgentSummary>> {
  const { items, total } = await agents.select(tenant, query, ['summary']);
  return { items: items.map(({ summary }) => agentSummarySchema.parse(summary)), total };
}

export const agents = resource<AgentRecord, AgentQuery>({
  name: 'agents',
  singular: 'Agent',
  schema: agentSchema,
  id: ({ id }) => id,
  columns: {
    title: { type: 'text', of: ({ title }) => title },
    title_key: { type: 'text', of: ({ title }) => foldCase(title) },
    category: { type: 'text', of: ({ canvasCategory }) => canvasCategory },
    canvas_type: { type: 'text', of: ({ canvasType }) => canvasType },
    tags: { type: 'list', of: tagsOf },
    search: { type: 'search', of: (agent) => [agent.title, ...tagsOf(agent)] },
    created_at: { type: 'number', of: ({ createdAt }) => createdAt },
    updated_at: { type: 'number', of: ({ updatedAt }) => updatedAt },
    summary: {
      type: 'json',
      of: ({ dsl: _, published, ...others }) => ({ ...others, ...(published && { published: { at: published.at } }) }),
    },
  },
  unique: [{ columns: ['category', 'title_key'], conflict: ({ title }) => `${title} already exists.` }],
  filters: {
    id: ['is', 'id'],
    ids: ['in', 'id'],
    title: ['is', 'title'],
    keywords: ['contains', 'search'],
    categories: ['in', 'category'],
    notCategory: ['not', 'category'],
    canvasType: ['is', 'canvas_type'],
    tags: ['has', 'tags'],
  },
  orders: { createdAt: 'created_at', updatedAt: 'updated_at', title: 'title' },
  indexes: [['tenant', 'updated_at', 'position']],
  quota: { name: 'agents', per: 'tenant' },
  memory: { maxCount: 10_000, maxBytes: 256 * 1024 ** 2 },
});

function tagsOf({ tags }: AgentRecord): readonly string[] {
  return tags.split(',').map((tag) => tag.trim());
}
