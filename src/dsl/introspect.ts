import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import { canonicalId, findComponent } from './component-id.js';
import type { Document, DocumentComponent } from './document.js';
import { ownText, ownValue } from './json-copy.js';

/** The component called `id`. @throws EngineError `NOT_FOUND` when there is none. */
export function requireComponent(document: Document, id: string): DocumentComponent {
  const component = findComponent(document, id);
  if (component === undefined) throw new EngineError('NOT_FOUND', `there is no component ${JSON.stringify(id)}`);
  return component;
}

/** Parameters of a component. @throws EngineError `NOT_FOUND`. */
export function componentParams(document: Document, id: string): JsonObject {
  return requireComponent(document, id).params;
}

/** Class name of a component. @throws EngineError `NOT_FOUND`. */
export function componentType(document: Document, id: string): string {
  return requireComponent(document, id).type;
}

/** Display name of a component. @throws EngineError `NOT_FOUND`. */
export function componentName(document: Document, id: string): string {
  return requireComponent(document, id).name;
}

/**
 * The form a component asks with: `params.inputs`, field name to field.
 *
 * @throws EngineError `NOT_FOUND` when the component does not exist or has no form, `DOCUMENT_INVALID` when the form
 * is no object.
 */
export function inputForm(document: Document, id: string): JsonObject {
  const component = requireComponent(document, id);
  const form = ownValue(component.params, 'inputs');
  if (form === undefined || form === null) {
    throw new EngineError('NOT_FOUND', `component ${JSON.stringify(component.id)} has no form (params.inputs)`);
  }
  if (!isJsonObject(form)) {
    throw new EngineError('DOCUMENT_INVALID', `params.inputs of ${JSON.stringify(component.id)} must be an object`);
  }
  return form;
}

/**
 * Ids at which a run may start, the first one being the entry.
 *
 * RAGFlow starts at the literal id `begin`; `Begin`, `begin_`, `Begin:x` and `begin_x` are what conversion between the
 * versions makes of such ids, so they count too. The class must be Begin.
 */
export function entriesOf(document: Document): string[] {
  const entries: string[] = [];
  for (const component of Object.values(document.components)) {
    if (component.type.trim().toLowerCase() !== 'begin') continue;
    const form = canonicalId(component.id);
    if (form !== 'begin' && !form.startsWith('begin_')) continue;
    if (component.id === 'begin') entries.unshift(component.id);
    else entries.push(component.id);
  }
  return entries;
}

/** Id of the Begin component: the entry, else the first component of that class, else undefined. */
export function firstBegin(document: Document): string | undefined {
  const [entry] = entriesOf(document);
  if (entry !== undefined) return entry;
  return Object.values(document.components).find((component) => component.type.trim().toLowerCase() === 'begin')?.id;
}

/** What the canvas says before the first question; empty without a Begin or when it says nothing. */
export function prologue(document: Document): string {
  return beginText(document, 'prologue') ?? '';
}

/** How the canvas is meant to be started: `conversational` (also when unset), `task` or `Webhook`. */
export function mode(document: Document): string {
  return beginText(document, 'mode') ?? 'conversational';
}

function beginText(document: Document, key: string): string | undefined {
  const id = firstBegin(document);
  return id === undefined ? undefined : ownText(document.components[id]?.params, key);
}
