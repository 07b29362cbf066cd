import { interval, type Subscription } from 'rxjs';
import type { RunEvent } from '../../graph/events.js';
import type { Checkpoint } from '../../graph/state.js';
import {
  requireMethods,
  requireObject,
  requireOptions,
  requireText,
  requireWhole,
} from '../../operators/invalid-option.js';
import type { TurnKey, TurnLine, TurnLines } from '../../records/turn-lines.js';
import { LOCAL_TENANT } from '../sessions/session-store.js';
import { loggedRun, type TurnLog, type TurnLogs, takenOver } from './turn-logs.js';

/** Whose logs of turns they are, and how long their writers hold them. */
export interface PostgresTurnLogsOptions {
  /** That of the sessions. @default 'local' */
  readonly tenant?: string;
  /** Milliseconds without a sign of life after which the process of a turn counts as lost, by the clock of the database. @default 30,000 */
  readonly leaseMs?: number;
}

/** Bytes that are taken before a run has to wait until they are stored. */
const MAX_WAITING = 8 * 1024 ** 2;

/** Logs that are deleted at once. */
const BATCH = 500;

/**
 * Logs of turns in Postgres, beside `postgresSessions`: `postgresTurnLogs(await openPostgresStores({ url, dataDir, log }))`. For runners of several
 * machines.
 *
 * @throws EngineError OPTION_INVALID. Errors of its verbs: SESSION_BUSY for a writer whose turn was taken over; STORE_UNAVAILABLE
 */
export function postgresTurnLogs(
  stores: { readonly turnLines: TurnLines },
  options: PostgresTurnLogsOptions = {},
): TurnLogs {
  const owner = 'postgresTurnLogs';
  requireObject(owner, 'stores', stores, 'what openPostgresStores gives');
  const methods = ['claim', 'store', 'heldFor', 'release', 'delete', 'prune'];
  requireMethods(owner, 'stores', stores.turnLines, methods, 'what openPostgresStores gives');
  requireOptions(owner, options, ['tenant', 'leaseMs']);
  const { tenant = LOCAL_TENANT, leaseMs = 30_000 } = options;
  requireText(owner, 'tenant', tenant);
  requireWhole(owner, 'leaseMs', leaseMs, 1);
  const { turnLines: kept } = stores;
  return {
    async open(session, turn) {
      const key = { tenant, session, turn };
      const { epoch, lines } = await kept.claim(key, leaseMs);
      const stored = loggedRun(lines.map(({ isSnapshot, text }) => ({ kind: isSnapshot ? 's' : 'e', text })));
      return { log: new PostgresTurnLog(kept, key, epoch, leaseMs), stored };
    },
    heldFor: (session, turn) => kept.heldFor({ tenant, session, turn }),
    delete: (session, turn) => kept.delete({ tenant, session, turn }),
    async prune(before) {
      for (let total = 0; ; ) {
        const count = await kept.prune(tenant, before, BATCH);
        total += count;
        if (count < BATCH) return total;
      }
    },
  };
}

class PostgresTurnLog implements TurnLog {
  readonly #kept: TurnLines;
  readonly #key: TurnKey;
  readonly #epoch: number;
  readonly #leaseMs: number;
  readonly #alive: Subscription;
  #taken: TurnLine[] = [];
  #takenBytes = 0;
  /** Number of the next line to store. */
  #next = 1;
  #last: Promise<void> = Promise.resolve();

  constructor(kept: TurnLines, key: TurnKey, epoch: number, leaseMs: number) {
    this.#kept = kept;
    this.#key = key;
    this.#epoch = epoch;
    this.#leaseMs = leaseMs;
    const tell = (): void => {
      // A sign that fails is no failure: what is stored next is.
      kept.store(key, { epoch, from: 1, lines: [], leaseMs }).catch(() => undefined);
    };
    this.#alive = interval(Math.max(1, Math.floor(leaseMs / 3))).subscribe(tell);
  }

  append(event: RunEvent): number {
    return this.#take({ isSnapshot: false, text: JSON.stringify(event) });
  }

  snapshot(checkpoint: Checkpoint): number {
    // What stands before a snapshot is in it.
    this.#taken = [];
    this.#takenBytes = 0;
    return this.#take({ isSnapshot: true, text: JSON.stringify(checkpoint) });
  }

  flush(): Promise<void> {
    const written = this.#last.then(() => this.#write());
    // Every further call fails as well, since it begins with this one.
    this.#last = written;
    written.catch(() => undefined);
    return written;
  }

  ready(): Promise<void> | undefined {
    return this.#takenBytes > MAX_WAITING ? this.flush() : undefined;
  }

  async close(): Promise<void> {
    this.#alive.unsubscribe();
    await this.flush();
    await this.#kept.release(this.#key, this.#epoch);
  }

  #take(line: TurnLine): number {
    const bytes = Buffer.byteLength(line.text);
    this.#taken.push(line);
    this.#takenBytes += bytes;
    return bytes;
  }

  async #write(): Promise<void> {
    const [lines, from] = [this.#taken, this.#next];
    this.#taken = [];
    this.#takenBytes = 0;
    this.#next += lines.length;
    const batch = { epoch: this.#epoch, from, lines, leaseMs: this.#leaseMs };
    if (!(await this.#kept.store(this.#key, batch))) throw takenOver(this.#key.session, this.#key.turn);
  }
}
