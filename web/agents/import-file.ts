/** Files that are to become agents: what they hold, and what the server would make of them. */
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { ApiError, type Client } from '../api/client.js';
import { hasKind } from '../canvas/kinds.js';

/** A canvas file, or a text that was pasted. */
export interface ImportFile {
  /** Unique among those that are open. */
  readonly id: string;
  /** Name of the file; empty for a text. */
  readonly name: string;
  readonly text: string;
}

/** Larger files are not read: no document is so large. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Reads files as texts. */
export function readFiles(files: Iterable<File>): Promise<readonly ImportFile[]> {
  const reading = [...files].map(async (file): Promise<ImportFile> => {
    const text = file.size > MAX_FILE_BYTES ? '' : await file.text();
    return { id: crypto.randomUUID(), name: file.name, text };
  });
  return Promise.all(reading);
}

/** What a file holds: undefined when it is no JSON. */
export function valueIn({ text }: ImportFile): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The document in a file: RAGFlow's template files have it under `dsl`, beside their texts. */
export function documentIn(value: Json | undefined): Json | undefined {
  if (!isJsonObject(value)) return value;
  const isTemplate = isJsonObject(value.dsl) && value.components === undefined && value.graph === undefined;
  return isTemplate ? value.dsl : value;
}

/** Title and description that a template file has beside its document, in the given language or English. */
export function textsIn(
  value: Json | undefined,
  language: string,
): { readonly title: string; readonly description: string } {
  if (!isJsonObject(value)) return { title: '', description: '' };
  return { title: textIn(value.title, language), description: textIn(value.description, language) };
}

function textIn(value: Json | undefined, language: string): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return '';
  const text = value[language] ?? value.en;
  return typeof text === 'string' ? text : '';
}

/** What is said of a document before it is imported. */
export interface Preview {
  readonly valid: boolean;
  readonly kind: 'agent' | 'pipeline' | null;
  readonly version: 1 | 2 | null;
  readonly components: number;
  /** How many there are of each type. */
  readonly types: Readonly<Record<string, number>>;
  readonly unknown_types: readonly string[];
  /** What an export in version 2 would leave out. */
  readonly losses: readonly { readonly part: string; readonly message: string }[];
  readonly issues: readonly PreviewIssue[];
}

export interface PreviewIssue {
  readonly severity: 'error' | 'warning';
  readonly path: string;
  readonly message: string;
}

/** What servers answer that do not know the question. */
const UNASKED: ReadonlySet<number> = new Set([404, 405]);

/** Asks the server what it makes of a file; a server without that question is not needed for an answer. */
export async function previewOf(client: Client, file: ImportFile, signal: AbortSignal): Promise<Preview> {
  const value = valueIn(file);
  if (!isJsonObject(value)) return previewHere(file);
  try {
    return await client.call<Preview>('/agents/validate', { method: 'POST', body: { dsl: value }, signal });
  } catch (error) {
    if (error instanceof ApiError && UNASKED.has(error.status)) return previewHere(file);
    throw error;
  }
}

/** What the page itself can say: everything but parameters. */
export async function previewHere({ text }: ImportFile): Promise<Preview> {
  const { readDocument } = await import('../../src/dsl/read.js');
  const { document, issues } = readDocument(text);
  const types: Record<string, number> = {};
  for (const { type } of Object.values(document?.components ?? {})) types[type] = (types[type] ?? 0) + 1;
  const isPipeline = issues.some(({ code }) => code === 'ingestion-pipeline');
  return {
    valid:
      document !== undefined &&
      issues.every(({ severity, code }) => severity === 'warning' || code === 'ingestion-pipeline'),
    kind: document === undefined ? null : isPipeline ? 'pipeline' : 'agent',
    version: document?.version ?? null,
    components: Object.keys(document?.components ?? {}).length,
    types,
    unknown_types: Object.keys(types).filter((type) => !hasKind(type.toLowerCase())),
    losses: [],
    issues,
  };
}

/** A title for what is imported: that of the file, else its name. */
export function titleFor(file: ImportFile, value: Json | undefined, language: string, fallback: string): string {
  return (
    textsIn(value, language).title ||
    file.name
      .replace(/\.json$/i, '')
      .replace(/[_-]+/g, ' ')
      .trim() ||
    fallback
  );
}

/** Whether a file can become an agent at all: a draft may have any faults, but it has to be a document. */
export function isImportable(preview: Preview | undefined, document: Json | undefined): document is JsonObject {
  return preview !== undefined && preview.version !== null && isJsonObject(document);
}
