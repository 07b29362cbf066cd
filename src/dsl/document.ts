import type { Json, JsonObject } from '../json.js';

/** What can be wrong with a document. */
export type DocumentIssueCode =
  // the file as a whole
  | 'not-json'
  | 'unknown-version'
  | 'too-large'
  | 'too-deep'
  | 'unsafe-key'
  | 'not-json-value'
  | 'too-many-issues'
  | 'wrong-type'
  | 'unknown-field'
  // components
  | 'no-components'
  | 'id-invalid'
  | 'id-mismatch'
  | 'id-duplicate'
  | 'name-missing'
  | 'name-empty'
  | 'downstream-unknown'
  | 'upstream-differs'
  | 'self-edge'
  | 'parent-unknown'
  | 'parent-cycle'
  | 'border-crossed'
  | 'no-entry'
  | 'several-entries'
  | 'ingestion-pipeline'
  // a graph without components
  | 'rebuilt-from-graph'
  | 'graph-not-rebuilt';

/** One problem of a document. With severity `error` the document cannot run. */
export interface DocumentIssue {
  /** One of {@link DocumentIssueCode}, or a code of a later check (component parameters). */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** Where: a JSON path such as `$.components["LLM:A"].obj.params.llm_id`. */
  readonly path: string;
  /** What was expected, what was received, what to do. */
  readonly message: string;
  /** Id of the component concerned. */
  readonly component?: string;
}

/** One node of a document, whatever version it was written in. */
export interface DocumentComponent {
  /** Its key in `components`, spelled as written. */
  readonly id: string;
  /** Class name (`component_name`), after migration of renamed classes, otherwise as written. */
  readonly type: string;
  /** Display name from the editor's layout; the type when there is none. */
  readonly name: string;
  /** Parameters without RAGFlow's bookkeeping and without `custom_header`. */
  readonly params: JsonObject;
  /** Ids of the successors: each once, in order, spelled as the keys are. */
  readonly downstream: readonly string[];
  /** Id of the Iteration, Loop or Parallel whose body it belongs to. */
  readonly parent?: string;
  /** Keys of its entry that Runnel does not know; those of the inner object lie under `obj`. */
  readonly extra?: JsonObject;
}

/** A canvas in the one form that everything behind the reader uses. */
export interface Document {
  /** The version it was written in. */
  readonly version: 1 | 2;
  /** Components by id, in declaration order; without prototype, so that any id is a safe key. */
  readonly components: Readonly<Record<string, DocumentComponent>>;
  /** Values under flat keys `sys.*` and `env.*`. */
  readonly globals: JsonObject;
  /** Declared `env.*` variables: name to `{name, type, value, description}`. */
  readonly variables: JsonObject;
  /** Turns of the conversation as `[role, payload]`. */
  readonly history: readonly Json[];
  /** Citations: a list with one entry per turn, or a single entry in old files. */
  readonly retrieval: Json;
  /** Summaries of tool calls as `[user, assistant, summary]`. */
  readonly memory: readonly Json[];
  /** Ids in the order they ran in this conversation. */
  readonly path: readonly string[];
  /** The editor's layout, `{nodes, edges}`. */
  readonly graph?: JsonObject;
  /** Top-level keys that Runnel does not know, written back as they are. */
  readonly extra: JsonObject;
  /** Version 1 key of each component of a version 2 document, where a sidecar remembers it. */
  readonly v1Keys?: JsonObject;
}

/** What reading gave: a document whenever one can be formed at all, and everything that is wrong with it. */
export interface ReadResult {
  readonly document?: Document;
  readonly issues: readonly DocumentIssue[];
}

/** An empty map for components: no prototype, so `constructor` and `__proto__` are ordinary keys. */
export function createComponentMap(): Record<string, DocumentComponent> {
  return Object.create(null) as Record<string, DocumentComponent>;
}
