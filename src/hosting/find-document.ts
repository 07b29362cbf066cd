import type { JsonObject } from '../json.js';
import type { VersionStore } from '../records/durable-stores.js';
import type { AgentRecord } from '../records/stores.js';
import { noVersion } from './refusals.js';
import { type DefaultDocument, type DocumentChoice, selectDocument } from './select-document.js';

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
  choice: DocumentChoice,
): Promise<JsonObject> {
  if (!namesVersion(choice)) return selectDocument(agent, fallback, choice);
  const version = await versions.find(tenant, agent.id, choice.version);
  if (version === undefined) throw noVersion();
  return version.dsl;
}

/** Whether a request asks for one version by its id. */
export function namesVersion<C extends DocumentChoice>(choice: C): choice is C & { readonly version: string } {
  return choice.version !== undefined && choice.version !== 'draft';
}
