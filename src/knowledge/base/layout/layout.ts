/** Layout of pages: what a model that looks at them is asked through. */
import type { StoredFile } from '../../../records/files.js';
import type { Threads } from '../../../threads/threads.js';
import type { DocumentText } from '../ports.js';

/** A PDF whose layout is wanted. */
export interface LayoutQuestion {
  readonly file: StoredFile;
  /** What was read without the layout; it stands where nothing better is found. */
  readonly text: DocumentText;
  readonly signal: AbortSignal;
  /** @default a thread for each job */
  readonly threads?: Threads | undefined;
}

/** The text in the order of the layout, and in `note` what became of it. */
export interface LaidOutText extends DocumentText {
  readonly note: string;
}

/** Reads a PDF by the layout of its pages. Never fails but when it is aborted: without an answer the text is that which was given. */
export type RecogniseLayout = (question: LayoutQuestion) => Promise<LaidOutText>;
