/** Reading documents of any version. */
import { EngineError, type ErrorCode } from '../errors.js';
import { isJsonObject, type JsonObject, jsonErrorMessage, jsonErrorPlace, jsonExcess, parseJson } from '../json.js';
import type { Document, DocumentIssue, ReadResult } from './document.js';
import { checkSize } from './document-size.js';
import { createIssueList, describeValue, type IssueList } from './issues.js';
import { copyJson, ownObject } from './json-copy.js';
import { migrateLegacy, needsMigration } from './migrate.js';
import { rebuildComponents } from './rebuild.js';
import { detectVersion, explainUnknownVersion, readV1 } from './schema-v1.js';
import { type DocumentSidecar, readV2 } from './schema-v2.js';
import { checkStructure, checkUpstreams } from './structure.js';

/** Longest text of a document, in characters. */
export const MAX_DOCUMENT_CHARACTERS = 16 * 1024 * 1024;

/** Options of reading; all optional. */
export interface ReadOptions {
  /** What a conversion to version 2 set aside: bodies, variables, layout. Only used for version 2. */
  readonly sidecar?: DocumentSidecar;
}

/**
 * Reads a document from JSON text or from a parsed value, whatever version or form it is in, and never throws.
 *
 * Version 1 (nested, flat, or wrapped as `{dsl: …}` in a template file) is migrated from renamed classes first; a file
 * with a layout alone gets its components from the layout. Every problem is reported; a document is given whenever one
 * can be formed, also next to errors, so that a draft can be stored, shown and mended; one that is too large to be checked
 * soon gives the issue `too-large` alone. The value is never changed.
 */
export function readDocument(source: unknown, options: ReadOptions = {}): ReadResult {
  const parsed = typeof source === 'string' ? parseText(source) : { value: source };
  if ('problem' in parsed) return { issues: [parsed.problem] };
  const base = isTemplate(parsed.value) ? ['dsl'] : [];
  const raw = isTemplate(parsed.value) ? parsed.value.dsl : parsed.value;
  const issues = createIssueList(base);
  const value = copyJson(raw, { issues });
  if (!isJsonObject(value)) {
    issues.error('unknown-version', [], `expected a JSON object, received ${describeValue(raw)}`);
    return { issues: issues.list() };
  }
  // What is too large is refused before anything is done whose time grows faster than the document.
  if (issues.list().some(({ code }) => code === 'too-large') || checkSize(value, issues))
    return { issues: issues.list() };
  const document = readObject(value, issues, options);
  return document === undefined ? { issues: issues.list() } : { document, issues: issues.list() };
}

/**
 * Reads a document that is meant to run.
 *
 * @throws EngineError `DOCUMENT_NOT_JSON`, `DOCUMENT_UNKNOWN_VERSION` or `DOCUMENT_INVALID`; the message lists every
 * error with its JSON path, and `details.issues` holds all issues.
 */
export function parseDocument(source: unknown, options: ReadOptions = {}): Document {
  const { document, issues } = readDocument(source, options);
  if (document !== undefined && issues.every(({ severity }) => severity === 'warning')) return document;
  throw documentError(issues);
}

/** The error of a document that cannot be used, with its issues. */
export function documentError(issues: readonly DocumentIssue[]): EngineError {
  const errors = issues.filter(({ severity }) => severity === 'error');
  return new EngineError(codeOf(errors), listIssues(errors), { details: { issues } });
}

/** Puts issues into one message, one line each: path, then what is wrong. */
function listIssues(issues: readonly DocumentIssue[]): string {
  const lines = issues.map((issue) => `${issue.path}: ${issue.message}`);
  if (lines.length === 1) return `The document cannot be used: ${lines[0]}`;
  return [`The document cannot be used; it has ${lines.length} problems:`, ...lines.map((line) => `- ${line}`)].join(
    '\n',
  );
}

function readObject(value: JsonObject, issues: IssueList, options: ReadOptions): Document | undefined {
  const kind = detectVersion(value);
  if (kind === 2) {
    const sidecar = options.sidecar === undefined ? undefined : copyJson(options.sidecar, { issues });
    const document = readV2(value, issues, isJsonObject(sidecar) ? (sidecar as DocumentSidecar) : undefined);
    checkStructure(document, issues);
    return document;
  }
  if (kind === undefined) {
    issues.error('unknown-version', [], explainUnknownVersion(value));
    // A draft may have no component yet, or only nameless ones; anything else is no document.
    if (ownObject(value, 'components') === undefined && ownObject(value, 'graph') === undefined) return undefined;
  }
  const whole = kind === 'graph-only' ? withRebuiltComponents(value, issues) : value;
  const { document, upstreams } = readV1(needsMigration(whole) ? migrateLegacy(whole) : whole, issues);
  checkStructure(document, issues);
  checkUpstreams(document, upstreams, issues);
  return document;
}

function withRebuiltComponents(value: JsonObject, issues: IssueList): JsonObject {
  const message =
    'there are no components; they were rebuilt from the layout, as the editor does when it imports a file';
  issues.warn('rebuilt-from-graph', ['components'], message);
  return { ...value, components: rebuildComponents(ownObject(value, 'graph'), issues) };
}

function parseText(text: string): { readonly value: unknown } | { readonly problem: DocumentIssue } {
  const problem = (code: 'not-json' | 'too-large', message: string): { problem: DocumentIssue } => ({
    problem: { code, severity: 'error', path: '$', message },
  });
  if (text.length > MAX_DOCUMENT_CHARACTERS) {
    return problem('too-large', `the text has ${text.length} characters; at most ${MAX_DOCUMENT_CHARACTERS} are read`);
  }
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  // Where the value is copied, levels and names are refused with their paths.
  const bounds = { isChecked: true };
  const value = parseJson(json, bounds);
  if (value !== undefined) return { value };
  const excess = jsonExcess(json, bounds);
  if (excess !== undefined) return problem('too-large', `the text ${excess}`);
  return problem('not-json', `${jsonErrorMessage(json)} (${jsonErrorPlace(json)})`);
}

function isTemplate(value: unknown): value is { readonly dsl: JsonObject } {
  if (!isJsonObject(value) || Object.hasOwn(value, 'components') || Object.hasOwn(value, 'graph')) return false;
  return ownObject(value, 'dsl') !== undefined;
}

function codeOf(errors: readonly DocumentIssue[]): ErrorCode {
  if (errors.some((issue) => issue.code === 'not-json')) return 'DOCUMENT_NOT_JSON';
  return errors.some((issue) => issue.code === 'unknown-version') ? 'DOCUMENT_UNKNOWN_VERSION' : 'DOCUMENT_INVALID';
}
