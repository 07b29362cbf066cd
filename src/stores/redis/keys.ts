/**
 * Every key that Runnel uses in Redis, and for how long.
 *
 * Names, fields and times of the first group are RAGFlow's, so that its tools and its servers find what they know; the others are
 * ours. In ours the tenant is a part of the name, percent-encoded, so that a colon in it cannot reach into another tenant. RAGFlow's
 * names have no room for it; there the value names it. Several keys take part in one script, so a Redis Cluster is out.
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long keys are stored after they were written last, in milliseconds. */
export const KEPT_MS = {
  /** Runs, with their logs. */
  run: 30 * DAY_MS,
  /** The request to cancel a run. */
  cancel: DAY_MS,
} as const;

/**
 * Three keys of a run's log: its writer and the numbers of its snapshots (a hash), RAGFlow's key of the newest snapshot, and that of the
 * first one where it is another (strings: JSON or gzipped JSON).
 */
export const logKeys = (run: string): readonly [hash: string, newest: string, first: string] => {
  const checkpoint = `agent:cp:${run}`;
  return [`${checkpoint}:log`, checkpoint, `${checkpoint}:first`];
};

/** RAGFlow's: what is known about a run; a hash, its status a number. */
export const RUN_PREFIX = 'agent:run:';
export const runKey = (run: string): string => RUN_PREFIX + run;

/** RAGFlow's: which run a conversation is busy with; a hash that expires with the lease. */
export const activeSessionKey = (session: string): string => `agent:active-session:${session}`;

/** RAGFlow's: `x` when a run should stop; a string. */
export const cancelKey = (task: string): string => `${task}-cancel`;

/** RAGFlow's: which engine a tenant's canvases run on; a string that stays until it is changed. */
export const canvasRuntimeKey = (tenant: string): string => `tenant_canvas_runtime:${tenant}`;

/** The events of a run, the one numbered `seq` at `seq - 1`; a list. */
export const eventsKey = (tenant: string, run: string): string => `agent:events:${encodeURIComponent(tenant)}:${run}`;

/** Ids of an agent's runs by the time they started; a sorted set. */
export const runsOfAgentKey = (tenant: string, agent: string): string =>
  `agent:runs:${encodeURIComponent(tenant)}:${encodeURIComponent(agent)}`;

/** Ids of the runs of all agents of a tenant by the time they started, chats aside; a sorted set, and one for each status. */
export const runsOfTenantKey = (tenant: string): string => `agent:all-runs:${encodeURIComponent(tenant)}`;

/** What is leased; a hash. */
export const LEASE_PREFIX = 'agent:lease:';

/** Names of all leases by the time they expire; a sorted set. */
export const LEASES_KEY = 'agent:leases';

/** How a lease is called in {@link LEASES_KEY}; its hash is {@link LEASE_PREFIX} and this. */
export const leaseMember = (tenant: string, name: string): string => `${encodeURIComponent(tenant)}:${name}`;

/** Where requests to cancel are published; the message is the task. */
export const CANCEL_CHANNEL = 'agent:cancel';

/** How often a key called or a webhook was called; a number that expires with its span. */
export const COUNTER_PREFIX = 'agent:calls:';

/** A value that processes change together; a hash with its version. */
export const sharedStateKey = (name: string): string => `agent:shared:${name}`;

/** How many requests a bucket had in this second; a number that expires with it. */
export const RATE_PREFIX = 'agent:rate';

/** Requests of a sliding second by their time; a sorted set that expires with it. */
export const rateKey = (key: string): string => `agent:second:${key}`;
