/** What Extractors of pipelines do: a model is asked about every chunk, by a schema or by a prompt. */
import { map, type Observable } from 'rxjs';
import { decodeText } from '../documents/reading/decode-text.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { separatedRecords } from '../knowledge/base/chunking/table-rows.js';
import type { Sampling } from '../models/chat-model.js';
import { collectAnswer } from '../models/collect-answer.js';
import type { ChatChoice } from '../models/router.js';
import type { ChunkChange, ChunkRecord } from '../records/knowledge.js';
import { readArguments } from '../tools/read-arguments.js';
import { askAboutChunk, type FoundOfChunk, isWanted, some, type WantedOfChunks } from './ask-about-chunk.js';
import { changeChunks, changeOf, type Enriched, MAX_KEYWORDS, MAX_QUESTIONS, MAX_TAGS } from './enrich-chunks.js';
import { knownTagsOf } from './known-tags.js';
import type { IngestionWork, StepPlace } from './work.js';

/** What is extracted by a schema. */
export interface Extraction extends Omit<WantedOfChunks, 'knownTags'> {
  /** Empty: the default chat model. */
  readonly llmId: string;
  /** Id of the file with a text and its tags in each row. @default the datasets that the document names */
  readonly tagFileId?: string | undefined;
}

/** What is extracted by a prompt, and what its answer is. */
export interface PromptedExtraction {
  readonly field: 'summary' | 'keywords' | 'questions' | 'tags' | 'metadata';
  readonly llmId: string;
  readonly system: string;
  readonly sampling: Sampling;
  promptFor(text: string): string;
}

/** Keys of facts that a document is given, values of each, and units of a value. */
const MAX_FACTS = 100;
const MAX_VALUES = 100;
const MAX_VALUE = 500;
/** UTF-16 units of a chunk that a prompt shows, and of an answer that is kept. */
const MAX_SHOWN = 32_000;
const MAX_ANSWER = 8_000;
/** Tags of a file that a model may choose from, and bytes of it that are read. */
const MAX_FILE_TAGS = 300;
const MAX_FILE_BYTES = 4 * 1_048_576;

/** Asks a model for what is wanted of every chunk that lacks it. */
export function extractFacts(
  work: IngestionWork,
  place: StepPlace,
  { llmId, tagFileId, ...wanted }: Extraction,
  signal: AbortSignal,
): Promise<Enriched> {
  return extracted(work, place, { llmId, signal }, async () => {
    const knownTags = (wanted.tags ?? 0) > 0 ? await tagsFor(work, tagFileId) : [];
    const all = { ...wanted, knownTags };
    if (!isWanted(all)) return undefined;
    return (model, chunk) => askAboutChunk(model, chunk, all);
  });
}

/** Asks a model by a prompt about every chunk. */
export function extractFound(
  work: IngestionWork,
  place: StepPlace,
  { field, llmId, system, sampling, promptFor }: PromptedExtraction,
  signal: AbortSignal,
): Promise<Enriched> {
  return extracted(work, place, { llmId, signal }, async () => (model, chunk) => {
    const asked$ = model.model.chat({
      model: model.name,
      messages: [
        ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
        { role: 'user', content: promptFor(chunk.text.slice(0, MAX_SHOWN)) },
      ],
      sampling,
    });
    return asked$.pipe(
      collectAnswer(),
      map(({ text }) => readAnswer(field, text.slice(0, MAX_ANSWER).trim())),
    );
  });
}

/** How a model is asked about one chunk. */
type Ask = (model: ChatChoice, chunk: ChunkRecord) => Observable<Partial<FoundOfChunk>>;

