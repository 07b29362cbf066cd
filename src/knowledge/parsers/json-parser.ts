import { endingOf } from '../../documents/reading/file-kind.js';
import { unreadable } from '../../documents/reading/limits.js';
import { isJsonObject, type Json, type JsonObject, parseJson, whyNotJson } from '../../json.js';
import { invalidOption, requireObject, requireWhole } from '../../operators/invalid-option.js';
import type { ParseFunction } from '../ports.js';
import { documentsOf, fileNameOf, type ParsedText, sourceName } from './parsed.js';
import { textOf } from './text-parser.js';

/** How JSON is read. */
export interface JsonParserOptions {
  /** Names that lead to the list whose items are documents, with dots between them: `data.items`. @default the whole value */
  readonly list?: string;
  /** Name of the text in an item that is an object. @default the item as JSON */
  readonly textKey?: string;
  /** Names of an item that become metadata. @default with `textKey` all others, else none */
  readonly metadataKeys?: readonly string[];
  /** Items at most. @default 100_000 */
  readonly maxItems?: number;
}

/**
 * A parser of JSON and of lines of JSON (`.jsonl`, `.ndjson`): each item of a list, and each line, is a document; any other value is one.
 * An item without `textKey` in it is its JSON.
 *
 * Errors of a call: `FILE_UNREADABLE` (no JSON, with its place; no list where `list` leads), `LIMIT_REACHED` beyond `maxItems` is
 * `FILE_UNREADABLE` as well, as nothing is read in part.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function jsonParser(options: JsonParserOptions = {}): ParseFunction {
  requireObject('jsonParser', 'options', options, 'an object');
  const { list, maxItems = 100_000 } = options;
  requireWhole('jsonParser', 'maxItems', maxItems, 1);
  if (list === '') throw invalidOption('jsonParser', 'list', 'names with dots between them', list);
  return async (input, call = {}) => {
    call.signal?.throwIfAborted();
    const name = sourceName(input.uri);
    const text = textOf(input);
    const value = isLines(input.uri, input.mimeType) ? linesOf(text, name, maxItems) : jsonOf(text, name, '');
    const found = list === undefined ? value : listAt(value, list, name);
    const items: readonly Json[] = Array.isArray(found) ? (found as readonly Json[]) : [found];
    if (items.length > maxItems) throw tooMany(name, maxItems);
    return documentsOf(
      input,
      items.map((item) => textOfItem(item, options)),
      call,
    );
  };
}

function isLines(uri: string, mimeType = ''): boolean {
  return /^(?:jsonl|ndjson)$/.test(endingOf(fileNameOf(uri))) || /\b(?:jsonl|x-ndjson)\b/.test(mimeType);
}

function linesOf(text: string, name: string, maxItems: number): Json[] {
  const values: Json[] = [];
  let number = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? undefined : end).trim();
    number += 1;
    if (line !== '') values.push(jsonOf(line, name, ` in line ${number}`));
    if (values.length > maxItems) throw tooMany(name, maxItems);
    at = end === -1 ? text.length : end + 1;
  }
  return values;
}

function jsonOf(text: string, name: string, where: string): Json {
  const value = parseJson(text);
  if (value === undefined) throw unreadable(name, `what it holds${where} ${whyNotJson(text)}.`);
  return value;
}

function listAt(value: Json, path: string, name: string): readonly Json[] {
  let found: Json | undefined = value;
  for (const key of path.split('.')) found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  if (Array.isArray(found)) return found as readonly Json[];
  throw unreadable(name, `there is no list at "${path}".`);
}

function textOfItem(item: Json, { textKey, metadataKeys }: JsonParserOptions): ParsedText {
  if (!isJsonObject(item)) return { text: typeof item === 'string' ? item : JSON.stringify(item) };
  const own = textKey !== undefined && Object.hasOwn(item, textKey) ? item[textKey] : undefined;
  const text = typeof own === 'string' ? own : JSON.stringify(own ?? item, undefined, 2);
  const keys = metadataKeys ?? (own === undefined ? [] : Object.keys(item).filter((key) => key !== textKey));
  return { text, metadata: pick(item, keys) };
}

function pick(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(item, key) ? [[key, item[key] ?? null]] : [])));
}

function tooMany(name: string, maxItems: number) {
  return unreadable(name, `it has more than ${maxItems.toLocaleString('en-US')} items.`);
}
