import type { JsonObject } from '../json.js';
import type { VersionStore } from '../records/durable-stores.js';
import type { AgentRecord } from '../records/stores.js';
import { nothingPublished, noVersion } from './refusals.js';

/** What runs when a request does not say: the draft, or what is published (the draft while nothing is). */
export type DefaultDocument = 'draft' | 'published';

/** Which document a request asks for. */
export interface DocumentChoice {
  /** `draft`, or the id of a version. */
  readonly version?: string;
  /** Only what is published. */
  readonly isReleased: boolean;
}

/**
 * The document that a request asks for: the draft, what is published, or one version.
 *
 * @throws EngineError NOT_FOUND when there is no such version, or nothing is published.
 */
export async function findDocument(
  versions: VersionStore,
  tenant: string,
  agent: AgentRecord,
  fallback: DefaultDocument,
  { version, isReleased }: DocumentChoice,
): Promise<JsonObject> {
  if (version === 'draft') return agent.dsl;
  if (version !== undefined) {
    const found = await versions.find(tenant, version, agent.id);
    if (found === undefined) throw noVersion();
    return found.dsl;
  }
  if (agent.published !== undefined && (isReleased || fallback === 'published')) return agent.published.dsl;
  if (isReleased) throw nothingPublished();
  return agent.dsl;
}
