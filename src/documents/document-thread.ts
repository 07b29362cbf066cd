/** A thread that reads and writes files. */
import { answerJobs } from '../threads/answer-jobs.js';
import type { DocumentJobs, DocumentRequest } from './document-jobs.js';
import { boundBuffers, MAX_BUFFER_BYTES } from './reading/bound-buffers.js';

/** Each loads its libraries when it is first used. */
const JOBS: { readonly [K in keyof DocumentJobs]: (given: DocumentJobs[K][0]) => Promise<DocumentJobs[K][1]> } = {
  async read({ file, maxCharacters }) {
    const { readDocument } = await import('./reading/read-document.js');
    return readDocument(file, { maxCharacters });
  },
  async page(request) {
    const { parsePage } = await import('./pages/parse-page.js');
    return parsePage(request);
  },
  async text({ html, name }) {
    const { htmlToText } = await import('./reading/html-to-text.js');
    return htmlToText(html, name);
  },
  async spreadsheet(work) {
    const { doSpreadsheetWork } = await import('./spreadsheets/spreadsheet-work.js');
    return doSpreadsheetWork(work);
  },
  async convert({ markdown, options }) {
    const { writeDocument } = await import('./write-document.js');
    return writeDocument(markdown, options);
  },
};

const { giveUp } = answerJobs(
  ({ job, given }: DocumentRequest) => (JOBS[job] as (given: unknown) => Promise<unknown>)(given),
  (thrown) => {
    if (thrown instanceof RangeError) return 'its elements are nested too deeply';
    return thrown instanceof Error ? thrown.message : String(thrown);
  },
);

boundBuffers(() => giveUp(`a part of it unpacks to more than ${MAX_BUFFER_BYTES / 1_048_576} MiB`));
