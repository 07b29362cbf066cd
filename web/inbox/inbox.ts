/** Runs that wait for a person. */
import type { Json, JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { agentPath, runPath } from '../run/paths.js';
import { type ListedRun, PERIODS, type Period } from '../runs/run-list.js';

/** Runs of each list, at most. */
const MOST = 100;

/** What a run waits for. */
export interface InboxQuestion {
  readonly component: string;
  readonly question: JsonObject;
}

export const KINDS = ['form', 'approval', 'other'] as const;

/** What is asked for: fields, leave to do something, or anything else. */
export type Kind = (typeof KINDS)[number];

/** How long a question waits at least, in milliseconds. */
export const AGES = { hour: PERIODS.hour, day: PERIODS.day, week: PERIODS.week } as const satisfies Partial<
  Record<Period, number>
>;
export type Age = keyof typeof AGES;

/** Which of what waits is listed; as the address has it. */
export interface InboxFilter {
  readonly agent: string | undefined;
  readonly kind: Kind | undefined;
  readonly user: string | undefined;
  /** Waits at least so long. */
  readonly age: Age | undefined;
}

/** What a change of the filter leaves out: everything that narrows the list. */
export const NO_FILTER = {
  agent: undefined,
  kind: undefined,
  user: undefined,
  age: undefined,
} as const satisfies InboxFilter;

/** What an address asks for; what it does not know is passed over. */
export function readFilter(query: URLSearchParams): InboxFilter {
  return {
    agent: query.get('agent') || undefined,
    kind: KINDS.find((one) => one === query.get('kind')),
    user: query.get('user') || undefined,
    age: (Object.keys(AGES) as Age[]).find((one) => one === query.get('age')),
  };
}

/** Whether a filter narrows the list. */
export function isNarrowed(filter: InboxFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** The waiting runs that a filter finds. */
export interface WaitingRuns {
  readonly runs: readonly ListedRun[];
  /** Whether there may be more than the newest, which are all that is looked at. */
  readonly isCut: boolean;
}

/**
 * Runs that wait and that nothing has gone on with, newest first, of any kind. The server narrows them down before it counts. @throws ApiError.
 *
 * A run that was answered stays as it was, and another one goes on with it; so of each conversation only the newest run counts.
 */
export async function waitingRuns(
  client: Client,
  { agent, user, age }: Omit<InboxFilter, 'kind'>,
  signal: AbortSignal,
): Promise<WaitingRuns> {
  const until = age === undefined ? undefined : Date.now() - AGES[age];
  // What asked before then had begun before.
  const begun = until === undefined ? undefined : new Date(until).toISOString();
  const query = { status: 'waiting', page_size: MOST, agent_id: agent, user_id: user, to_date: begun };
  const [{ items: waiting, total = 0 }, recent] = await Promise.all([
    client.page<readonly ListedRun[]>('/runs', { query, signal }),
    client.call<readonly ListedRun[]>('/runs', { query: { page_size: MOST }, signal }),
  ]);
  const newest = new Map<string, string>();
  for (const { id, session_id: session } of recent) if (!newest.has(session)) newest.set(session, id);
  const checked = await Promise.all(
    waiting.map(async (run) => {
      if (until !== undefined && askedAt(run) > until) return false;
      const last = newest.get(run.session_id) ?? (await newestOf(client, run, signal));
      return last === run.id;
    }),
  );
  return { runs: waiting.filter((_, at) => checked[at]), isCut: total > waiting.length };
}

/** When a run asked, in milliseconds since 1970. */
export function askedAt({ finished_at: finished, started_at: started }: ListedRun): number {
  return finished ?? started;
}

async function newestOf(client: Client, run: ListedRun, signal: AbortSignal): Promise<string | undefined> {
  const query = { session_id: run.session_id, page_size: 1 };
  const [last] = await client.call<readonly { readonly id: string }[]>(`${agentPath(run.agent_id)}/runs`, {
    query,
    signal,
  });
  return last?.id;
}

/** What a run asks. @throws ApiError. */
export async function questionsOf(
  client: Client,
  run: ListedRun,
  signal: AbortSignal,
): Promise<readonly InboxQuestion[]> {
  const { tokens } = await client.call<{ readonly tokens: readonly JsonObject[] }>(
    `${runPath(run.agent_id, run.id)}/state`,
    {
      signal,
    },
  );
  return tokens.flatMap(({ component_id: component, question }) =>
    isObject(question) ? [{ component: String(component), question }] : [],
  );
}

/** Approvals say what they are; forms have fields. */
export function kindOf({ question }: InboxQuestion): Kind {
  if (question.kind === 'approval') return 'approval';
  return isObject(question.inputs) ? 'form' : 'other';
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
