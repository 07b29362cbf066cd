import type { Redis as Client } from 'ioredis';
import { AsyncSubject, type Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import { invalidOption, requireWhole } from '../../operators/invalid-option.js';
import { Channels } from './channels.js';
import { Commands } from './commands.js';
import { Connection } from './connection.js';
import { KEPT_MS } from './keys.js';
import { serverWarnings } from './server-warnings.js';

/** Which Redis is opened. */
export interface RedisConfig {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Receives when Redis is lost, when it is back, and of settings under which it may lose runs. */
  readonly log: Log;
  /**
   * Within this time a command is answered or fails, in milliseconds; 100 at least. An outage that is shorter is only a delay.
   * @default 15,000
   */
  readonly commandTimeoutMs?: number;
  /** Commands that may wait at a time; one more fails at once. At least 1. @default 10,000 */
  readonly maxPendingCommands?: number;
  /** How long runs, their journals and events are stored after the last change, in milliseconds. @default 30 days */
  readonly runKeptMs?: number;
}

/** The connections to one Redis, shared by the stores that are made with it. */
export interface Redis {
  readonly commands: Commands;
  /** The connection of the commands, for libraries that send their own; it queues nothing. */
  readonly client: Client;
  readonly channels: Channels;
  readonly log: Log;
  /** How long runs are stored after the last change, in milliseconds. */
  readonly runKeptMs: number;
  /** Emits when `close` is called, also to who asks afterwards. */
  readonly closed: Observable<void>;
  /** Resolves when Redis answers on both connections. @throws EngineError STORE_UNAVAILABLE when it does not within the time of a command. */
  ready(): Promise<void>;
  /** Ends the connections; commands under way fail, what listens completes. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const MIN_TIMEOUT_MS = 100;
const DEFAULT_MAX_PENDING = 10_000;

/**
 * Opens Redis: one connection for commands, one for what is published. Both come back by themselves, after pauses of at most about a
 * second, for as long as it takes.
 *
 * @throws EngineError CONFIG_INVALID when the URL is none of Redis, OPTION_INVALID when a bound is out of range.
 */
export function createRedis(config: RedisConfig): Redis {
  const { url, log, commandTimeoutMs = DEFAULT_TIMEOUT_MS, maxPendingCommands = DEFAULT_MAX_PENDING } = config;
  const { runKeptMs = KEPT_MS.run } = config;
  checkUrl(url);
  if (!(commandTimeoutMs >= MIN_TIMEOUT_MS && Number.isFinite(commandTimeoutMs))) {
    throw invalidOption(
      'openRedisStores',
      'commandTimeoutMs',
      `a number of at least ${MIN_TIMEOUT_MS}`,
      commandTimeoutMs,
    );
  }
  requireWhole('openRedisStores', 'maxPendingCommands', maxPendingCommands, 1);
  const open = (name: string): Connection => new Connection({ url, name, log, silenceMs: commandTimeoutMs });
  const connections = [open('commands'), open('channels')] as const;
  const commandsOf = (connection: Connection): Commands =>
    new Commands(connection, { timeoutMs: commandTimeoutMs, maxPending: maxPendingCommands });
  const commands = commandsOf(connections[0]);
  const channels = new Channels(connections[1]);
  const closed$ = new AsyncSubject<void>();
  return {
    commands,
    client: connections[0].client,
    channels,
    log,
    runKeptMs,
    closed: closed$,
    async ready() {
      await Promise.all(connections.map((connection) => commandsOf(connection).send('PING', [])));
      for (const warning of await serverWarnings(commands)) log.warn({ redis: connections[0].address }, warning);
    },
    async close() {
      closed$.next();
      closed$.complete();
      channels.close();
      for (const connection of connections) connection.close();
    },
  };
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol) && new URL(url).hostname !== '') return;
  // The value may hold a password, so it is not shown.
  throw new EngineError(
    'CONFIG_INVALID',
    'REDIS_URL must look like redis://[user:password@]host[:port][/database]; the given value does not.',
  );
}
