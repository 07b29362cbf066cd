/** The runs of all agents, as the server lists them. */
import type { Client, Page } from '../api/client.js';
import type { RunItem } from '../run/start-turn.js';

/** A run in the list: the fields that are used. */
export interface ListedRun extends RunItem {
  readonly agent_title: string;
  readonly version: string | null;
  readonly user_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Seconds; null while it runs. */
  readonly elapsed_time: number | null;
  readonly usage: { readonly total_tokens: number; readonly calls: number };
}

export const STATUSES = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

/** Periods to choose from, in milliseconds. */
export const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 30 * 86_400_000 } as const;
export type Period = keyof typeof PERIODS;

/** Which runs are listed; as the address has it. */
export interface RunFilter {
  readonly agent: string | undefined;
  readonly status: (typeof STATUSES)[number] | undefined;
  readonly period: Period | undefined;
  /** From 1. */
  readonly page: number;
}

export const PAGE_SIZE = 50;

/** What an address asks for; what it does not know is passed over. */
export function readFilter(query: URLSearchParams): RunFilter {
  const page = Number(query.get('page'));
  return {
    agent: query.get('agent') ?? undefined,
    status: STATUSES.find((one) => one === query.get('status')),
    period: (Object.keys(PERIODS) as Period[]).find((one) => one === query.get('period')),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** A page of runs, newest first. @throws ApiError. */
export function listRuns(client: Client, filter: RunFilter, signal: AbortSignal): Promise<Page<readonly ListedRun[]>> {
  const { agent, status, period, page } = filter;
  return client.page<readonly ListedRun[]>('/runs', {
    query: {
      page,
      page_size: PAGE_SIZE,
      agent_id: agent,
      status,
      from_date: period === undefined ? undefined : new Date(Date.now() - PERIODS[period]).toISOString(),
    },
    signal,
  });
}
