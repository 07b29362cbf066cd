/** The built-in pipeline of documents: a chain of steps, whose results are stored. */
import { chain } from '../compose/chain.js';
import type { Step, StepActivation } from '../compose/step.js';
import { step } from '../compose/steps.js';
import { EngineError } from '../errors.js';
import { chunkIds, passageOf } from '../knowledge/base/chunk-ids.js';
import { knowledgeJob } from '../knowledge/base/jobs.js';
import { type DetectedFile, detectFile } from '../knowledge/base/parse-document.js';
import { openIndex } from '../knowledge/base/parts.js';
import type { BaseDraft, ChunkerConfig, DocumentText } from '../knowledge/base/ports.js';
import type { StoredFile } from '../records/files.js';
import type { ChunkRecord } from '../records/knowledge.js';
import { embedChunks } from './embed-chunks.js';
import { enrichChunks } from './enrich-chunks.js';
import { IngestionWork } from './work.js';

/** Share of the whole at which each step ends. */
const ENDS = {
  load: 0.01,
  detect: 0.02,
  parse: 0.3,
  clean: 0.35,
  chunk: 0.5,
  enrich: 0.6,
  embed: 0.85,
  index: 1,
} as const;

/** Names of the steps, in their order. */
export const INGESTION_STEPS = Object.keys(ENDS) as readonly (keyof typeof ENDS)[];

/** Chunks that are stored in one statement. */
const STORED_AT_ONCE = 64;
/** Chunks that go into the index at once. */
const INDEXED_AT_ONCE = 200;

/** What steps pass on: facts, never texts, which lie in the store. */
interface Facts {
  readonly documentId: string;
  /** Id of the text; empty without a file. */
  readonly textId: string;
  /** Whether the text was there already, of the same bytes. */
  readonly isRead: boolean;
  readonly detected: { readonly kind: DetectedFile['kind']; readonly form: DetectedFile['form'] };
}

/** How a document ended. */
export interface IngestionResult {
  readonly documentId: string;
  readonly chunks: number;
}

/**
 * `load → detect → parse → clean → chunk → enrich → embed → index` as a plan of the engine. Its services are an {@link IngestionWork}.
 *
 * What a step has finished is stored with the attempt, and is not done again by a process that goes on with it; every step can be done twice
 * without harm. Chunks whose text did not change keep ids, vectors and what users set of them; the former ones are found until the new ones are.
 */
export const ingestionPipeline: Step<{ readonly documentId: string }, IngestionResult> = chain(
  step('load', load),
  step('detect', detect),
  step('parse', parse),
  step('clean', clean),
  step('chunk', chunk),
  step('enrich', enrich),
  step('embed', embed),
  step('index', index),
);

async function load({ documentId }: { readonly documentId: string }, at: StepActivation): Promise<Facts> {
  const { work, parts, tenant, document } = workOf(at);
  const { fileId, name } = document;
  const found = await work.once(
    'load',
    ENDS.load,
    () => '',
    async () => {
      if (fileId === null) return { textId: '', isRead: true };
      const file = await parts.files.open(tenant, fileId);
      if (file === undefined) throw failed(name, 'its file is not stored any more; upload it again');
      const textId = parts.texts.idOf(document);
      return { textId, isRead: await parts.texts.has(tenant, textId) };
    },
  );
  return { documentId, ...found, detected: { kind: 'unknown', form: 'text' } };
}

async function detect(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work } = workOf(at);
  if (facts.isRead) return facts;
  const detected = await work.once(
    'detect',
    ENDS.detect,
    ({ kind }) => `format: ${kind}`,
    async () => {
      const { kind, form } = detectFile(await fileOf(at));
      return { kind, form };
    },
  );
  return { ...facts, detected };
}

async function parse(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, parts, tenant, document, job } = workOf(at);
  if (facts.isRead) {
    if (facts.textId !== '') await work.tell('parse', ENDS.parse, 'the same bytes were read before');
    return facts;
  }
  await work.once(
    'parse',
    ENDS.parse,
    ({ characters }) => `read ${characters} characters`,
    async () => {
      const parsed = await knowledgeJob('parse', { file: await fileOf(at), detected: facts.detected }, job);
      await parts.texts.save(tenant, rawId(document.id), parsed, parts.now());
      return { characters: parsed.text.length };
    },
  );
  return facts;
}

async function clean(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, parts, tenant, document, job } = workOf(at);
  if (facts.isRead) return facts;
  const { textId, detected } = facts;
  const message = ({ isCut }: { readonly isCut: boolean }) =>
    isCut ? 'the text is too long; its beginning was taken' : '';
  await work.once('clean', ENDS.clean, message, async () => {
    const parsed = await parts.texts.read(tenant, rawId(document.id));
    const cleaned = await knowledgeJob('clean', { document: parsed, form: detected.form }, job);
    await parts.texts.save(tenant, textId, cleaned, parts.now());
    return { characters: cleaned.text.length, isCut: cleaned.isCut === true };
  });
  await parts.texts.delete(tenant, rawId(document.id));
  return facts;
}

