/** Test collections as folders of files. */
import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { Judgements } from './metrics.js';

/** A document of a collection. */
export interface JudgedDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** A question of a collection, and what answers it. */
export interface JudgedQuestion {
  readonly id: string;
  readonly text: string;
  readonly judged: Judgements;
  /** What answers it in words; empty: nothing in the collection does. @default not told */
  readonly answers?: readonly string[] | undefined;
}

/** A test collection. */
export interface Collection {
  readonly documents: readonly JudgedDocument[];
  /** Those with at least one relevant document. */
  readonly questions: readonly JudgedQuestion[];
  /** Those of which the collection says that it holds no answer. @default none */
  readonly unanswerable?: readonly JudgedQuestion[] | undefined;
}

/** Longest line, in UTF-16 units. */
const MAX_LINE = 16 * 1_048_576;
/** Lines of one file. */
const MAX_LINES = 5_000_000;

/**
 * Reads `corpus.jsonl` (`{id, title, text}` a line), `queries.jsonl` (`{id, text}` a line, and `answers`, a list of texts, where they are known), both also with `.gz`, and `qrels.tsv` (question, document, relevance, behind a
 * line of names) of a folder.
 *
 * @throws EngineError USAGE naming the file and the line that cannot be read.
 */
export async function readCollection(folder: string): Promise<Collection> {
  const judged = new Map<string, Map<string, number>>();
  for await (const { text, where } of linesOf(path.join(folder, 'qrels.tsv'))) {
    const [question = '', document = '', relevance = ''] = text.split('\t');
    if (question === 'query' && document === 'document') continue;
    const value = Number(relevance);
    if (document === '' || relevance.trim() === '' || !Number.isFinite(value)) {
      throw unreadable(where, 'must be a question, a document and a relevance with tabs between them');
    }
    const own = judged.get(question) ?? new Map<string, number>();
    judged.set(question, own.set(document, value));
  }
  const documents: JudgedDocument[] = [];
  for await (const { text, where } of linesOf(packed(folder, 'corpus.jsonl'))) {
    const record = objectOf(text, where);
    documents.push({
      id: textIn(record, 'id', where),
      title: optionalText(record, 'title'),
      text: textIn(record, 'text', where),
    });
  }
  const questions: JudgedQuestion[] = [];
  const unanswerable: JudgedQuestion[] = [];
  for await (const { text, where } of linesOf(packed(folder, 'queries.jsonl'))) {
    const record = objectOf(text, where);
    const id = textIn(record, 'id', where);
    const own = judged.get(id) ?? new Map<string, number>();
    const { answers: given } = record;
    const answers = Array.isArray(given) ? given.filter((one) => typeof one === 'string') : undefined;
    const question = { id, text: textIn(record, 'text', where), judged: own, ...(answers && { answers }) };
    if ([...own.values()].some((value) => value > 0)) questions.push(question);
    else if (answers?.length === 0) unanswerable.push(question);
  }
  if (questions.length === 0) throw unreadable(folder, 'has no question with a relevant document');
  return { documents, questions, ...(unanswerable.length > 0 && { unanswerable }) };
}

function packed(folder: string, name: string): string {
  const plain = path.join(folder, name);
  return existsSync(plain) ? plain : `${plain}.gz`;
}

/** Lines that are not empty, with their places. */
async function* linesOf(file: string): AsyncGenerator<{ readonly text: string; readonly where: string }> {
  const source = createReadStream(file);
  const stream: Readable = file.endsWith('.gz') ? source.pipe(createGunzip()) : source;
  source.on('error', (error) => stream.destroy(error));
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  try {
    for await (const text of lines) {
      number += 1;
      const where = `line ${number} of "${file}"`;
      if (text.length > MAX_LINE || number > MAX_LINES) throw unreadable(where, 'is too long, or there are too many');
      if (text.trim() !== '') yield { text, where };
    }
  } catch (cause) {
    throw EngineError.is(cause) ? cause : unreadable(`"${file}"`, (cause as Error).message, cause);
  } finally {
    source.destroy();
    stream.destroy();
  }
}

function objectOf(text: string, where: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw unreadable(where, 'must be a JSON object');
}

function textIn(record: JsonObject, name: string, where: string): string {
  const value = record[name];
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw unreadable(where, `must have a text "${name}"`);
}

function optionalText(record: JsonObject, name: string): string {
  const value = record[name];
  return typeof value === 'string' ? value : '';
}

function unreadable(what: string, why: string, cause?: unknown): EngineError {
  return new EngineError('USAGE', `Cannot evaluate: ${what} ${why}.`, { cause });
}
