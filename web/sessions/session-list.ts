/** The conversations with all agents, as the server lists them. */

import type { z } from 'zod';
import type { listedSessionShape } from '../../src/transport/session-list.js';
import type { Client, Page } from '../api/client.js';
import { endOfDay, readDay, startOfDay } from '../parts/days.js';
import { readStatus, type Status } from '../runs/run-list.js';

/** A session in the list. */
export type ListedSession = z.output<typeof listedSessionShape>;

/** Which sessions are listed; as the address has it. */
export interface SessionFilter {
  readonly search: string | undefined;
  readonly agent: string | undefined;
  /** How their last runs stand. */
  readonly status: Status | undefined;
  readonly user: string | undefined;
  /** First and last day on which they were made, as `2026-11-28`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** From 1. */
  readonly page: number;
}

/** What a change of the filter leaves out: everything that narrows the list. */
export const NO_FILTER = {
  search: undefined,
  agent: undefined,
  status: undefined,
  user: undefined,
  from: undefined,
  to: undefined,
} as const satisfies Partial<SessionFilter>;

export const PAGE_SIZE = 50;

/** What an address asks for; what it does not know is passed over. */
export function readFilter(query: URLSearchParams): SessionFilter {
  const page = Number(query.get('page'));
  return {
    search: query.get('search') || undefined,
    agent: query.get('agent') || undefined,
    status: readStatus(query.get('status')),
    user: query.get('user') || undefined,
    from: readDay(query.get('from')),
    to: readDay(query.get('to')),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** Whether a filter narrows the list. */
export function isNarrowed(filter: SessionFilter): boolean {
  return Object.keys(NO_FILTER).some((name) => filter[name as keyof typeof NO_FILTER] !== undefined);
}

/** A page of sessions, those first that were used last. @throws ApiError. */
export function listSessions(
  client: Client,
  { search, agent, status, user, from, to, page }: SessionFilter,
  signal: AbortSignal,
): Promise<Page<readonly ListedSession[]>> {
  return client.page<readonly ListedSession[]>('/sessions', {
    query: {
      page,
      page_size: PAGE_SIZE,
      keywords: search,
      agent_id: agent,
      status,
      user_id: user,
      from_date: timeText(startOfDay(from)),
      to_date: timeText(endOfDay(to)),
    },
    signal,
  });
}

function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
