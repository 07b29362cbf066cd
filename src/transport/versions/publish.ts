/** Publishing makes a new version each time; a version never changes. */
import type { DocumentIssue } from '../../dsl/document.js';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { noAgent } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import type { AgentChange, AgentRecord } from '../../records/agents.js';
import { latestVersion, type VersionRecord } from '../../records/versions.js';
import type { ServerParts } from '../server-parts.js';

/** What to publish; default: the draft, and a title of tenant, agent and time. */
export interface Publication {
  readonly dsl?: JsonObject;
  readonly title?: string;
  readonly description?: string;
}

/**
 * Publishes a document of an agent; its draft stays as it is.
 *
 * @throws EngineError DOCUMENT_INVALID with all issues: what is published has to run.
 */
export async function publish(
  parts: ServerParts,
  tenant: string,
  agent: AgentRecord,
  { dsl = agent.dsl, title, description }: Publication,
): Promise<VersionRecord> {
  requireSound(parts.checkDocument(dsl));
  const createdAt = parts.now();
  const version: VersionRecord = {
    id: createId(),
    agentId: agent.id,
    title: title ?? `${tenant}_${agent.title}_${timeOf(createdAt)}`,
    description: description ?? null,
    dsl,
    createdAt,
  };
  await parts.stores.versions.insert(tenant, version);
  await syncPublished(parts, tenant, agent.id);
  return version;
}

/**
 * Makes the newest version the one that an agent's runs use, or none when all are gone.
 *
 * Each writer reads the newest version again after writing, so that of concurrent writers the newest version wins.
 */
export async function syncPublished({ stores }: ServerParts, tenant: string, agentId: string): Promise<void> {
  const { agents, versions } = stores;
  let latest = await latestVersion(versions, tenant, agentId);
  for (;;) {
    const published = latest === undefined ? undefined : { dsl: latest.dsl, at: latest.createdAt };
    // An agent without versions has no such property, which the type of a change cannot express.
    if ((await agents.update(tenant, agentId, { published } as AgentChange)) === undefined) throw noAgent();
    const newest = await latestVersion(versions, tenant, agentId);
    if (newest?.id === latest?.id) return;
    latest = newest;
  }
}

/** In UTC: `2026-11-21 09:30:00`. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** @throws EngineError DOCUMENT_INVALID with all issues when one of them is an error. */
export function requireSound(issues: readonly DocumentIssue[]): void {
  const errors = issues.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const lines = errors.map(({ path, message }) => `${path}: ${message}`).join('\n');
  throw new EngineError('DOCUMENT_INVALID', `The document cannot be published:\n${lines}`, { details: { issues } });
}
