/** What is done with files of users, models and web pages in threads, and how it is asked for. */
import type { Observable } from 'rxjs';
import type { StoredFile } from '../records/files.js';
import { type Threads, type Transferred, threadPerJob } from '../threads/threads.js';
import type { Page, PageRequest } from './pages/page.js';
import type { PagedText } from './reading/paged-text.js';
import type { SpreadsheetDone, SpreadsheetWork } from './spreadsheets/spreadsheet-work.js';
import type { DocumentFile, DocumentOptions } from './write-document.js';

/** The jobs by name: what each is given, and what it gives. */
export interface DocumentJobs {
  /** The content of a file, as `readPages`. */
  readonly read: readonly [request: { readonly file: StoredFile; readonly maxCharacters: number }, text: PagedText];
  /** A web page, as `parsePage`. */
  readonly page: readonly [request: PageRequest, page: Page];
  /** The text of a page, as `htmlToText`. */
  readonly text: readonly [request: { readonly html: string; readonly name: string }, text: string];
  /** A file made of Markdown, as `convertMarkdown`. */
  readonly convert: readonly [request: ConvertRequest, file: DocumentFile];
  /** What a spreadsheet node does, as `doSpreadsheetWork`. */
  readonly spreadsheet: readonly [work: SpreadsheetWork, done: SpreadsheetDone];
}

export interface ConvertRequest {
  readonly markdown: string;
  readonly options: Omit<DocumentOptions, 'signal' | 'threads'>;
}

/** Some of the jobs, done. */
export type JobsOf<K extends keyof DocumentJobs> = {
  readonly [J in K]: (given: DocumentJobs[J][0]) => Promise<DocumentJobs[J][1]>;
};

/** What a thread is given for some of the jobs. */
export type DocumentRequest<K extends keyof DocumentJobs> = {
  readonly [J in K]: { readonly job: J; readonly given: DocumentJobs[J][0] };
}[K];

export interface DocumentJobOptions {
  /** The threads of the process. @default a thread of its own */
  readonly threads?: Threads | undefined;
  /** @default that of the threads */
  readonly timeoutMs?: number;
  /** The error for a job that cannot be done, and why. */
  readonly unable: (why: string) => Error;
}

/** Files of strangers are read within the smaller limits; the other threads make something that the author of a canvas asked for. */
const READING = { file: new URL('./reading/reading-thread', import.meta.url), isLarge: false } as const;
const WORKING = { file: new URL('./document-thread', import.meta.url), isLarge: true } as const;
const THREADS: Readonly<Record<keyof DocumentJobs, typeof READING | typeof WORKING>> = {
  read: READING,
  text: READING,
  page: WORKING,
  convert: WORKING,
  spreadsheet: WORKING,
};

/**
 * Does a job in a thread; cold, emits once. Unsubscribing ends the work. Buffers of what is given stay usable.
 *
 * Errors: those of the job; LIMIT_REACHED when too many jobs wait; what `unable` gives for what needs more time or memory than there is.
 */
export function documentJob<K extends keyof DocumentJobs>(
  job: K,
  given: DocumentJobs[K][0],
  { threads = threadPerJob, timeoutMs, unable }: DocumentJobOptions,
): Observable<DocumentJobs[K][1]> {
  const message = () => {
    const transfer: Transferred[] = [];
    // Data of nodes holds no bytes, and may be long.
    const sent = 'data' in given ? given : withOwnBytes(given, transfer);
    return { data: { job, given: sent }, transfer };
  };
  return threads.run({ ...THREADS[job], message, unable, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** A view of bytes would be cloned with all of its buffer, and what is moved is lost to others; so bytes are copied, and the copies moved. */
function withOwnBytes(value: unknown, transfer: Transferred[]): unknown {
  if (value instanceof Uint8Array) {
    const own = new Uint8Array(value);
    transfer.push(own.buffer);
    return own;
  }
  if (Array.isArray(value)) return value.map((one) => withOwnBytes(one, transfer));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withOwnBytes(one, transfer)]));
}

/** The threads among the services of a run, if there are any. */
export function threadsOf(services: unknown): Threads | undefined {
  if (typeof services !== 'object' || services === null || !('threads' in services)) return undefined;
  return services.threads as Threads | undefined;
}
