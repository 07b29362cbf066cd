/** The parsing of one document: what its steps have in common. */
import type { Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { RecogniseLayout } from '../knowledge/base/layout/layout.js';
import type { BaseParts } from '../knowledge/base/parts.js';
import type { DocumentChunker, EnrichChunks } from '../knowledge/base/ports.js';
import type { ChatChoice } from '../models/router.js';
import type { DatasetRecord, DocumentChange, DocumentRecord, IngestionStep } from '../records/knowledge.js';
import type { Threads } from '../threads/threads.js';

/** Where a step stands: its name, and which part of the whole it is, from 0 to 1. */
export interface StepPlace {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The place of a part of a step. */
export function placeWithin({ name, from, to }: StepPlace, part: string, begin: number, end: number): StepPlace {
  const at = (share: number): number => from + (to - from) * share;
  return { name: `${name}/${part}`, from: at(begin), to: at(end) };
}

/** A chat model of a tenant by its id, the empty one being the default, of those that see pictures when it `needs` that; undefined when there is none. */
export type FindChat = (tenant: string, llmId: string, needs?: 'images') => ChatChoice | undefined;

/** A canvas that parses documents in place of the built-in steps. */
export interface Pipeline {
  /** Changes with the canvas: steps that another one has finished do not count. */
  readonly hash: string;
  /** Parses the document of a work: cold, completes when it is searchable. Errors: those of its nodes. */
  run(work: IngestionWork): Observable<unknown>;
}

/** The pipeline that a document names. @throws EngineError INGEST_FAILED when there is none that can run, and why */
export type FindPipeline = (tenant: string, pipelineId: string) => Promise<Pipeline>;

/** What parsing needs beside the parts of the knowledge base. */
export interface IngestionServices {
  readonly parts: BaseParts;
  /** Cuts documents, in the calling thread. @default the built-in chunkers, long texts in a thread */
  readonly chunker?: DocumentChunker | undefined;
  /** Finds keywords and questions where a document asks for them. @default none */
  readonly enrich?: EnrichChunks | undefined;
  /** Models that see pictures and answer questions about chunks. @default none */
  readonly chat?: FindChat | undefined;
  /** @default none: documents that name one fail */
  readonly pipelines?: FindPipeline | undefined;
  /** Sees the layout of pages. @default none: pages are read in the order of the file */
  readonly layout?: RecogniseLayout | undefined;
  /** @default a thread for each file */
  readonly threads?: Threads | undefined;
}

/** One document that is parsed. */
export interface IngestionWorkOptions extends IngestionServices {
  readonly tenant: string;
  readonly document: DocumentRecord;
  readonly dataset: DatasetRecord;
  /** Steps that a process before has finished, by name. */
  readonly finished: ReadonlyMap<string, IngestionStep>;
  readonly report: (progress: IngestionProgress) => void;
}

/** Progress that no step has ended with is stored so often at most, in milliseconds. */
const STORE_EVERY_MS = 1_000;

/** The work on one document; it is over when the document is stopped, put in line again, or deleted. */
export class IngestionWork {
  readonly options: IngestionWorkOptions;
  readonly #lines: string[] = [];
  readonly #beganAt: number;
  #line: readonly string[] = [];
  #progress = 0;
  #chunks: number;
  #storedAt = 0;

  constructor(options: IngestionWorkOptions) {
    const { document, parts } = options;
    this.options = options;
    this.#chunks = document.chunkCount;
    this.#beganAt = document.beganAt ?? parts.now();
    if (document.progressMsg !== '') this.#lines.push(document.progressMsg);
  }

  /** A step's own result; from the store when a process before has finished the step. */
  async once<O extends JsonObject>(
    { name, from, to }: StepPlace,
    message: (output: O) => string,
    work: () => Promise<O>,
  ): Promise<O> {
    const known = this.finished<O>(name);
    if (known !== undefined) {
      this.#progress = to;
      return known;
    }
    const startedAt = this.options.parts.now();
    const output = await work();
    await this.note(name, output, startedAt);
    await this.tell({ name, from, to }, message(output));
    return output;
  }

  /** What a step has stored; undefined when it has not finished. */
  finished<O extends JsonObject>(name: string): O | undefined {
    const known = this.options.finished.get(name)?.output;
    return isJsonObject(known) ? (known as O) : undefined;
  }

  /** Stores how far a step is, or what it gave. @throws EngineError CONFLICT when the work is over */
  async note(name: string, output: JsonObject, startedAt = this.options.parts.now()): Promise<void> {
    const { parts, tenant, document } = this.options;
    const step = { name, output, startedAt, finishedAt: parts.now() };
    if (!(await parts.store.saveStep(tenant, document.id, document.attempt, step))) throw overtaken(document);
  }

  /** The nodes of a pipeline, in the order in which they work on it. */
  set line(nodes: readonly string[]) {
    this.#line = nodes;
  }

  /** The place of a node of the pipeline: each is an equal part of the whole. */
  placeOf(node: string): StepPlace {
    const at = this.#line.indexOf(node);
    const count = this.#line.length;
    return at === -1 ? { name: node, from: 0, to: 1 } : { name: node, from: at / count, to: (at + 1) / count };
  }

  /** Reports and stores how far it is. */
  async tell({ name, to }: StepPlace, message = ''): Promise<void> {
    const { parts } = this.options;
    this.#progress = to;
    if (message !== '') this.#lines.push(`${clockTime(parts.now())} ${message}`);
    this.#report(name, message);
    await this.#store({});
  }

  /** Reports how far a step is, from 0 to 1 of its part, and stores it now and then. */
  async share({ name, from, to }: StepPlace, share: number): Promise<void> {
    this.#progress = from + (to - from) * Math.min(1, share);
    this.#report(name, '');
    if (this.options.parts.now() - this.#storedAt >= STORE_EVERY_MS) await this.#store({});
  }

  /** Notes how many chunks there are. */
  set chunks(count: number) {
    this.#chunks = count;
  }

  /** Notes how long the text is. */
  async characters(characters: number): Promise<void> {
    await this.#store({ characters });
  }

  /** Stores facts of the document. */
  async tellAbout(metadata: JsonObject): Promise<void> {
    await this.#store({ metadata });
  }

  /** Ends the work; the document then is searchable, or has failed. */
  async end(run: 'DONE' | 'FAIL', message: string): Promise<void> {
    const { parts } = this.options;
    this.#progress = run === 'DONE' ? 1 : -1;
    this.#lines.push(`${clockTime(parts.now())} ${message}`);
    await this.#store({ run });
    this.#report('', message, run);
  }

  async #store(change: Pick<DocumentChange, 'run' | 'characters' | 'metadata'>): Promise<void> {
    const { parts, tenant, document } = this.options;
    this.#storedAt = parts.now();
    const progress = {
      progress: this.#progress,
      progressMsg: this.#lines.slice(-MAX_LINES).join('\n'),
      beganAt: this.#beganAt,
      durationMs: Math.max(0, this.#storedAt - this.#beganAt),
    };
    const stored = await parts.store.updateDocument(tenant, document.id, { ...progress, ...change }, document.attempt);
    if (stored === undefined) throw overtaken(document);
  }

  #report(step: string, message: string, run: IngestionProgress['run'] = 'RUNNING'): void {
    const { tenant, document, report } = this.options;
    const { id: documentId, datasetId } = document;
    report({ tenant, datasetId, documentId, run, progress: this.#progress, step, message, chunks: this.#chunks });
  }
}

/** Lines of progress that are stored of a document. */
const MAX_LINES = 100;

/** Hours, minutes and seconds, as RAGFlow writes them. */
function clockTime(time: number): string {
  return new Date(time).toISOString().slice(11, 19);
}

/** What work ends with whose document has another attempt now, or is gone. */
function overtaken({ id, attempt }: DocumentRecord): EngineError {
  return new EngineError(
    'CONFLICT',
    `Attempt ${attempt} to parse document "${id}" is over: it was stopped, begun anew or deleted.`,
  );
}

/** Whether work ended because its document is none of it any more. */
export function isOvertaken(error: unknown): boolean {
  return EngineError.is(error) && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');
}
