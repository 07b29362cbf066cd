import type { Observable } from 'rxjs';
import { convertMarkdown, DOCUMENT_FORMATS, type DocumentFormat } from '../../documents/index.js';
import { renderValue } from '../../dsl/render-value.js';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject, jsonOrText } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { OptionalServices } from '../services.js';
import { documentText } from './think-text.js';

/** Deepest nesting that is searched for files. */
const MAX_DEPTH = 32;
/** Longest text that is read as JSON, in UTF-16 units. */
const MAX_JSON_TEXT = 1_048_576;

/** Asks for the description of a file to stay in the text, beside the file itself. */
const SHOW = 'include_download_info_in_content';

/**
 * The files that an answer offers: objects with `doc_id`, `filename` and `mime_type`, each `doc_id` once, in order.
 *
 * They are found at any depth of a value, and in a text that is the JSON of such an object or of a list of them.
 */
export class Downloads {
  readonly #files = new Map<Json, JsonObject>();

  /** All files so far. */
  get list(): readonly JsonObject[] {
    return [...this.#files.values()];
  }

  /** Collects the files in a value and returns its text: none for files alone, unless one of them asks to be shown. */
  take(value: Json): string {
    const files = filesAlone(value);
    if (files === undefined) {
      if (typeof value === 'object') this.#search(value, 0);
      return renderValue(value);
    }
    for (const file of files) this.#add(file);
    if (!files.some((file) => file[SHOW] === true)) return '';
    const shown = files.map(withoutSwitch);
    return renderValue(Array.isArray(value) || files.length > 1 ? shown : (shown[0] ?? null));
  }

  #search(value: Json, depth: number): void {
    if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return;
    if (isFile(value)) this.#add(value);
    else for (const item of Array.isArray(value) ? value : Object.values(value)) this.#search(item as Json, depth + 1);
  }

  #add(file: JsonObject): void {
    const { doc_id: id = null } = file;
    if (!this.#files.has(id)) this.#files.set(id, withoutSwitch(file));
  }
}

/** The files that a value, or a text as JSON, consists of; undefined when it holds anything else. */
export function filesAlone(value: Json): readonly JsonObject[] | undefined {
  const mayBeFiles = typeof value === 'string' && value.length <= MAX_JSON_TEXT && value.includes('"doc_id"');
  const read = mayBeFiles ? jsonOrText(value) : value;
  const items: readonly Json[] = Array.isArray(read) ? read : [read];
  return items.length > 0 && items.every(isFile) ? (items as readonly JsonObject[]) : undefined;
}

function isFile(value: Json): value is JsonObject {
  return isJsonObject(value) && ['doc_id', 'filename', 'mime_type'].every((key) => Object.hasOwn(value, key));
}

function withoutSwitch(file: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(file).filter(([key]) => key !== SHOW));
}

/**
 * Stores an answer as a file and describes it as `{doc_id, format, file_name}`. An unknown format is Markdown, as in
 * RAGFlow.
 *
 * Errors: `NODE_FAILED` without a file store; `DOCUMENT_NOT_WRITTEN`; those of the file store.
 */
export function attach(text: string, wanted: string, { files, threads }: OptionalServices): Observable<JsonObject> {
  const format = (Object.hasOwn(DOCUMENT_FORMATS, wanted) ? wanted : 'markdown') as DocumentFormat;
  const { mimeType } = DOCUMENT_FORMATS[format];
  return fromAbortable(async (signal) => {
    if (files === undefined) {
      throw new EngineError('NODE_FAILED', 'This process has no service for files; start the run with { files }.');
    }
    const { bytes } = await convertMarkdown(documentText(text), { format, signal, threads });
    signal.throwIfAborted();
    const id = await files.save({ name: `answer.${format}`, mimeType, bytes });
    return { doc_id: id, format, file_name: `${id.slice(0, 8)}.${format}` };
  });
}
