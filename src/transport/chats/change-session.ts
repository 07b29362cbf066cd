import { SESSION_LEASES } from '../../hosting/leases.js';
import { sessionTaken } from '../../records/run-commit.js';
import type { SessionRecord } from '../../records/sessions.js';
import type { ServerParts } from '../server-parts.js';
import { exclusively } from './exclusively.js';
import { noChatSession } from './refusals.js';

/** Which session of which assistant. */
export interface SessionPlace {
  readonly tenant: string;
  readonly chatId: string;
  readonly sessionId: string;
}

/**
 * Changes a stored session while no run is at work in it: a run stores the session again when it ends, as it found it.
 *
 * @throws EngineError NOT_FOUND for a session that is gone, SESSION_BUSY while one is answered; what `change` throws.
 */
export function changeSession(
  parts: Pick<ServerParts, 'stores'>,
  { tenant, chatId, sessionId }: SessionPlace,
  change: (before: SessionRecord) => SessionRecord | Promise<SessionRecord>,
): Promise<SessionRecord> {
  const { sessions } = parts.stores;
  return exclusively(parts, { tenant, name: SESSION_LEASES + sessionId, refusal: sessionTaken }, async () => {
    const before = await sessions.find(tenant, sessionId);
    if (before === undefined || before.agentId !== chatId) throw noChatSession();
    const after = await change(before);
    if (!(await sessions.replace(tenant, before, after))) throw sessionTaken();
    return after;
  });
}
