/** A thread that reads one page and ends. */
import { answerOnce } from '../../threads/answer-once.js';
import { parsePage } from './parse-page.js';

await answerOnce(parsePage, (thrown) => {
  if (thrown instanceof RangeError) return 'its elements are nested too deeply';
  return thrown instanceof Error ? thrown.message : String(thrown);
});
