import { EngineError } from '../../errors.js';
import { utf8Length } from '../../json.js';
import {
  invalidOption,
  requireList,
  requireOptions,
  requireText,
  requireWhole,
} from '../../operators/invalid-option.js';
import type { AppendResult, EntryBatch, SessionEntries } from '../../records/session-entries.js';
import { checkedFact, readEntry, requireSessionId } from './session-facts.js';
import { LOCAL_TENANT, type SessionEntry, type SessionFact, type SessionStore } from './session-store.js';

/** What every store of sessions takes. */
export interface SessionStoreOptions {
  /** Whose sessions they are. @default 'local' */
  readonly tenant?: string;
  /** Bytes of one entry as JSON. @default 4 MiB */
  readonly maxEntryBytes?: number;
  /** Entries of one session. @default 100,000 */
  readonly maxEntries?: number;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** Names of {@link SessionStoreOptions}. */
export const SESSION_OPTIONS: readonly string[] = ['tenant', 'maxEntryBytes', 'maxEntries', 'now'];

/** Facts of one append, entries of one page, sessions of one page of the list. */
const MAX_AT_ONCE = 1_000;
const DEFAULT_SESSIONS = 100;
/** Bytes of one page of entries, unless one entry alone has more. */
const MAX_PAGE_BYTES = 16 * 1024 ** 2;
const MAX_ENTRY_BYTES = 4 * 1024 ** 2;
/** Bytes of one append, unless one entry alone may have more. */
const MAX_BATCH_BYTES = 16 * 1024 ** 2;
const MAX_ENTRIES = 100_000;

/** The sessions whose entries are kept there, every fact and every bound checked. @throws EngineError OPTION_INVALID */
export function storedSessions(owner: string, kept: SessionEntries, options: SessionStoreOptions): SessionStore {
  const { tenant = LOCAL_TENANT, now = Date.now } = options;
  const { maxEntryBytes = MAX_ENTRY_BYTES, maxEntries = MAX_ENTRIES } = options;
  requireText(owner, 'tenant', tenant);
  requireWhole(owner, 'maxEntryBytes', maxEntryBytes, 1);
  requireWhole(owner, 'maxEntries', maxEntries, 1);
  if (typeof now !== 'function') throw invalidOption(owner, 'now', 'a function', now);
  return {
    tenant,
    forTenant: (other) => storedSessions(owner, kept, { ...options, tenant: other }),
    async append(session, facts, after) {
      requireSessionId(session);
      requireList('append', 'facts', facts);
      requireWhole('append', 'after', after, 0);
      if (facts.length === 0) return [];
      if (facts.length > MAX_AT_ONCE) throw invalidOption('append', 'facts', `at most ${MAX_AT_ONCE} at once`, facts);
      const newest = after + facts.length;
      if (newest > maxEntries) throw tooLong(session, newest, maxEntries);
      const time = now();
      const entries = facts.map((fact, index) => entryOf(session, fact, after + 1 + index, time));
      const batch: EntryBatch = { after, time, entries: entries.map((entry) => textOf(session, entry, maxEntryBytes)) };
      requireRoom(session, batch, Math.max(maxEntryBytes, MAX_BATCH_BYTES));
      const result = await kept.append(tenant, session, batch);
      if (!result.isStored) throw busy(session, after, result);
      return entries;
    },
    async read(session, read = {}) {
      requireSessionId(session);
      requireOptions('read', read, ['after', 'limit']);
      const { after = 0, limit = MAX_AT_ONCE } = read;
      requireWhole('read', 'after', after, 0);
      requireWhole('read', 'limit', limit, 1);
      const query = { after, maxEntries: Math.min(limit, MAX_AT_ONCE), maxBytes: MAX_PAGE_BYTES };
      const values = await kept.read(tenant, session, query);
      return values.map((value, index) => readEntry(session, value, after + 1 + index));
    },
    async delete(session) {
      requireSessionId(session);
      await kept.delete(tenant, session);
    },
    async list(list = {}) {
      requireOptions('list', list, ['after', 'limit']);
      const { after, limit = DEFAULT_SESSIONS } = list;
      requireWhole('list', 'limit', limit, 1);
      if (after !== undefined) requireText('list', 'after', after, 'the cursor of a summary');
      return kept.list(tenant, { limit: Math.min(limit, MAX_AT_ONCE), ...(after !== undefined && { after }) });
    },
    async prune(expiry) {
      requireOptions('prune', expiry, ['before', 'keep']);
      const { before, keep } = expiry;
      if (before !== undefined && !Number.isFinite(before))
        throw invalidOption('prune', 'before', 'a time in milliseconds since 1970', before);
      if (keep !== undefined) requireWhole('prune', 'keep', keep, 0);
      for (let total = 0; ; ) {
        const count = await kept.prune(tenant, expiry, MAX_AT_ONCE);
        total += count;
        if (count < MAX_AT_ONCE) return total;
      }
    },
  };
}

function entryOf(session: string, fact: SessionFact, at: number, time: number): SessionEntry {
  return { at, time, ...checkedFact(session, fact) };
}

/** @throws EngineError LIMIT_REACHED */
function textOf(session: string, entry: SessionEntry, maxBytes: number): string {
  const text = JSON.stringify(entry);
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) return text;
  throw new EngineError(
    'LIMIT_REACHED',
    `A fact "${entry.type}" of session "${session}" has ${bytes} bytes, of at most ${maxBytes}; offload large results, or raise maxEntryBytes.`,
  );
}

/** @throws EngineError LIMIT_REACHED */
function requireRoom(session: string, { entries }: EntryBatch, maxBytes: number): void {
  const bytes = entries.reduce((sum, text) => sum + text.length, 0);
  if (bytes <= maxBytes) return;
  throw new EngineError(
    'LIMIT_REACHED',
    `${entries.length} facts of session "${session}" have ${bytes} bytes together, of at most ${maxBytes} in one append; append them one by one.`,
  );
}

function tooLong(session: string, entries: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `Session "${session}" would have ${entries} entries, of at most ${most}; begin another session, or raise maxEntries.`,
  );
}

function busy(session: string, after: number, { newest }: AppendResult): EngineError {
  return new EngineError(
    'SESSION_BUSY',
    `Session "${session}" has ${newest} entries, and not the ${after} that were read: another writer was faster, or it was deleted. Read what is new, and decide again.`,
    { details: { session, after, newest } },
  );
}
