import { newSession } from '../../hosting/conversation-record.js';
import { findDocument, namesVersion } from '../../hosting/find-document.js';
import { createId } from '../../hosting/ids.js';
import { noAgent } from '../../hosting/refusals.js';
import type { StartTurn } from '../../hosting/start-turn.js';
import type { VersionStore } from '../../records/durable-stores.js';
import type { Stores } from '../../records/stores.js';

export interface VersionedStartOptions {
  readonly stores: Stores & { readonly versions: VersionStore };
  readonly now: () => number;
}

/**
 * Lets turns name a version: such a turn gets a new session of that version's document. A session that exists keeps its own
 * document, whatever is asked for.
 *
 * @throws EngineError from the function it gives: NOT_FOUND for an unknown version, else as `start`.
 */
export function withVersions(start: StartTurn, { stores, now }: VersionedStartOptions): StartTurn {
  return async (target, request) => {
    const isNew = request.sessionId === undefined && request.resumeFrom === undefined;
    if (!isNew || !namesVersion(request)) return start(target, request);
    const { tenant, agentId, fallback } = target;
    const agent = await stores.agents.find(tenant, agentId);
    if (agent === undefined) throw noAgent();
    const dsl = await findDocument(stores.versions, tenant, agent, fallback, request);
    const sessionId = createId();
    await stores.sessions.save(tenant, newSession(sessionId, agentId, dsl, request, now()));
    try {
      return await start(target, { ...request, sessionId });
    } catch (error) {
      // A turn that was refused leaves nothing behind.
      await stores.sessions.delete(tenant, sessionId);
      throw error;
    }
  };
}
