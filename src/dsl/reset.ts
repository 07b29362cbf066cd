import type { Json, JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import { createComponentMap, type Document, type DocumentComponent } from './document.js';
import { initialVariables } from './globals.js';
import { ownObject } from './json-copy.js';

/** How much of a conversation a reset forgets. */
export type ResetMode = 'full' | 'keep-memory' | 'new-session';

/**
 * Gives a document back as it was before a conversation; the input stays as it is.
 *
 * - `full`: history, path, citations and memory are emptied, `sys.*` and `env.*` start anew, and values that runs left
 *   in the inputs and outputs of components are cleared.
 * - `keep-memory`: the same, but history, citations and memory stay.
 * - `new-session`: history (also `sys.history`) and path alone are emptied.
 */
export function resetDocument(document: Document, mode: ResetMode = 'full'): Document {
  if (mode === 'new-session') {
    return { ...document, history: [], path: [], globals: { ...document.globals, 'sys.history': [] } };
  }
  const components = createComponentMap();
  for (const [id, component] of Object.entries(document.components)) components[id] = clearValues(component);
  const cleared: Document = { ...document, components, globals: initialVariables(document), path: [] };
  return mode === 'keep-memory' ? cleared : { ...cleared, history: [], retrieval: [], memory: [] };
}

function clearValues(component: DocumentComponent): DocumentComponent {
  const params: Record<string, Json> = { ...component.params };
  for (const key of ['inputs', 'outputs']) {
    const slots = ownObject(params, key);
    if (slots !== undefined) params[key] = clearSlots(slots);
  }
  if (ownObject(params, 'debug_inputs') !== undefined) params.debug_inputs = {};
  return { ...component, params };
}

function clearSlots(slots: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, slot] of Object.entries(slots)) {
    result[name] = isJsonObject(slot) && Object.hasOwn(slot, 'value') ? { ...slot, value: null } : slot;
  }
  return result;
}
