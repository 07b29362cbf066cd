/** Researches on the server: how they are listed, begun and changed. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import type { PlanProblem, Task } from '../../src/research/plan/task-plan.js';
import type { Steer } from '../../src/research/steer.js';
import { ApiError, type Client } from '../api/client.js';
import type { RunPlace } from '../api/socket-link.js';
import { agentPath } from '../run/paths.js';
import { startedRun } from '../run/start-turn.js';
import type { ListedRun } from '../runs/run-list.js';
import { useLookEvery } from '../runs/use-run-news.js';
import { useClient } from '../shell/studio.js';

/** A research: the fields that are used. */
export interface ResearchItem extends Omit<ListedRun, 'agent_title'> {
  /** In a list its beginning; null where it is not known any more. */
  readonly question: string | null;
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
    queryFn: ({ signal }) =>
      client.page<readonly ResearchItem[]>('/research', { query: { page, page_size: PAGE_SIZE }, signal }),
    refetchInterval: useLookEvery(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
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
