/** The runs of all agents, as the server lists them. */
import type { Client, Page } from '../api/client.js';
import { endOfDay, readDay, startOfDay } from '../parts/days.js';
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
export type Status = (typeof STATUSES)[number];

/** Periods to choose from, in milliseconds. */
export const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 30 * 86_400_000 } as const;
export type Period = keyof typeof PERIODS;

/** Which runs are listed; as the address has it. */
export interface RunFilter {
  readonly agent: string | undefined;
  readonly status: Status | undefined;
  /** `draft`, `published`, or the id of a version. */
  readonly version: string | undefined;
  readonly user: string | undefined;
  readonly period: Period | undefined;
  /** First and last day on which they began, as `2026-11-28`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Bounds of their length in seconds. */
  readonly min: string | undefined;
  readonly max: string | undefined;
  /** From 1. */
  readonly page: number;
  /** When the newest run of the first page began: later pages list what is not newer, so that runs which begin meanwhile move nothing. */
  readonly upto: number | undefined;
}

/** What a change of the filter leaves out: everything that narrows the list. */
export const NO_FILTER = {
  agent: undefined,
  status: undefined,
  version: undefined,
  user: undefined,
  period: undefined,
  from: undefined,
  to: undefined,
  min: undefined,
  max: undefined,
} as const satisfies Partial<RunFilter>;

export const PAGE_SIZE = 50;

/** The longest length that the server is asked for, in seconds: thirty years. */
const MOST_SECONDS = 1e9;

/** What an address asks for; what it does not know is passed over. */
export function readFilter(query: URLSearchParams): RunFilter {
  const value = (name: string) => query.get(name) || undefined;
  return {
    agent: value('agent'),
    status: readStatus(query.get('status')),
    version: value('version'),
    user: value('user'),
    period: (Object.keys(PERIODS) as Period[]).find((one) => one === query.get('period')),
    from: readDay(query.get('from')),
    to: readDay(query.get('to')),
    min: readSeconds(query.get('min')),
    max: readSeconds(query.get('max')),
    page: readCount(query.get('page')) ?? 1,
    upto: readCount(query.get('upto')),
  };
}

/** What is no status is passed over. */
export function readStatus(text: string | null): Status | undefined {
  return STATUSES.find((one) => one === text);
}

/** Whether a filter narrows the list. */
export function isNarrowed(filter: RunFilter): boolean {
  return Object.keys(NO_FILTER).some((name) => filter[name as keyof typeof NO_FILTER] !== undefined);
}

/** A page of runs, newest first. @throws ApiError. */
export function listRuns(client: Client, filter: RunFilter, signal: AbortSignal): Promise<Page<readonly ListedRun[]>> {
  const { agent, status, version, user, period, from, to, min, max, page, upto } = filter;
  const begins = period === undefined ? startOfDay(from) : Date.now() - PERIODS[period];
  const ends = Math.min(
    endOfDay(to) ?? Number.POSITIVE_INFINITY,
    page > 1 && upto !== undefined ? upto : Number.POSITIVE_INFINITY,
  );
  return client.page<readonly ListedRun[]>('/runs', {
    query: {
      page,
      page_size: PAGE_SIZE,
      agent_id: agent,
      status,
      version,
      user_id: user,
      from_date: timeText(begins),
      to_date: timeText(ends),
      min_seconds: min,
      max_seconds: max,
    },
    signal,
  });
}

function timeText(ms: number | undefined): string | undefined {
  return ms === undefined || ms === Number.POSITIVE_INFINITY ? undefined : new Date(ms).toISOString();
}

function readSeconds(text: string | null): string | undefined {
  const seconds = Number(text);
  return text !== null && text.trim() !== '' && seconds >= 0 && seconds <= MOST_SECONDS ? text : undefined;
}

function readCount(text: string | null): number | undefined {
  const count = Number(text);
  return Number.isSafeInteger(count) && count > 0 && count <= 8.64e15 ? count : undefined;
}
