/** A thread that holds graphs in memory. */
import { answerJobs } from '../../../threads/answer-jobs.js';
import { loadChinese } from '../../words/chinese.js';
import { createDesk } from './graph-desk.js';

const NO_DICTIONARY = () => Promise.reject(new Error('Names are compared by their letters.'));

answerJobs(
  createDesk(async () => (await loadChinese(NO_DICTIONARY)).simplify),
  (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)),
);
