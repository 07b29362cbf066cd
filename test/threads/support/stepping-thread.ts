/** A thread that steps behind and tells its priority, and that of its process. */
import { readFileSync } from 'node:fs';
import { answerJobs } from '../../../src/threads/answer-jobs.js';
import { stepBehind } from '../../../src/threads/step-behind.js';

answerJobs(
  (steps: number) => {
    stepBehind(steps);
    return { thread: nice('/proc/thread-self/stat'), process: nice('/proc/self/stat') };
  },
  (thrown) => String(thrown),
);

/** Field 19; field 2, the name, may hold blanks and brackets itself. */
function nice(file: string): number {
  const text = readFileSync(file, 'utf8');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
}
