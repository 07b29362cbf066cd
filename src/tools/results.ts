/**
 * What a search found, in the two forms that others need: text for a model, which cites passages as `[ID:n]`, and records by
 * that number, which a reader's client resolves.
 */
import { createHash } from 'node:crypto';
import { of } from 'rxjs';
import type { References } from '../adapters/tool-event.js';
import { markdownTable } from '../documents/markdown-tables.js';
import { ownValue } from '../dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { estimateTokens } from '../models/estimate-tokens.js';
import { type Shape, type Tool, type ToolResult, toolResult } from './tool.js';

/** Something found, as a tool gives it. */
export interface Passage {
  readonly content: string;
  readonly title?: string | undefined;
  readonly url?: string | undefined;
  /** Higher is better. @default 1 */
  readonly score?: number | undefined;
  /** Shown to the model, one line each. */
  readonly metadata?: JsonObject | undefined;
  /** Id of the passage in its store. @default made from its content */
  readonly id?: string | undefined;
  /** @default that of the passage */
  readonly documentId?: string | undefined;
  /** Further fields of the store: `dataset_id`, `positions`, `vector_similarity` … */
  readonly record?: JsonObject | undefined;
}

/** Characters (code points) that are kept of one passage, as in RAGFlow's `agent/tools/base.py`. */
const MAX_PASSAGE = 10_000;

/** Most tokens for a model, and the share of them after which no further passage follows (`kb_prompt`). */
const MAX_TOKENS = 200_000;
const FULL = 0.97;

/** Numbers that passages are cited by. */
const DISPLAY_IDS = 500;

const INLINE_IMAGE = /!?\[[a-z]+\]\(data:image\/png;base64,[ 0-9A-Za-z/_=+-]+\)/g;

/** The number under which the passage with this id is cited: `sha1(id) mod 500`. */
export function displayIdOf(id: string): number {
  return sha1Modulo(id, DISPLAY_IDS);
}

/** The id of a passage that has none: `sha1(content) mod 10^8`. */
export function passageIdOf(content: string): string {
  return String(sha1Modulo(content, 100_000_000));
}

/** Text for a model and records for a reader; passages without content are left out, long ones cut. */
export function referencesOf(passages: readonly Passage[]): { readonly text: string; readonly references: References } {
  // Maps: a title may be any text, `__proto__` too.
  const chunks = new Map<string, JsonObject>();
  const documents = new Map<string, JsonObject>();
  const blocks: string[] = [];
  let tokens = 0;
  for (const passage of passages) {
    const content = cut(passage.content.replace(INLINE_IMAGE, ''));
    if (content.trim() === '') continue;
    const id = passage.id ?? passageIdOf(content);
    chunks.set(String(displayIdOf(id)), chunkOf(passage, id, content));
    addDocument(documents, passage, id);
    if (tokens > FULL * MAX_TOKENS) continue;
    tokens += estimateTokens(content);
    blocks.push(blockOf(passage, id, content));
  }
  const references = { chunks: Object.fromEntries(chunks), doc_aggs: Object.fromEntries(documents) };
  return { text: blocks.join('\n'), references };
}

/** Merges the results of two searches; the later one wins where both have the same number. */
export function mergeReferences(first: References, second: References): References {
  const documents = new Map(Object.entries(first.doc_aggs));
  for (const [name, document] of Object.entries(second.doc_aggs)) {
    const before = documents.get(name);
    const count = (before === undefined ? 0 : countOf(before)) + countOf(document);
    documents.set(name, { ...document, count });
  }
  return { chunks: { ...first.chunks, ...second.chunks }, doc_aggs: Object.fromEntries(documents) };
}

/** References in the last entry of a conversation's `retrieval`; empty where there are none. */
export function readReferences(entry: Json | undefined): References {
  const records = (value: Json | undefined): Record<string, JsonObject> => {
    const entries = Object.entries(isJsonObject(value) ? value : {});
    return Object.fromEntries(entries.filter((pair): pair is [string, JsonObject] => isJsonObject(pair[1])));
  };
  const { chunks, doc_aggs } = isJsonObject(entry) ? entry : {};
  return { chunks: records(chunks), doc_aggs: records(doc_aggs) };
}

