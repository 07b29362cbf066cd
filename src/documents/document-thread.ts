/** A thread that reads pages and spreadsheets, and writes documents. */
import { answerJobs } from '../threads/answer-jobs.js';
import type { DocumentRequest, JobsOf } from './document-jobs.js';
import { reasonOfParser } from './failure.js';

/** Each loads its libraries when it is first used. */
const JOBS: JobsOf<'page' | 'spreadsheet' | 'convert'> = {
  async page(request) {
    const { parsePage } = await import('./pages/parse-page.js');
    return parsePage(request);
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

answerJobs(
  ({ job, given }: DocumentRequest<keyof typeof JOBS>) => (JOBS[job] as (given: unknown) => Promise<unknown>)(given),
  reasonOfParser,
);
