import { requireMethods, requireObject, requireOptions } from '../../operators/invalid-option.js';
import type { SessionEntries } from '../../records/session-entries.js';
import type { SessionStore } from './session-store.js';
import { SESSION_OPTIONS, type SessionStoreOptions, storedSessions } from './stored-sessions.js';

/**
 * Sessions in Postgres: `postgresSessions(await openPostgresStores({ url, dataDir, log }))`. They outlive the process, and several
 * processes may use them at once.
 *
 * @throws EngineError OPTION_INVALID
 */
export function postgresSessions(
  stores: { readonly agentSessions: SessionEntries },
  options: SessionStoreOptions = {},
): SessionStore {
  const owner = 'postgresSessions';
  requireObject(owner, 'stores', stores, 'what openPostgresStores gives');
  const methods = ['append', 'read', 'delete', 'list'];
  requireMethods(owner, 'stores', stores.agentSessions, methods, 'what openPostgresStores gives');
  requireOptions(owner, options, SESSION_OPTIONS);
  return storedSessions(owner, stores.agentSessions, options);
}
