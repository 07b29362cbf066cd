/** The output of a script: its contract, types, result, failure and attachments. */
import { sortKeys } from '../../dsl/json-copy.js';
import { readLiteral } from '../../dsl/python-literal.js';
import { isJsonObject, isTooDeep, type Json, type JsonObject } from '../../json.js';
import { isArtifact } from './artifact-rules.js';
import type { CodeArtifact, CodeResult } from './code-runner.js';

/** Outputs that every script has; a document's own is none of these. */
const SYSTEM_KEYS = new Set(
  `content actual_type attachments _ERROR _ARTIFACTS _ATTACHMENT_CONTENT raw_result _created_time _elapsed_time stdout stderr
  exit_code`.split(/\s+/),
);

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

// Types of values, as the contract of a script's result names them.

/**
 * The type of a value: `String`, `Number`, `Boolean`, `Object`, `Null` or `Array<…>`; mixed and empty lists are
 * `Array<Any>`.
 */
export function inferType(value: Json): string {
  if (value === null) return 'Null';
  if (!Array.isArray(value)) return NAMES[typeof value] as string;
  const types = new Set(value.map(inferType));
  const [only] = types;
  return `Array<${types.size === 1 ? only : 'Any'}>`;
}

/**
 * Gives where a value is not of the expected type; undefined when it is.
 *
 * Names are read without regard to case; an empty one and `Any` accept everything. Unknown names accept nothing.
 */
export function findMismatch(value: Json, expected: string, path = ''): string | undefined {
  const type = expected.trim().toLowerCase();
  if (type === '' || type === 'any') return undefined;
  const [, item] = /^(?:array|list)<(.*)>$/.exec(type) ?? (type === 'array' ? ['', 'any'] : []);
  if (item === undefined) {
    return inferType(value).toLowerCase() === type ? undefined : mismatch(path, expected, value);
  }
  if (!Array.isArray(value)) return mismatch(path, expected, value);
  for (const [at, entry] of value.entries()) {
    const found = findMismatch(entry, item, `${path}[${at}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function mismatch(path: string, expected: string, value: Json): string {
  const where = path === '' ? 'value' : path;
  return `CodeExec contract mismatch at ${where}: expected type ${canonical(expected)}, got ${inferType(value)}`;
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'String',
  number: 'Number',
  boolean: 'Boolean',
  object: 'Object',
  null: 'Null',
  any: 'Any',
  array: 'Array<Any>',
};

/** A type as it is written: `array<string>` is `Array<String>`. */
function canonical(type: string): string {
  const name = type.trim().toLowerCase();
  const [, item] = /^(?:array|list)<(.*)>$/.exec(name) ?? [];
  if (item !== undefined) return `Array<${canonical(item)}>`;
  return Object.hasOwn(NAMES, name) ? (NAMES[name] as string) : type.trim();
}

/** What a script gave: its structured result; else what it printed, read as JSON or a Python literal; else that text. */
export function resultValue({ result, stdout }: Pick<CodeResult, 'result' | 'stdout'>): Json {
  if (result !== undefined) return result.value;
  const text = stdout.trim();
  if (text === '') return '';
  const literal = readLiteral(text);
  return literal === undefined || isTooDeep(literal) ? text : literal;
}

/** A value as text: nothing for null, a text as it is, lists and objects as JSON with sorted keys, two spaces a level. */
export function canonicalText(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(sortKeys(value), null, 2);
}

/** Characters of a script's output that an error quotes. */
const MAX_SHOWN = 4_000;

const REASONS: Readonly<Record<Exclude<CodeResult['status'], 'success'>, string>> = {
  program_error: '',
  resource_limit_exceeded: 'the script exceeded a limit',
  unauthorized_access: 'the script tried something that the sandbox does not allow',
  program_runner_error: 'the sandbox did not run the script',
};

/**
 * Gives why a script counts as failed; undefined when it does not.
 *
 * One that ended well failed nevertheless when all that it left is text on stderr; beside a result that is only a warning.
 */
export function failureText(result: CodeResult): string | undefined {
  const { status, stderr, stdout, detail, exitCode } = result;
  const printed = shorten(stderr.trim());
  if (status === 'success') {
    const leftNothing = result.result === undefined && result.artifacts.length === 0 && stdout.trim() === '';
    return printed !== '' && leftNothing ? printed : undefined;
  }
  if (status === 'program_error') return printed || detail || `the script ended with exit code ${exitCode}`;
  const kind = result.limit ?? result.unauthorized;
  const about = [...new Set([detail, printed])].filter((part) => part !== undefined && part !== '').join('\n');
  return [`${REASONS[status]}${kind === undefined ? '' : ` (${kind})`}`, about]
    .filter((part) => part !== '')
    .join(': ');
}

/** Beginning and end: the last line of a traceback matters most. */
function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN / 2)}\n…\n${text.slice(-MAX_SHOWN / 2)}`;
}

/** Characters of one file that are shown. */
const MAX_TEXT = 20_000;

/** A file of a script and where it can be fetched; the URL is empty when it was not stored. */
export interface LinkedArtifact {
  readonly file: CodeArtifact;
  readonly url: string;
}

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^image\//, 'image'],
  [/pdf/, 'pdf'],
  [/csv/, 'csv'],
  [/json/, 'json'],
  [/html/, 'html'],
];
const TEXTS = new Set(['csv', 'json', 'html']);

/**
 * Files as text for a model: their number, then each with its type and, where it is text, what is in it.
 *
 * Only text is read: a parser of anything else, fed with what a script chose, would be a way out of the sandbox.
 */
export function attachmentText(artifacts: readonly LinkedArtifact[]): string {
  if (artifacts.length === 0) return '';
  const blocks = artifacts.map(({ file, url }, at) => {
    const type = attachmentType(file);
    return `attachment${at + 1} (${type}): ${file.name}\n${textOf(file, type, url)}`;
  });
  return [`attachment_count: ${artifacts.length}`, ...blocks].join('\n\n');
}

/** The type in one word: by the media type, else by the ending of the name. */
function attachmentType({ name, mimeType }: Pick<CodeArtifact, 'name' | 'mimeType'>): string {
  const known = TYPES.find(([pattern]) => pattern.test(mimeType))?.[1];
  return known ?? /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? 'file';
}

function textOf({ name, bytes }: CodeArtifact, type: string, url: string): string {
  const unreadable = `Artifact generated but parse failed. Download: ${url || name}`;
  if (!TEXTS.has(type) || !isArtifact(name, bytes.byteLength)) return unreadable;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n…` : text;
  } catch {
    return unreadable;
  }
}
