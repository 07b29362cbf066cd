/** A thread that reads and cuts documents. */

import { reasonOfParser } from '../../documents/failure.js';
import { boundBuffers, MAX_BUFFER_BYTES } from '../../documents/reading/bound-buffers.js';
import { answerJobs } from '../../threads/answer-jobs.js';
import { stepBehind } from '../../threads/step-behind.js';
import { KNOWLEDGE_JOBS, type KnowledgeJobs } from './jobs.js';

interface Request<J extends keyof KnowledgeJobs = keyof KnowledgeJobs> {
  readonly job: J;
  readonly given: KnowledgeJobs[J][0];
}

/** Behind the event loop and the embedded database, which runs and clients wait for; a tenth of a processor is left to it where those take all. */
const STEPS_BEHIND = 10;

stepBehind(STEPS_BEHIND);

const { giveUp } = answerJobs(
  ({ job, given }: Request) => (KNOWLEDGE_JOBS[job] as (given: unknown) => unknown)(given),
  reasonOfParser,
);

boundBuffers(() => giveUp(`a part of it unpacks to more than ${MAX_BUFFER_BYTES / 1_048_576} MiB`));
