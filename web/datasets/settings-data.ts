/** Settings of a dataset: as its form has them, as the server takes them, and how documents that are there get them. */
import { isJsonObject, type JsonObject } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { type DatasetItem, type DocumentItem, datasetPath, documentPath, parseDocuments } from './dataset-data.js';

/** How documents are cut, as the form has it. */
export interface CutSettings {
  readonly method: string;
  readonly tokens: number;
  /** Line breaks are written `\n`. */
  readonly delimiter: string;
  readonly overlap: number;
  readonly hasChildren: boolean;
  readonly childDelimiter: string;
  readonly followsLayout: boolean;
  readonly keywords: number;
  readonly questions: number;
}

export function readCut({ chunk_method: method, parser_config: config }: DatasetItem): CutSettings {
  const children = isJsonObject(config.parent_child) ? config.parent_child : {};
  return {
    method,
    tokens: numberOf(config.chunk_token_num, 512),
    delimiter: written(textOf(config.delimiter, '\n')),
    overlap: numberOf(config.overlapped_percent, 0),
    hasChildren: children.use_parent_child === true,
    childDelimiter: written(textOf(children.children_delimiter, '\n')),
    followsLayout: textOf(config.layout_recognize, 'DeepDOC') === 'DeepDOC',
    keywords: numberOf(config.auto_keywords, 0),
    questions: numberOf(config.auto_questions, 0),
  };
}

/** Only `naive` joins pieces up to a size; the other methods find their chunks by themselves. */
export const joinsPieces = (method: string): boolean => method === 'naive' || method === 'email';

/** What the server takes, for a dataset and for a document. */
export function cutBody(cut: CutSettings): JsonObject {
  const { method, hasChildren } = cut;
  const config: JsonObject = {
    layout_recognize: cut.followsLayout ? 'DeepDOC' : 'Plain Text',
    auto_keywords: cut.keywords,
    auto_questions: cut.questions,
    ...(joinsPieces(method) && {
      chunk_token_num: cut.tokens,
      delimiter: meant(cut.delimiter) || '\n',
      overlapped_percent: cut.overlap,
      parent_child: { use_parent_child: hasChildren, children_delimiter: meant(cut.childDelimiter) || '\n' },
    }),
  };
  return { chunk_method: method, parser_config: config };
}

/** Documents of one answer. */
const BATCH = 100;

/** A document that did not take the settings. */
export interface Refused {
  readonly name: string;
  readonly error: unknown;
}

/** Gives all documents of a dataset the same settings, and puts them in line; those that refuse are named. @throws ApiError when they cannot be listed. */
export async function applyCut(
  client: Client,
  dataset: string,
  body: JsonObject,
  onProgress: (done: number, of: number) => void,
): Promise<readonly Refused[]> {
  const refused: Refused[] = [];
  let done = 0;
  for (let page = 1; ; page += 1) {
    const { docs, total } = await client.call<{ readonly total: number; readonly docs: readonly DocumentItem[] }>(
      `${datasetPath(dataset)}/documents`,
      { query: { page, page_size: BATCH, orderby: 'create_time', desc: false } },
    );
    const taken: string[] = [];
    for (const { id, name } of docs) {
      try {
        await client.call(documentPath(dataset, id), { method: 'PATCH', body });
        taken.push(id);
      } catch (error) {
        refused.push({ name, error });
      }
      done += 1;
      onProgress(done, total);
    }
    if (taken.length > 0) await parseDocuments(client, dataset, taken);
    if (docs.length < BATCH) return refused;
  }
}

const written = (signs: string): string => signs.replaceAll('\n', '\\n').replaceAll('\t', '\\t');
const meant = (text: string): string => text.replaceAll('\\n', '\n').replaceAll('\\t', '\t');

function numberOf(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function textOf(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
