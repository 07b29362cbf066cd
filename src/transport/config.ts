/** The settings of the server: read from the environment once, checked together, listed by `runnel serve --help`. */
import { z } from 'zod';
import { EngineError } from '../errors.js';
import { type AddressRange, parseRange } from './access/addresses.js';
import { type ApiKey, parseApiKeys } from './access/api-keys.js';
import { isLoopbackName } from './access/origins.js';

/** One environment variable. */
interface Setting<T> {
  readonly name: string;
  /** What holds when it is unset, for people. */
  readonly shown: string;
  readonly meaning: string;
  readonly schema: z.ZodType<T, string | undefined>;
  /** Its value is never shown. */
  readonly isSecret?: boolean;
}

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Every setting of the server, in the order in which it is listed. */
const SETTINGS = {
  host: {
    name: 'RUNNEL_HOST',
    shown: '127.0.0.1',
    meaning: 'address to listen on; without RUNNEL_API_KEYS only loopback is allowed',
    schema: z.string().default('127.0.0.1'),
  },
  port: whole('RUNNEL_PORT', 9380, 0, 65_535, 'port to listen on; 0 takes any that is free'),
  apiKeys: {
    name: 'RUNNEL_API_KEYS',
    shown: 'unset: no login, loopback only',
    meaning: 'comma-separated "key" or "tenant=key"; a key without a tenant belongs to tenant "local"',
    schema: z.string().optional().transform(readKeys),
    isSecret: true,
  },
  adminKey: {
    name: 'RUNNEL_ADMIN_KEY',
    shown: 'unset: administration is off',
    meaning: 'key of the administrator, at least 16 characters',
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters and no blanks')
      .optional(),
    isSecret: true,
  },
  requestsPerMinute: whole(
    'RUNNEL_REQUESTS_PER_MINUTE',
    6_000,
    1,
    10_000_000,
    'requests that one key may make, of all servers together with REDIS_URL; applies with API keys',
  ),
  trustedProxies: {
    name: 'RUNNEL_TRUSTED_PROXIES',
    shown: 'unset: none',
    meaning:
      'comma-separated addresses or CIDR ranges of proxies whose X-Forwarded-For tells where a webhook is called from',
    schema: z.string().optional().transform(readRanges),
  },
  runtimes: {
    name: 'RUNNEL_CANVAS_RUNTIMES',
    shown: 'runnel,go,python',
    meaning: 'names of engines that an administrator may give a tenant to; only "runnel" is this server',
    schema: z
      .string()
      .default('runnel,go,python')
      .transform((text) => [...new Set(['runnel', ...listOf(text)])]),
  },
  defaultRuntime: {
    name: 'RAGFLOW_CANVAS_DEFAULT_RUNTIME',
    shown: 'runnel',
    meaning: 'the engine of tenants that were given to none; applies with RUNNEL_ADMIN_KEY',
    schema: z.string().default('runnel'),
  },
  corsOrigins: {
    name: 'RUNNEL_CORS_ORIGINS',
    shown: 'unset: same origin only',
    meaning: 'comma-separated origins that may call the API from a browser; "*" for any, which needs RUNNEL_API_KEYS',
    schema: z.string().optional().transform(readOrigins),
  },
  durability: {
    name: 'RUNNEL_DURABILITY',
    shown: 'sync',
    meaning:
      'when a finished node is kept so that its run survives a crash: "sync" before its successors start, "async" soon after, "exit" only at the end',
    schema: z.enum(['sync', 'async', 'exit'], { error: 'must be sync, async or exit' }).default('sync'),
  },
  leaseMs: whole(
    'RUNNEL_LEASE_MS',
    10_000,
    200,
    10 * 60_000,
    'how long a process may be silent before others take over its runs',
  ),
  runTimeoutMs: milliseconds('RUNNEL_RUN_TIMEOUT_MS', 3_600_000, 'a run that takes longer fails with RUN_TIMEOUT'),
  runLogBytes: bytes('RUNNEL_RUN_LOG_BYTES', 256 * MIB, 'a run whose events take more fails with RUN_LOG_FULL'),
  runHistoryBytes: whole(
    'RUNNEL_RUN_HISTORY_BYTES',
    8 * MIB,
    0,
    1024 * MIB,
    'how much of what a run did is kept for forks from any of its events; a longer run can be forked from its later events (bytes)',
  ),
  detachGraceMs: whole(
    'RUNNEL_DETACH_GRACE_MS',
    30_000,
    0,
    DAY_MS,
    'a run whose last client has been gone for so long is cancelled; 0: never',
  ),
  maxRuns: whole('RUNNEL_MAX_RUNS', 10_000, 1, 1_000_000, 'runs that may be going on at once'),
  runConcurrency: whole('RUNNEL_RUN_CONCURRENCY', 5, 1, 10_000, 'nodes of one run that may work at once'),
  shutdownGraceMs: whole(
    'RUNNEL_SHUTDOWN_GRACE_MS',
    10_000,
    0,
    DAY_MS,
    'how long runs may go on when the server is told to stop, before they are cancelled',
  ),
  jsonBytes: bytes('RUNNEL_JSON_BYTES', 16 * MIB, 'largest JSON body'),
  uploadBytes: bytes('RUNNEL_UPLOAD_BYTES', 64 * MIB, 'largest upload'),
  frameBytes: bytes('RUNNEL_WS_FRAME_BYTES', MIB, 'largest WebSocket frame of a client'),
  clientQueueBytes: bytes(
    'RUNNEL_CLIENT_QUEUE_BYTES',
    4 * MIB,
    'events that may wait for one slow client before it is closed and has to resume',
  ),
  slowClientMs: milliseconds('RUNNEL_SLOW_CLIENT_MS', 30_000, 'a client that reads nothing for so long is closed'),
  ssePingMs: milliseconds('RUNNEL_SSE_PING_MS', 15_000, 'pause between comments that keep an event stream alive'),
  heartbeatMs: milliseconds('RUNNEL_WS_HEARTBEAT_MS', 20_000, 'pause between pings to a WebSocket client'),
  idleMs: milliseconds(
    'RUNNEL_WS_IDLE_MS',
    600_000,
    'a WebSocket without a run and without a frame is closed after it',
  ),
  maxConnections: whole('RUNNEL_WS_MAX_CONNECTIONS', 10_000, 1, 1_000_000, 'WebSocket connections at once'),
  framesPerSecond: whole(
    'RUNNEL_WS_FRAMES_PER_SECOND',
    20,
    1,
    1_000_000,
    'frames a WebSocket client may send, "ack" aside; applies with API keys',
  ),
  runsPerMinute: whole(
    'RUNNEL_WS_RUNS_PER_MINUTE',
    5,
    1,
    1_000_000,
    'runs a WebSocket client may start; applies with API keys',
  ),
  // biome-ignore lint/suspicious/noExplicitAny: settings of different types share one table
} satisfies Record<string, Setting<any>>;

