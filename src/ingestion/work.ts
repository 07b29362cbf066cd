/** The parsing of one document: what its steps have in common. */
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import { isJsonObject } from '../json.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { BaseParts } from '../knowledge/base/parts.js';
import type { DocumentChunker, EnrichChunks } from '../knowledge/base/ports.js';
import type { DatasetRecord, DocumentRecord, IngestionStep } from '../records/knowledge.js';
import type { Threads } from '../threads/threads.js';

/** What parsing needs beside the parts of the knowledge base. */
export interface IngestionServices {
  readonly parts: BaseParts;
  /** Cuts documents, in the calling thread. @default the built-in chunkers, long texts in a thread */
  readonly chunker?: DocumentChunker | undefined;
  /** Finds keywords and questions where a document asks for them. @default none */
  readonly enrich?: EnrichChunks | undefined;
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
    name: string,
    end: number,
    message: (output: O) => string,
    work: () => Promise<O>,
  ): Promise<O> {
    const { parts, tenant, document, finished } = this.options;
    const known = finished.get(name)?.output;
    if (isJsonObject(known)) {
      this.#progress = end;
      return known as O;
    }
    const startedAt = parts.now();
    const output = await work();
    const finishedAt = parts.now();
    const step = { name, output, startedAt, finishedAt };
    if (!(await parts.store.saveStep(tenant, document.id, document.attempt, step))) throw overtaken(document);
    await this.tell(name, end, message(output));
    return output;
  }

  /** Reports and stores how far it is. */
  async tell(step: string, progress: number, message = ''): Promise<void> {
    const { parts } = this.options;
    this.#progress = progress;
    if (message !== '') this.#lines.push(`${clockTime(parts.now())} ${message}`);
    this.#report(step, message);
    await this.#store({});
  }

  /** Reports how far a step is, from 0 to 1 of its part, and stores it now and then. */
  async share(step: string, [from, to]: readonly [number, number], share: number): Promise<void> {
    this.#progress = from + (to - from) * Math.min(1, share);
    this.#report(step, '');
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

  /** Ends the work; the document then is searchable, or has failed. */
  async end(run: 'DONE' | 'FAIL', message: string): Promise<void> {
    const { parts } = this.options;
    this.#progress = run === 'DONE' ? 1 : -1;
    this.#lines.push(`${clockTime(parts.now())} ${message}`);
    await this.#store({ run });
    this.#report('', message, run);
  }

  async #store(change: { readonly run?: 'DONE' | 'FAIL'; readonly characters?: number }): Promise<void> {
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