function extracted(
  work: IngestionWork,
  place: StepPlace,
  { llmId, signal }: { readonly llmId: string; readonly signal: AbortSignal },
  prepare: () => Promise<Ask | undefined>,
): Promise<Enriched> {
  const { tenant, chat } = work.options;
  const message = ({ chunks, problem }: Enriched) =>
    [chunks === 0 ? '' : `enriched ${chunks} chunks`, problem].filter((one) => one !== '').join('; ');
  return work.once(place, message, async () => {
    const ask = await prepare();
    if (ask === undefined) return { chunks: 0, problem: '' };
    const model = chat?.(tenant, llmId);
    if (model === undefined) {
      const which = llmId === '' ? 'no chat model is configured' : `there is no chat model "${llmId}"`;
      return { chunks: 0, problem: `not enriched: ${which}` };
    }
    const facts = new Facts(work.options.document.metadata);
    const changeBy = (chunk: ChunkRecord): Observable<ChunkChange | undefined> =>
      ask(model, chunk).pipe(
        map((found) => {
          facts.add(found.facts ?? {});
          return changeOf(chunk, found);
        }),
      );
    const enriched = await changeChunks(work, place, signal, changeBy);
    if (facts.hasNew) await work.tellAbout(facts.all);
    return enriched;
  });
}

/** Facts of all chunks of a document: the values of each key, without repeating any. */
class Facts {
  readonly #values = new Map<string, Set<string>>();
  readonly #before: JsonObject;
  hasNew = false;

  constructor(before: JsonObject) {
    this.#before = before;
  }

  add(found: JsonObject): void {
    for (const [key, value] of Object.entries(found)) {
      // What users have written stays.
      if (Object.hasOwn(this.#before, key)) continue;
      const values = this.#values.get(key) ?? new Set<string>();
      if (!this.#values.has(key) && this.#values.size >= MAX_FACTS) continue;
      for (const text of textsOf(value)) if (values.size < MAX_VALUES) values.add(text);
      if (values.size === 0) continue;
      this.#values.set(key, values);
      this.hasNew = true;
    }
  }

  get all(): JsonObject {
    const found = [...this.#values].map(([key, values]): [string, Json] => {
      const [first = '', ...more] = values;
      return [key, more.length === 0 ? first : [first, ...more]];
    });
    return { ...this.#before, ...Object.fromEntries(found) };
  }
}

function textsOf(value: Json): readonly string[] {
  const all = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return all.flatMap((one) => {
    if (one === null || typeof one === 'object') return [];
    const text = String(one).trim().slice(0, MAX_VALUE);
    return text === '' ? [] : [text];
  });
}

function readAnswer(field: PromptedExtraction['field'], text: string): Partial<FoundOfChunk> {
  switch (field) {
    case 'summary':
      return { summary: text };
    case 'keywords':
      return { keywords: some(text.split(/[,，;；\n]/), MAX_KEYWORDS) };
    case 'tags':
      return { tags: some(text.split(/[,，;；\n]/), MAX_TAGS) };
    case 'questions':
      return {
        questions: some(
          text.split('\n').map((line) => line.replace(/^\s*(?:[-*]|\d+[.)、])\s+/, '')),
          MAX_QUESTIONS,
        ),
      };
    case 'metadata':
      return { facts: objectIn(text) };
  }
}

/** The object in an answer; none is no fault, as a prompt cannot promise one. */
function objectIn(text: string): JsonObject {
  try {
    const found: unknown = readArguments('metadata', text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return isJsonObject(found) ? found : {};
  } catch {
    return {};
  }
}

/** Tags of a file of this tenant, else of the datasets of the document. */
async function tagsFor(work: IngestionWork, fileId: string | undefined): Promise<readonly string[]> {
  const { parts, tenant, document } = work.options;
  if (!fileId) return knownTagsOf(work, document.parserConfig.tag_kb_ids);
  const file = await parts.files.find(tenant, fileId);
  if (file === undefined || file.bytes.length > MAX_FILE_BYTES) return [];
  const text = decodeText(file.bytes, file.mimeType);
  const tags = new Set<string>();
  for (const { cells } of separatedRecords(text)) {
    for (const tag of (cells.at(-1) ?? '').split(/[,，]/)) if (tag.trim() !== '') tags.add(tag.trim());
    if (tags.size >= MAX_FILE_TAGS) break;
  }
  return [...tags].slice(0, MAX_FILE_TAGS);
}
