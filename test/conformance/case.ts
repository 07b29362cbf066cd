import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { scriptSchema } from '../../src/models/scripted.js';

// Typed as the engine's own JSON: read-only.
const json: z.ZodType<Json> = z.json();
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);

const event = z.strictObject({
  event: z.string(),
  component_id: z.string().optional(),
  component_type: z.string().optional(),
  data: jsonObject.optional(),
});

const node = z.strictObject({
  runs: z.int().min(0).describe('How often it was invoked in this run; 0 for a form that is waited for.'),
  outputs: jsonObject,
  error: z.string().nullable(),
});

const modelCall = z.strictObject({
  system: z.string(),
  messages: z.array(z.strictObject({ role: z.string(), content: z.string() })),
  tools: z.boolean(),
});

const outcome = z.enum(['finished', 'waiting', 'failed', 'canceled']);

const runTrace = z.strictObject({
  outcome,
  events: z.array(event),
  nodes: z.record(z.string(), node),
  answer: z.string(),
  user_inputs: z.strictObject({ inputs: jsonObject, tips: z.string() }).optional(),
  globals: jsonObject,
  workflow_outputs: jsonObject.nullable(),
  error: z.string().optional(),
  error_raised: z.string().optional(),
  model_calls: z.array(modelCall).optional(),
});

const run = z.strictObject({
  query: json,
  user_id: z.string(),
  inputs: jsonObject.optional(),
  files: z.array(jsonObject).optional(),
  cancel_after_event: z
    .strictObject({ event: z.string(), component_id: z.string().optional(), count: z.int().min(1).optional() })
    .optional(),
});

const exchange = z.strictObject({
  method: z.string(),
  path: z.string(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: json.optional(),
  delay_ms: z.int().min(0).optional(),
  times: z.int().min(1).optional(),
  echo: z.boolean().optional(),
});

const file = z.union([
  z.strictObject({ id: z.string(), name: z.string(), text: z.string() }),
  z.strictObject({ id: z.string(), name: z.string(), base64: z.string() }),
]);

const allowed = z.union([
  z.strictObject({ load_error: z.literal(true) }),
  z.strictObject({ runs: z.array(z.strictObject({ outcome, answer: z.string().optional() })) }),
]);

/** A golden case as its file holds it; every field is known, so that a new one cannot go unnoticed. */
export const caseSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  parity: z.enum(['exact', 'values', 'quirk']),
  notes: z.string(),
  dsl: z.looseObject({ components: jsonObject }),
  model: scriptSchema.nullable(),
  http: z.array(exchange).optional(),
  files: z.array(file).optional(),
  observe_calls: z.boolean().optional(),
  runs: z.array(run).min(1),
  expect: z.array(runTrace).optional(),
  expect_load_error: z.string().optional(),
  clean: z.strictObject({ any_of: z.array(allowed).min(1) }).optional(),
});

export type ConformanceCase = z.output<typeof caseSchema>;
export type RunSpec = ConformanceCase['runs'][number];
export type CaseFile = z.output<typeof file>;
export type Exchange = z.output<typeof exchange>;
export type TraceEvent = z.output<typeof event>;
export type NodeTrace = z.output<typeof node>;
export type ModelCall = z.output<typeof modelCall>;
/** What one run showed; golden and played traces have the same form. */
export type RunTrace = z.output<typeof runTrace>;
/** What a whole case showed. */
export type Trace = { readonly loadError: string } | { readonly runs: readonly RunTrace[] };

const CASES = path.join(import.meta.dirname, 'cases');

/** Reads all cases, sorted by name. Throws on a file that is no case, naming it. */
export function readCases(folder = CASES): readonly ConformanceCase[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const parsed = caseSchema.safeParse(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
      if (!parsed.success) throw new Error(`${file} is no conformance case:\n${z.prettifyError(parsed.error)}`);
      return parsed.data;
    });
}

/** A node of the document, as far as the comparison needs it. */
export interface CaseNode {
  readonly id: string;
  readonly type: string;
  readonly downstream: readonly string[];
  readonly parent: string | undefined;
}

/** The nodes of a case's document, in its order; read leniently, since some documents are broken on purpose. */
export function nodesOf({ dsl }: Pick<ConformanceCase, 'dsl'>): readonly CaseNode[] {
  return Object.entries(dsl.components).map(([id, entry]) => {
    const { obj, downstream, parent_id: parent } = isJsonObject(entry) ? entry : {};
    const type = isJsonObject(obj) ? obj.component_name : undefined;
    return {
      id,
      type: typeof type === 'string' ? type : '',
      downstream: Array.isArray(downstream) ? downstream.filter((next) => typeof next === 'string') : [],
      parent: typeof parent === 'string' ? parent : undefined,
    };
  });
}

/** What a file of a case holds. */
export function bytesOf(file: CaseFile): Uint8Array<ArrayBuffer> {
  return 'text' in file ? Buffer.from(file.text, 'utf8') : Buffer.from(file.base64, 'base64');
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** What a client says that a file is, going by its name. */
export function mimeTypeOf({ name }: CaseFile): string {
  return MIME_TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
}

/** The value with one text in place of another, wherever it occurs in a text. */
export function replaceText<T>(value: T, from: string, to: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(from, to)) as T;
}
