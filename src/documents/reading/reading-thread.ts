/** A thread that reads files of strangers. */
import { answerJobs } from '../../threads/answer-jobs.js';
import type { DocumentRequest, JobsOf } from '../document-jobs.js';
import { reasonOfParser } from '../failure.js';
import { boundBuffers, MAX_BUFFER_BYTES } from './bound-buffers.js';

/** Each loads its libraries when it is first used. */
const JOBS: JobsOf<'read' | 'text'> = {
  async read({ file, maxCharacters }) {
    const { readPages } = await import('./read-document.js');
    return readPages(file, { maxCharacters });
  },
  async text({ html, name }) {
    const { htmlToText } = await import('./html-to-text.js');
    return htmlToText(html, name);
  },
};

const { giveUp } = answerJobs(
  ({ job, given }: DocumentRequest<keyof typeof JOBS>) => (JOBS[job] as (given: unknown) => Promise<unknown>)(given),
  reasonOfParser,
);

boundBuffers(() => giveUp(`a part of it unpacks to more than ${MAX_BUFFER_BYTES / 1_048_576} MiB`));