/** The settings of the server. Times are milliseconds, sizes bytes. */
export type ServerConfig = {
  readonly [K in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[K]['schema']>;
};

/** A setting for people. */
export interface SettingDescription {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
}

/** All settings of the server: name, default, meaning. */
export function describeSettings(): readonly SettingDescription[] {
  return Object.values(SETTINGS).map(({ name, shown, meaning }) => ({ name, default: shown, meaning }));
}

/**
 * Reads the settings; an empty variable counts as unset.
 *
 * @throws EngineError CONFIG_INVALID with every problem; never with a key.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ServerConfig {
  const problems: string[] = [];
  const values = Object.entries(SETTINGS).map(([key, setting]: [string, Setting<unknown>]) => {
    const raw = env[setting.name]?.trim();
    const parsed = setting.schema.safeParse(raw === '' ? undefined : raw);
    if (parsed.success) return [key, parsed.data];
    const received = setting.isSecret === true ? '' : `; received ${JSON.stringify(raw)}`;
    problems.push(`${setting.name} ${parsed.error.issues.map(({ message }) => message).join(', ')}${received}`);
    return [key, undefined];
  });
  const config = Object.fromEntries(values) as ServerConfig;
  if (problems.length === 0) problems.push(...contradictions(config));
  if (problems.length > 0) throw new EngineError('CONFIG_INVALID', `${problems.join('.\n')}.`);
  return config;
}

function contradictions({ host, apiKeys, corsOrigins, adminKey, ...others }: ServerConfig): string[] {
  const problems: string[] = [];
  if (apiKeys.some(({ key }) => key === adminKey)) {
    problems.push('RUNNEL_ADMIN_KEY is one of RUNNEL_API_KEYS; give the administrator a key of its own');
  }
  if (!others.runtimes.includes(others.defaultRuntime)) {
    const names = others.runtimes.join(', ');
    problems.push(
      `RAGFLOW_CANVAS_DEFAULT_RUNTIME must be one of ${names}; received ${JSON.stringify(others.defaultRuntime)}`,
    );
  }
  if (apiKeys.length > 0) return problems;
  if (!isLoopbackName(host)) {
    problems.push(
      `RUNNEL_HOST is ${JSON.stringify(host)}, which others can reach, and there are no keys; set RUNNEL_API_KEYS, or listen on 127.0.0.1`,
    );
  }
  if (corsOrigins.includes('*')) {
    problems.push('RUNNEL_CORS_ORIGINS is "*" and there are no keys; set RUNNEL_API_KEYS, or name the origins');
  }
  return problems;
}

function whole(name: string, fallback: number, least: number, most: number, meaning: string): Setting<number> {
  const read = (text: string | undefined, check: z.RefinementCtx): number => {
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    check.addIssue({ code: 'custom', message: `must be a whole number from ${least} to ${most}` });
    return z.NEVER;
  };
  return { name, shown: String(fallback), meaning, schema: z.string().optional().transform(read) };
}

function milliseconds(name: string, fallback: number, meaning: string): Setting<number> {
  return whole(name, fallback, 1, 30 * DAY_MS, `${meaning} (milliseconds)`);
}

function bytes(name: string, fallback: number, meaning: string): Setting<number> {
  return whole(name, fallback, 1024, 16 * 1024 * MIB, `${meaning} (bytes)`);
}

function readKeys(text: string | undefined, check: z.RefinementCtx): readonly ApiKey[] {
  const keys = text === undefined ? [] : parseApiKeys(text);
  if (typeof keys !== 'string') return keys;
  check.addIssue({ code: 'custom', message: `is not valid: ${keys}` });
  return z.NEVER;
}

function readOrigins(text: string | undefined, check: z.RefinementCtx): readonly string[] {
  const origins = listOf(text ?? '');
  for (const origin of origins) {
    if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
    check.addIssue({ code: 'custom', message: 'must name origins such as "https://app.example.com", or "*"' });
    return z.NEVER;
  }
  return origins;
}

function readRanges(text: string | undefined, check: z.RefinementCtx): readonly AddressRange[] {
  const ranges = listOf(text ?? '').map(parseRange);
  if (ranges.every((range) => range !== undefined)) return ranges;
  check.addIssue({ code: 'custom', message: 'must name addresses or ranges such as "10.0.0.0/8"' });
  return z.NEVER;
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
