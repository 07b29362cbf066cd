import { randomUUID } from 'node:crypto';
import { Subject, type Subscription, takeUntil } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject, parseJson } from '../../json.js';
import type { Log } from '../../logger.js';
import type { Signals } from '../../records/coordination.js';
import { CancelWatch } from '../cancel-watch.js';
import { createMemorySignals } from '../memory-signals.js';
import type { Database } from './database.js';

/** How often cancel requests are looked up, should a notification have been lost. */
const POLL_MS = 500;

/** Signals in Postgres, with something to close. */
export interface PostgresSignals extends Signals {
  /** Stops listening; Observables that are still subscribed to complete. */
  close(): Promise<void>;
}

/** What passes between processes. */
interface Envelope {
  /** The process that sent it and has notified its own listeners already. */
  readonly from: string;
  readonly channel: string;
  readonly message: string;
}

/** The one channel of Postgres that is used. */
const CHANNEL = 'runnel';
/** The own channel of cancel requests; the message is the task. */
const CANCEL = 'cancel';
/** Postgres takes 7,999 bytes, of which some are the envelope's. */
const MAX_ENVELOPE_BYTES = 7_900;

/**
 * Signals through Postgres. Listeners in this process receive at once; other processes by `NOTIFY`, and of cancel requests within 500 ms
 * even if that was lost with a connection. The embedded database has no other processes, so nothing is sent there.
 *
 * Messages are for waking up, not for data: an envelope may have 7,900 bytes.
 */
export async function createPostgresSignals(
  database: Database,
  { log }: { readonly log: Log },
): Promise<PostgresSignals> {
  const self = randomUUID();
  const isShared = database.kind === 'server';
  /** What is published here or received from another process. */
  const local = createMemorySignals();
  const closed$ = new Subject<void>();
  const watch = new CancelWatch({
    async find(tasks) {
      const rows = await database.repeat(
        (sql) => sql<{ task: string }[]>`
          select task from runnel.cancels
          where task in (select json_array_elements_text(${JSON.stringify(tasks)}::json))
          and requested_at > clock_timestamp() - interval '24 hours'`,
      );
      return rows.map(({ task }) => task);
    },
    pollMs: isShared ? POLL_MS : undefined,
    log,
  });

  let isForeignTold = false;
  const hear = (payload: string): void => {
    const envelope = readEnvelope(payload);
    if (envelope === undefined) {
      if (!isForeignTold)
        log.warn({ channel: CHANNEL }, 'another program notifies on the channel of Runnel; that is ignored');
      isForeignTold = true;
      return;
    }
    const { from, channel, message } = envelope;
    if (from === self) return;
    // The table decides: a notification may arrive after its request was cleared.
    if (channel === CANCEL) watch.lookAt(message);
    else void local.publish(channel, message);
  };
  const listening = isShared ? await listen(database, hear, () => watch.lookAtAll()) : undefined;

  const send = async (channel: string, message: string): Promise<void> => {
    const envelope = JSON.stringify({ from: self, channel, message } satisfies Envelope);
    if (Buffer.byteLength(envelope) > MAX_ENVELOPE_BYTES) throw tooLong(channel, message);
    if (channel === CANCEL) watch.found(message);
    else await local.publish(channel, message);
    // A message that is received twice does no harm: it only makes its receiver look again.
    if (isShared) await database.repeat((sql) => sql`select pg_notify(${CHANNEL}, ${envelope})`);
  };

  return {
    async requestCancel(task) {
      await database.repeat(
        (sql) => sql`
          insert into runnel.cancels (task, requested_at) values (${task}, clock_timestamp())
          on conflict (task) do update set requested_at = excluded.requested_at`,
      );
      await send(CANCEL, task);
    },
    async clearCancel(task) {
      await database.repeat((sql) => sql`delete from runnel.cancels where task = ${task}`);
    },
    cancelOf: (task, isNew) => watch.requestOf(task, isNew),
    publish: (channel, message) => send(`message:${channel}`, message),
    messages: (channel) => local.messages(`message:${channel}`).pipe(takeUntil(closed$)),
    async close() {
      closed$.next();
      watch.close();
      listening?.unsubscribe();
    },
  };
}

/** Hears what other processes notify, from the moment when this resolves. @param onListening called then, and after each loss */
async function listen(
  database: Database,
  hear: (payload: string) => void,
  onListening: () => void,
): Promise<Subscription> {
  return new Promise((resolve, reject) => {
    const subscription = database.notifications(CHANNEL).subscribe({
      next: (notified) => {
        if (notified.kind === 'notification') {
          hear(notified.payload);
          return;
        }
        // Listening anew after a lost connection: what was published meanwhile was not received.
        onListening();
        resolve(subscription);
      },
      error: reject,
      complete: () =>
        reject(new EngineError('STORE_UNAVAILABLE', 'The database was closed before it was listened to.')),
    });
  });
}

/** Other programs may use the same database; undefined for what one of them notifies on the same channel. */
function readEnvelope(payload: string): Envelope | undefined {
  const value = parseJson(payload);
  if (!isJsonObject(value)) return undefined;
  const { from, channel, message } = value;
  if (typeof from !== 'string' || typeof channel !== 'string' || typeof message !== 'string') return undefined;
  return { from, channel, message };
}

function tooLong(channel: string, message: string): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `A message to "${channel}" has ${message.length} characters, which is more than a notification takes; send where the data is instead.`,
  );
}
