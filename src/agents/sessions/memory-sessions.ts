import { EngineError } from '../../errors.js';
import { utf8Length } from '../../json.js';
import { Newest } from '../../newest.js';
import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { ownedKey } from '../../records/repository.js';
import type { EntryBatch, SessionEntries } from '../../records/session-entries.js';
import type { SessionStore } from './session-store.js';
import { SESSION_OPTIONS, type SessionStoreOptions, storedSessions } from './stored-sessions.js';

/** Bounds of sessions in memory. */
export interface MemorySessionsOptions extends SessionStoreOptions {
  /** Sessions of all tenants; of more, those that changed longest ago are dropped. @default 10,000 */
  readonly maxSessions?: number;
  /** Bytes of all entries as JSON; of more, sessions are dropped likewise. @default 256 MiB */
  readonly maxBytes?: number;
  /** Bytes of the entries of one session, at most `maxBytes`. @default an eighth of `maxBytes` */
  readonly maxSessionBytes?: number;
}

/** A session. Replaced with each change, so that its size never changes while it is held. */
interface Held {
  readonly tenant: string;
  readonly session: string;
  /** Grows in place: it belongs to the newest value of the session alone. */
  readonly texts: string[];
  readonly bytes: number;
  readonly startedAt: number;
  readonly changedAt: number;
  /** Grows with every change of any session. */
  readonly change: number;
}

/**
 * Sessions in memory, gone with the process: for tests, and for programs whose conversations may end with them.
 *
 * @throws EngineError OPTION_INVALID
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const owner = 'memorySessions';
  requireOptions(owner, options, [...SESSION_OPTIONS, 'maxSessions', 'maxBytes', 'maxSessionBytes']);
  const { maxSessions = 10_000, maxBytes = 256 * 1024 ** 2 } = options;
  requireWhole(owner, 'maxSessions', maxSessions, 1);
  requireWhole(owner, 'maxBytes', maxBytes, 1);
  const { maxSessionBytes = Math.ceil(maxBytes / 8) } = options;
  requireWhole(owner, 'maxSessionBytes', maxSessionBytes, 1);
  if (maxSessionBytes > maxBytes) {
    throw invalidOption(owner, 'maxSessionBytes', `at most maxBytes, ${maxBytes}`, maxSessionBytes);
  }
  return storedSessions(owner, memoryEntries({ maxSessions, maxBytes, maxSessionBytes }), options);
}

type Bounds = Required<Pick<MemorySessionsOptions, 'maxSessions' | 'maxBytes' | 'maxSessionBytes'>>;

function memoryEntries({ maxSessions, maxBytes, maxSessionBytes }: Bounds): SessionEntries {
  const sessions = new Newest<Held>({ maxCount: maxSessions, maxSize: maxBytes, sizeOf: ({ bytes }) => bytes });
  let changes = 0;
  return {
    async append(tenant, session, batch) {
      const key = ownedKey(tenant, session);
      const before = sessions.get(key);
      const newest = before?.texts.length ?? 0;
      if (newest !== batch.after) return { isStored: false, newest };
      const bytes = batch.entries.reduce((sum, text) => sum + utf8Length(text), before?.bytes ?? 0);
      if (bytes > maxSessionBytes) throw tooLarge(session, bytes, maxSessionBytes);
      changes += 1;
      sessions.put(key, { ...grown(before, batch, tenant, session), bytes, change: changes });
      return { isStored: true, newest: newest + batch.entries.length };
    },
    async read(tenant, session, { after, maxEntries, maxBytes: most }) {
      const texts = sessions.get(ownedKey(tenant, session))?.texts ?? [];
      const found: unknown[] = [];
      let bytes = 0;
      for (let at = after; at < texts.length && found.length < maxEntries; at += 1) {
        const text = texts[at] as string;
        bytes += utf8Length(text);
        if (bytes > most && found.length > 0) break;
        found.push(JSON.parse(text));
      }
      return found;
    },
    async delete(tenant, session) {
      sessions.delete(ownedKey(tenant, session));
    },
    async list(tenant, { limit, after }) {
      const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
      const held = [...sessions.values()].filter((one) => one.tenant === tenant && one.change < before);
      return held
        .slice(-limit)
        .reverse()
        .map(({ session, texts, startedAt, changedAt, change }) => ({
          session,
          newest: texts.length,
          startedAt,
          changedAt,
          cursor: String(change),
        }));
    },
    async prune(tenant, { before = Number.NEGATIVE_INFINITY, keep = Number.POSITIVE_INFINITY }, limit) {
      const held = [...sessions.values()].filter((one) => one.tenant === tenant).reverse();
      const gone = held.filter(({ changedAt }, place) => changedAt < before || place >= keep).slice(0, limit);
      for (const { session } of gone) sessions.delete(ownedKey(tenant, session));
      return gone.length;
    },
  };
}

function grown(before: Held | undefined, { entries, time }: EntryBatch, tenant: string, session: string) {
  const texts = before?.texts ?? [];
  for (const text of entries) texts.push(text);
  return { tenant, session, texts, startedAt: before?.startedAt ?? time, changedAt: time };
}

function tooLarge(session: string, bytes: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `Session "${session}" would have ${bytes} bytes in memory, of at most ${most}; begin another session, or raise maxSessionBytes.`,
  );
}