function chunkOf(passage: Passage, id: string, content: string): JsonObject {
  const { record = {}, metadata } = passage;
  const has = (name: string): Json => ownValue(record, name) ?? null;
  return {
    id,
    content,
    document_id: passage.documentId ?? id,
    document_name: passage.title ?? null,
    dataset_id: has('dataset_id'),
    image_id: has('image_id'),
    positions: has('positions'),
    url: passage.url ?? null,
    similarity: passage.score ?? 1,
    vector_similarity: has('vector_similarity'),
    term_similarity: has('term_similarity'),
    row_id: has('row_id'),
    doc_type: has('doc_type'),
    document_metadata: metadata ?? null,
  };
}

function addDocument(documents: Map<string, JsonObject>, { title, url, documentId }: Passage, id: string): void {
  const name = title ?? '';
  const before = documents.get(name);
  const count = before === undefined ? 1 : countOf(before) + 1;
  documents.set(name, { doc_name: name, doc_id: documentId ?? id, count, url: url ?? null });
}

function countOf(document: JsonObject): number {
  return typeof document.count === 'number' ? document.count : 1;
}

function blockOf({ title, url, metadata = {} }: Passage, id: string, content: string): string {
  const lines = ['', `ID: ${displayIdOf(id)}`];
  const name = (title ?? '').replace(/[\r\n]+/g, ' ').trim();
  if (name !== '') lines.push(`├── Title: ${name}`);
  if (url !== undefined && url !== '') lines.push(`├── URL: ${url}`);
  for (const [key, value] of Object.entries(metadata)) {
    lines.push(`├── ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  lines.push('└── Content:', content);
  return lines.join('\n');
}

/** Cuts by code points, so that no character is halved. */
function cut(text: string): string {
  if (text.length <= MAX_PASSAGE) return text;
  return Array.from(text.slice(0, 2 * MAX_PASSAGE))
    .slice(0, MAX_PASSAGE)
    .join('');
}

function sha1Modulo(text: string, modulo: number): number {
  const digest = createHash('sha1').update(text).digest('hex');
  return Number(BigInt(`0x${digest}`) % BigInt(modulo));
}

/** Outputs of every tool that searches. */
export const searchOutputs = {
  formalized_content: { type: 'string', description: 'What was found, as text for a model, each passage with its id.' },
  json: { type: 'array', description: 'What was found, as the source gave it.' },
} as const;

/** The result of a search: text and references from its passages, `json` as it came. */
export function searchResult(passages: readonly Passage[], json: Json): ToolResult {
  const { text, references } = referencesOf(passages);
  return toolResult(text, { formalized_content: text, json }, { references });
}

/** A tool that searches: what it finds are passages, and what it looks for is the user's question where a node sets nothing. */
export interface Search<A extends Shape, P extends Shape>
  extends Omit<Tool<A, P>, 'nodeDefaults' | 'outputs' | 'timeoutSeconds' | 'call'>,
    Partial<Pick<Tool, 'outputs' | 'timeoutSeconds'>> {
  /** The argument that says what to look for. @default 'query' */
  readonly subject?: keyof A & string;
  /** As `call` of a tool; never called without a subject. */
  readonly search: Tool<A, P>['call'];
}

/** Makes a tool that searches; an empty subject finds nothing. `timeoutSeconds`: 12 by default. */
export function defineSearch<A extends Shape, P extends Shape>({
  search,
  subject = 'query',
  ...rest
}: Search<A, P>): Tool<A, P> {
  return {
    nodeDefaults: { [subject]: '{sys.query}' },
    outputs: searchOutputs,
    timeoutSeconds: 12,
    ...rest,
    call: (args, call) => ((args[subject] as string).trim() === '' ? of(NOTHING_FOUND) : search(args, call)),
  };
}

/** The result of a search without a query. */
export const NOTHING_FOUND: ToolResult = toolResult('', { formalized_content: '', json: [] });

/** Columns at most; rows with ever new columns are no table. */
const MAX_COLUMNS = 100;

/** Rows as a table in Markdown, columns in the order in which they first occur; empty without rows. */
export function rowsTable(rows: readonly JsonObject[], maxColumns = MAX_COLUMNS): string {
  if (rows.length === 0) return '';
  const header = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, maxColumns);
  const cells = rows.map((row) => header.map((name) => cellOf(ownValue(row, name))));
  return markdownTable(header, cells);
}

/** An object as a table of two columns: names and values. */
export function pairsTable(object: JsonObject): string {
  return markdownTable(
    ['Name', 'Value'],
    Object.entries(object).map(([name, value]) => [name, cellOf(value)]),
  );
}

/** A value as text in a table; nothing for null. */
export function cellOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
