/** Reading, cutting and indexing documents in threads. */

import { unreadable } from '../../documents/reading/limits.js';
import { type PageItems, readPdfItems } from '../../documents/reading/read-pdf-items.js';
import { firstValue } from '../../operators/from-abortable.js';
import type { StoredFile } from '../../records/files.js';
import { type Threads, threadPerJob } from '../../threads/threads.js';
import { type MergedBlocks, mergeTermPortion, type TermPortion } from '../search/merge-terms.js';
import type { Passage } from '../search/passage.js';
import { makeSegmentRows, type SegmentRows } from '../search/segment-rows.js';
import { openWords } from '../words/words.js';
import { builtInChunker } from './chunking/chunk-document.js';
import { cleanDocument, type DetectedFile, parseFile, type TextForm } from './parse-document.js';
import { partOfDocument } from './part-of-document.js';
import type { BaseDraft, ChunkerConfig, DocumentText } from './ports.js';
import type { ReadingOptions } from './reading-options.js';

/** What is asked of a thread, and what it gives. */
export interface KnowledgeJobs {
  readonly parse: readonly [given: { readonly file: StoredFile; readonly detected: DetectedFile }, made: DocumentText];
  readonly clean: readonly [
    given: { readonly document: DocumentText; readonly form: TextForm; readonly part: ReadingOptions },
    made: DocumentText,
  ];
  /** Texts of pages with their places. */
  readonly items: readonly [
    given: { readonly file: StoredFile; readonly first: number; readonly count: number },
    made: readonly PageItems[],
  ];
  readonly chunk: readonly [
    given: { readonly document: DocumentText; readonly config: ChunkerConfig },
    made: readonly BaseDraft[],
  ];
  /** Passages of an index. */
  readonly segment: readonly [given: { readonly passages: readonly Passage[] }, made: SegmentRows];
  /** Terms of segments of an index. */
  readonly merge: readonly [given: TermPortion, made: MergedBlocks];
}

/** Of a thread: the dictionary of Chinese is loaded once in each that needs it. */
const words = openWords();

/** How each job is done, in whatever thread. */
export const KNOWLEDGE_JOBS: {
  readonly [J in keyof KnowledgeJobs]: (
    given: KnowledgeJobs[J][0],
  ) => KnowledgeJobs[J][1] | Promise<KnowledgeJobs[J][1]>;
} = {
  parse: ({ file }) => parseFile(file),
  clean: ({ document, form, part }) => partOfDocument(cleanDocument(document, form), part),
  items: ({ file, first, count }) => readPdfItems(file, { first, count }),
  chunk: async ({ document, config }) => [...(await builtInChunker.chunk(document, config))],
  segment: ({ passages }) => makeSegmentRows(passages, words),
  merge: mergeTermPortion,
};

/** Longest text that is worked on in the calling thread, in UTF-16 units: about 10 ms of counting tokens. */
const MAX_IN_PLACE = 16_384;

/** How a job is done. */
export interface KnowledgeJobOptions {
  /** Name of the document, for messages. */
  readonly name: string;
  /** @default a thread of its own */
  readonly threads?: Threads | undefined;
  readonly signal: AbortSignal;
}

/**
 * Does a job: in this thread when it is small and needs no parser, else in another one, with bounded time and memory.
 *
 * @throws EngineError those of the job; FILE_UNREADABLE for what needs more time or memory than a thread has; LIMIT_REACHED when too many wait.
 */
export async function knowledgeJob<J extends keyof KnowledgeJobs>(
  job: J,
  given: KnowledgeJobs[J][0],
  { name, threads = threadPerJob, signal }: KnowledgeJobOptions,
): Promise<KnowledgeJobs[J][1]> {
  signal.throwIfAborted();
  if (isSmall(given)) return KNOWLEDGE_JOBS[job](given);
  const made$ = threads.run<KnowledgeJobs[J][1]>({
    file: new URL('./knowledge-thread', import.meta.url),
    message: () => ({ data: { job, given } }),
    isLarge: true,
    unable: (why) => unreadable(name, `${why}.`),
  });
  return firstValue(made$, signal);
}

function isSmall(given: KnowledgeJobs[keyof KnowledgeJobs][0]): boolean {
  // Few passages and terms are not asked of a thread at all.
  if ('passages' in given || 'segments' in given) return false;
  if ('document' in given) return given.document.text.length <= MAX_IN_PLACE;
  return 'detected' in given && given.detected.kind === 'text' && given.file.bytes.length <= MAX_IN_PLACE;
}
