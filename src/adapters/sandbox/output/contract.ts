/** What a document expects of a script: one output of its own with a type. */
import { isJsonObject, type Json, type JsonObject } from '../../../json.js';

/** Outputs that every script has; a document's own is none of these. */
const SYSTEM_KEYS = new Set([
  'content',
  'actual_type',
  'attachments',
  '_ERROR',
  '_ARTIFACTS',
  '_ATTACHMENT_CONTENT',
  'raw_result',
  '_created_time',
  '_elapsed_time',
  'stdout',
  'stderr',
  'exit_code',
]);

/** Characters of a type; each level of it is walked. */
const MAX_TYPE = 200;

/** Name and type of the output that the returned value goes to. */
export interface Contract {
  readonly name: string;
  readonly type: string;
}

/** What documents that say nothing expect. */
export const DEFAULT_OUTPUTS: JsonObject = {
  result: { value: '', type: 'object' },
  attachments: { value: [], type: 'Array<String>' },
};

/** The contract of a document's `outputs`: the one key that is not ours, or the only key; a text says why there is none. */
export function readContract(outputs: JsonObject): Contract | string {
  const keys = Object.keys(outputs);
  const own = keys.filter((key) => !SYSTEM_KEYS.has(key));
  const candidates = own.length === 0 && keys.length === 1 ? keys : own;
  const [name] = candidates;
  if (name === undefined || candidates.length > 1) {
    return `outputs must declare exactly one output of your own; it declares ${candidates.length === 0 ? 'none' : candidates.map((key) => JSON.stringify(key)).join(', ')}`;
  }
  if (name.trim() === '' || name.includes('.')) {
    return `the output ${JSON.stringify(name)} needs a name that is not blank and has no "." in it`;
  }
  const type = typeOf(outputs[name] ?? null);
  if (type.length > MAX_TYPE)
    return `the type of the output ${JSON.stringify(name)} is longer than ${MAX_TYPE} characters`;
  return { name, type };
}

function typeOf(declared: Json): string {
  return isJsonObject(declared) && typeof declared.type === 'string' ? declared.type : '';
}
