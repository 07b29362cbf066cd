import type { JsonObject } from '../json.js';
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

/** @throws EngineError NOT_FOUND when there is no such version, or nothing is published. */
export function selectDocument(agent: AgentRecord, fallback: DefaultDocument, choice: DocumentChoice): JsonObject {
  if (choice.version === 'draft') return agent.dsl;
  if (choice.version !== undefined) throw noVersion();
  if (agent.published !== undefined && (choice.isReleased || fallback === 'published')) return agent.published.dsl;
  if (choice.isReleased) throw nothingPublished();
  return agent.dsl;
}
