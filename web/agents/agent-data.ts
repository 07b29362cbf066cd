/** Agents as the server gives them, and what can be done with them. */
import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import { ApiError, type Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';

/** An agent in a list; the fields that are used. */
export interface AgentItem {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  /** Comma-separated. */
  readonly tags: string;
  readonly release: boolean;
  readonly update_time: number;
}

/** A run in a list. */
export interface RunItem {
  readonly run_id: string;
  readonly status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';
  readonly started_at: number;
}

/** A canvas to begin with. */
export interface TemplateItem {
  readonly id: string;
  readonly title: Readonly<Record<string, string>>;
  readonly description: Readonly<Record<string, string>>;
  readonly canvas_type: string;
  readonly dsl: JsonObject;
}

/** An agent with its draft. */
interface AgentDetail extends AgentItem {
  readonly dsl: JsonObject;
}

/** What is searched for. */
export interface AgentSearch {
  readonly words: string;
  readonly tag: string | undefined;
}

const PAGE_SIZE = 30;

/** Agents, newest first, page by page. */
export function useAgents({ words, tag }: AgentSearch) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['agents', 'list', words, tag],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) => {
      const query = { page, page_size: PAGE_SIZE, keywords: words === '' ? undefined : words, tags: tag };
      return client.call<{ canvas: readonly AgentItem[]; total: number }>('/agents', { query, signal });
    },
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE_SIZE < total ? pages.length + 1 : undefined),
    placeholderData: keepPreviousData,
  });
}

/** All tags and how many agents have them. */
export function useTags() {
  const client = useClient();
  return useQuery({
    queryKey: ['agents', 'tags'],
    queryFn: ({ signal }) => client.call<readonly { tag: string; count: number }[]>('/agents/tags', { signal }),
  });
}

export function useTemplates() {
  const client = useClient();
  return useQuery({
    queryKey: ['templates'],
    queryFn: ({ signal }) => client.call<readonly TemplateItem[]>('/agents/templates', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The newest run of an agent; null when it never ran. */
export function useLastRun(agent: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['agents', 'last-run', agent],
    queryFn: async ({ signal }) => {
      const path = `/agents/${encodeURIComponent(agent)}/runs`;
      const runs = await client.call<readonly RunItem[]>(path, { query: { page_size: 1 }, signal });
      return runs[0] ?? null;
    },
  });
}

/** Asks anew for all that is shown of agents. */
export function useAgentsChanged(): () => void {
  const queries = useQueryClient();
  return () => refreshAgents(queries);
}

export function refreshAgents(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: ['agents'] });
}

/** What a new agent is made of. */
export interface NewAgent {
  readonly title: string;
  readonly description?: string | undefined;
  readonly tags?: string | undefined;
  readonly dsl: unknown;
}

/** How many titles are tried: `Title`, `Title 2` … */
const MAX_TITLES = 20;

/** Creates an agent, under a title of its own when the one that is wanted is taken. Gives its id. @throws ApiError. */
export async function createAgent(client: Client, { title, ...agent }: NewAgent): Promise<string> {
  for (let number = 1; ; number += 1) {
    const body = { ...agent, title: number === 1 ? title : `${title} ${number}` };
    try {
      return (await client.call<{ id: string }>('/agents', { method: 'POST', body })).id;
    } catch (error) {
      if (!isTaken(error) || number >= MAX_TITLES) throw error;
    }
  }
}

/** The server has no code of its own for a title that another agent has. */
function isTaken(error: unknown): boolean {
  return error instanceof ApiError && error.code === 102 && error.message.endsWith('already exists.');
}

/** Makes an agent like another one. */
export async function duplicateAgent(client: Client, { id, title }: AgentItem): Promise<string> {
  const agent = await client.call<AgentDetail>(`/agents/${encodeURIComponent(id)}`);
  const { description, tags, dsl } = agent;
  return createAgent(client, { title, dsl, tags, ...(description !== null && { description }) });
}

/** Has the browser save the draft of an agent as a file. */
export async function exportAgent(client: Client, { id, title }: AgentItem, to: 'v1' | 'v2'): Promise<void> {
  const response = await client.answer(`/agents/${encodeURIComponent(id)}/export`, { query: { to } });
  const text = await response.text();
  if (!response.ok || !isDocument(text)) throw refusalIn(text, response.status);
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: `${title}.${to}.json` });
  link.click();
  URL.revokeObjectURL(url);
}

function isDocument(text: string): boolean {
  return !/^\s*\{\s*"code"\s*:/.test(text);
}

function refusalIn(text: string, status: number): ApiError {
  try {
    const { code, message } = JSON.parse(text) as { code: number; message: string };
    return new ApiError(message, { code, status });
  } catch {
    return new ApiError(text.slice(0, 200), { code: 0, status });
  }
}
