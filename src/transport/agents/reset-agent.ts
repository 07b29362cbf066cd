import type { Document } from '../../dsl/document.js';
import { resetDocument } from '../../dsl/globals.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { noAgent } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/stores.js';
import type { ServerParts } from '../server-parts.js';

/** Parameters in which runs leave values. */
const SLOTS = ['inputs', 'outputs', 'debug_inputs'] as const;

/** Forgets what conversations left in an agent's draft, and gives the draft; makes no version. @throws EngineError DOCUMENT_INVALID. */
export async function resetAgent(
  { stores, now }: ServerParts,
  tenant: string,
  agent: AgentRecord,
): Promise<JsonObject> {
  const { document, issues } = readDocument(agent.dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read, so it cannot be reset.', {
      details: { issues },
    });
  }
  const dsl = withReset(agent.dsl, resetDocument(document));
  if ((await stores.agents.update(tenant, agent.id, { dsl, updatedAt: now() })) === undefined) throw noAgent();
  return dsl;
}

/** The document as its author wrote it, with the parts that conversations change taken from `reset`. */
function withReset(dsl: JsonObject, reset: Document): JsonObject {
  const components = isJsonObject(dsl.components) ? { components: cleared(dsl.components, reset) } : {};
  if (reset.version === 2) return { ...dsl, ...components };
  const { globals, history, retrieval, memory, path } = reset;
  return { ...dsl, ...components, globals, history, retrieval, memory, path };
}

function cleared(components: JsonObject, reset: Document): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([id, entry]): [string, Json] => {
      const clean = reset.components[id]?.params;
      return [id, clean === undefined ? entry : withParams(entry, clean)];
    }),
  );
}

/** Parameters lie under `obj`, or in the entry itself in the flat form. */
function withParams(entry: Json, clean: JsonObject): Json {
  if (!isJsonObject(entry)) return entry;
  if (isJsonObject(entry.obj)) return { ...entry, obj: withParams(entry.obj, clean) };
  const { params } = entry;
  if (!isJsonObject(params)) return entry;
  const slots = SLOTS.filter((name) => Object.hasOwn(params, name) && Object.hasOwn(clean, name));
  const values = Object.fromEntries(slots.map((name) => [name, clean[name] as Json]));
  return { ...entry, params: { ...params, ...values } };
}