async function chunk(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, parts, tenant, document } = workOf(at);
  await work.once(
    'chunk',
    ENDS.chunk,
    ({ chunks }) => `cut into ${chunks} chunks`,
    async () => {
      const text = facts.textId === '' ? { text: '' } : await parts.texts.read(tenant, facts.textId);
      await work.characters(text.text.length);
      const idOf = chunkIds(document.id);
      let batch: ChunkRecord[] = [];
      let chunks = 0;
      const flush = async (): Promise<void> => {
        at.signal.throwIfAborted();
        await parts.store.putChunks(tenant, document.id, document.attempt, batch);
        work.chunks = chunks;
        await work.share('chunk', [ENDS.clean, ENDS.chunk], (batch.at(-1)?.end ?? 0) / (text.text.length || 1));
        batch = [];
      };
      for (const draft of await draftsOf(text, at)) {
        batch.push(recordOf(draft, text, { id: idOf(draft.text), index: chunks, at }));
        chunks += 1;
        if (batch.length === STORED_AT_ONCE) await flush();
      }
      await flush();
      return { chunks };
    },
  );
  return facts;
}

async function enrich(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work } = workOf(at);
  await work.once(
    'enrich',
    ENDS.enrich,
    ({ chunks }) => (chunks === 0 ? '' : `enriched ${chunks} chunks`),
    async () => ({
      chunks: await enrichChunks(work, at.signal),
    }),
  );
  return facts;
}

async function embed(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work } = workOf(at);
  const message = ({ vectors, problem }: { readonly vectors: number; readonly problem: string }) =>
    problem === '' ? (vectors === 0 ? '' : `made ${vectors} vectors`) : `found by words alone: ${problem}`;
  await work.once('embed', ENDS.embed, message, () =>
    embedChunks(work, at.signal, (share) => work.share('embed', [ENDS.enrich, ENDS.embed], share)),
  );
  return facts;
}

async function index({ documentId }: Facts, at: StepActivation): Promise<IngestionResult> {
  const { work, parts, tenant, document } = workOf(at);
  const { store } = parts;
  const passages = openIndex(parts, tenant, work.options.dataset);
  let done = 0;
  for (;;) {
    at.signal.throwIfAborted();
    const current = await store.findDocument(tenant, documentId);
    const some = await store.chunksAfter(tenant, documentId, undefined, INDEXED_AT_ONCE, false);
    if (current === undefined || some.length === 0) break;
    await passages.add(
      some.map((one) => passageOf(current, one)),
      at.signal,
    );
    await store.markIndexed(tenant, documentId, some);
    done += some.length;
    await work.share('index', [ENDS.embed, ENDS.index], done / (current.chunkCount || 1));
  }
  for (;;) {
    const stale = await store.staleChunks(tenant, documentId, document.attempt, INDEXED_AT_ONCE);
    if (stale.length === 0) break;
    await passages.remove(stale);
    await store.deleteChunks(tenant, documentId, stale);
  }
  const chunks = (await store.findDocument(tenant, documentId))?.chunkCount ?? 0;
  work.chunks = chunks;
  await work.end('DONE', chunks === 0 ? 'done; it holds no text' : `done, ${chunks} chunks`);
  return { documentId, chunks };
}

/** What steps use of their activation. */
function workOf(at: StepActivation) {
  const work = at.services;
  if (!(work instanceof IngestionWork)) {
    throw new EngineError('INTERNAL', 'The services of the pipeline of documents must be an IngestionWork.');
  }
  const { parts, tenant, document, threads } = work.options;
  return { work, parts, tenant, document, job: { name: document.name, threads, signal: at.signal } };
}

async function fileOf(at: StepActivation): Promise<StoredFile> {
  const { parts, tenant, document } = workOf(at);
  const { fileId, name, mimeType } = document;
  const file = fileId === null ? undefined : await parts.files.find(tenant, fileId);
  if (file === undefined) throw failed(name, 'its file is not stored any more; upload it again');
  return { id: file.id, name, mimeType, bytes: file.bytes };
}

/** The pieces of a text: by the chunker of the services, or by a built-in one, which works in a thread on long texts. */
async function draftsOf(document: DocumentText, at: StepActivation): Promise<Iterable<BaseDraft>> {
  const { work, document: about, job } = workOf(at);
  const config: ChunkerConfig = { method: about.chunkMethod, settings: about.parserConfig };
  const { chunker } = work.options;
  return chunker === undefined ? knowledgeJob('chunk', { document, config }, job) : chunker.chunk(document, config);
}

function recordOf(
  draft: BaseDraft,
  { text }: DocumentText,
  { id, index: position, at }: { readonly id: string; readonly index: number; readonly at: StepActivation },
): ChunkRecord {
  const { parts, document } = workOf(at);
  if (text.slice(draft.start, draft.end) !== draft.text) {
    const where = `[${draft.start}, ${draft.end})`;
    throw new EngineError(
      'INTERNAL',
      `The chunker gave a chunk of "${document.name}" that is not its text at ${where}.`,
    );
  }
  const now = parts.now();
  const { start, end, tokens, question, page = null, positions = [], headings = [], context = '', tags = [] } = draft;
  return {
    ...{ id, datasetId: document.datasetId, documentId: document.id, index: position },
    ...{ text: draft.text, tokens, start, end, page, positions, headings, context, tags },
    questions: question === undefined ? [] : [question],
    keywords: [],
    isAvailable: true,
    createdAt: now,
    updatedAt: now,
  };
}

/** Id of what a parser read, until it is cleaned. */
function rawId(documentId: string): string {
  return `raw-${documentId}`;
}

function failed(name: string, why: string): EngineError {
  return new EngineError('INGEST_FAILED', `The document "${name}" cannot be made searchable: ${why}.`);
}
