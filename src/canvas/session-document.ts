/** The document of a conversation, with the state that RAGFlow stores in it. */
import { initialVariables } from '../dsl/globals.js';
import { readDocument } from '../dsl/read.js';
import type { Variables } from '../graph/plan.js';
import type { Json, JsonObject } from '../json.js';
import { newConversation } from './conversation.js';

/** What of a conversation its document shows. */
export interface DocumentState {
  /** As the last run left them. */
  readonly variables: Variables;
  /** Ids of the nodes that ran, in the order in which they started; while a run waits, those that wait. */
  readonly path?: readonly string[];
}

/**
 * The document with `globals`, `history`, `path`, `retrieval` and `memory` as the last run left them, or as the first will find them.
 *
 * Version 2 has no room for state: such a document is given as it is, and so is one that cannot be read.
 */
export function documentWithState(document: JsonObject, state: DocumentState | undefined): JsonObject {
  if (document.version === 2) return document;
  const left = state?.variables ?? initialState(document);
  if (left === undefined) return document;
  const { history = [], retrieval = [], memory = [] } = left;
  const globals: Record<string, Json> = {};
  for (const [key, value] of Object.entries(left)) {
    if (key.startsWith('sys.') || key.startsWith('env.')) globals[key] = value;
  }
  return { ...document, globals, history, path: state?.path ?? [], retrieval, memory };
}

function initialState(dsl: JsonObject): Variables | undefined {
  const { document } = readDocument(dsl);
  return document === undefined ? undefined : newConversation(initialVariables(document));
}
