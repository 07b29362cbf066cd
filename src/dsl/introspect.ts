/** What a document declares of itself: its entry, prologue and mode. */
import type { JsonObject } from '../json.js';
import { canonicalId } from './component-id.js';
import type { Document, DocumentComponent } from './document.js';
import { ownText } from './json-copy.js';

/** Component classes of RAGFlow's ingestion pipelines, a second kind of canvas that shares the file format. */
const INGESTION_TYPES: ReadonlySet<string> = new Set([
  'file',
  'parser',
  'tokenizer',
  'extractor',
  'compiler',
  'tokenchunker',
  'titlechunker',
  'onechunker',
  'qachunker',
  'tablechunker',
  'pagechunker',
  'manualchunker',
]);

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

/** What makes a document an ingestion pipeline: its components of such a pipeline; none in a document at which a run may start. */
export function ingestionComponents(document: Document): readonly DocumentComponent[] {
  if (entriesOf(document).length > 0) return [];
  return Object.values(document.components).filter(({ type }) => INGESTION_TYPES.has(type.trim().toLowerCase()));
}

/** Id of the Begin component: the entry, else the first component of that class, else undefined. */
export function firstBegin(document: Document): string | undefined {
  const [entry] = entriesOf(document);
  if (entry !== undefined) return entry;
  return Object.values(document.components).find((component) => component.type.trim().toLowerCase() === 'begin')?.id;
}

/** Parameters of the component that runs start at; undefined without one. */
export function beginParams(document: Document): JsonObject | undefined {
  const id = firstBegin(document);
  return id === undefined ? undefined : document.components[id]?.params;
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
  return ownText(beginParams(document), key);
}
