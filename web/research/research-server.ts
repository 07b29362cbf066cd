/** Researches on the server: how they are listed, begun and changed. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import type { PlanProblem, Task } from '../../src/research/plan/task-plan.js';
import type { Steer } from '../../src/research/steer.js';
import { ApiError, type Client, type Page } from '../api/client.js';
import type { RunPlace } from '../api/socket-link.js';
import { agentPath } from '../run/paths.js';
import { startedRun } from '../run/start-turn.js';
import type { ListedRun } from '../runs/run-list.js';
import { useLookEvery } from '../runs/use-run-news.js';
import type { ListedSession } from '../sessions/session-list.js';
import { useClient } from '../shell/studio.js';

/** A research in the list: the fields that are used. */
export type ResearchItem = Omit<ListedRun, 'agent_title'>;

/** A research, and what was asked where that is known. */
export interface NamedResearch extends ResearchItem {
  readonly question: string;
}

export const PAGE_SIZE = 20;

/** How often the list is asked for while changes are not told, in milliseconds. */
const REFRESH_MS = 5_000;

export const researchPath = (run: string): string => `/research/${encodeURIComponent(run)}`;

/** Addresses are built as the paths are. */
export const researchAddress = researchPath;

/** Where its events are: a research is a run of an agent. */
export const researchPlace = ({ id, agent_id: agent }: Pick<ResearchItem, 'id' | 'agent_id'>): RunPlace => ({
  agent,
  run: id,
  live: `${agentPath(agent)}/live`,
  path: researchPath(id),
});

/** A page of the researches of the tenant, the newest first; asked again when runs change. */
export function useResearchList(page: number) {
  const client = useClient();
  return useQuery({
    queryKey: ['runs', 'research', page],
    queryFn: ({ signal }) => listResearches(client, page, signal),
    refetchInterval: useLookEvery(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
}

async function listResearches(
  client: Client,
  page: number,
  signal: AbortSignal,
): Promise<Page<readonly NamedResearch[]>> {
  const query = { page, page_size: PAGE_SIZE };
  const { items, total } = await client.page<readonly ResearchItem[]>('/research', { query, signal });
  const [first] = items;
  if (first === undefined) return { items: [], total };
  // Each has a session of its own, which has its question as name.
  const sessions = await client.call<readonly Pick<ListedSession, 'id' | 'name'>[]>('/sessions', {
    query: { ...query, agent_id: first.agent_id },
    signal,
  });
  const names = new Map(sessions.map(({ id, name }) => [id, name]));
  return { items: items.map((one) => ({ ...one, question: names.get(one.session_id) ?? '' })), total };
}

/** One research, without what it did. */
export function useResearchItem(run: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['research', run],
    queryFn: ({ signal }) => client.call<ResearchItem>(researchPath(run), { signal }),
    // Its events tell the rest.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Begins one, which goes on whether or not this page stays; gives the id of its run. @throws ApiError. */
export async function beginResearch(client: Client, question: string, settings: JsonObject): Promise<string> {
  const body = { ...settings, question, detach: true };
  return startedRun(await client.answer('/research', { method: 'POST', body }));
}

/** @throws ApiError. */
export async function steerResearch(client: Client, run: string, steer: Steer): Promise<void> {
  await client.call(`${researchPath(run)}/steer`, { method: 'POST', body: steer });
}

/** `finish`: it writes its report first. @throws ApiError. */
export async function cancelResearch(client: Client, run: string, finish: boolean): Promise<void> {
  await client.call(`${researchPath(run)}/cancel`, { method: 'POST', body: { finish } });
}

/** @throws ApiError, of which {@link problemsOf} reads what is wrong with the plan. */
export async function putPlan(client: Client, run: string, tasks: readonly Task[]): Promise<void> {
  await client.call(`${researchPath(run)}/plan`, { method: 'PUT', body: { tasks } });
}

/** What a refusal says of a plan, place by place; empty when it is about something else. */
export function problemsOf(error: unknown): readonly PlanProblem[] {
  const data = error instanceof ApiError ? error.data : undefined;
  const { issues } = (typeof data === 'object' && data !== null ? data : {}) as { issues?: unknown };
  if (!Array.isArray(issues)) return [];
  return issues.filter((one): one is PlanProblem => typeof one?.path === 'string' && typeof one.problem === 'string');
}
