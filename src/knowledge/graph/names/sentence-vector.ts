/** A vector of a sentence without a model. */
import { questionVector } from '../../search/ngrams.js';
import { foldText, runsOf } from '../../words/split-words.js';
import { STOP_WORDS } from '../../words/stop-words.js';

/** The groups of letters of the words of a text, stop words left out; see `questionVector`. */
export function wordsVector(text: string): Float64Array {
  const forms = [...runsOf(foldText(text))].map((run) => run.text).filter((word) => !STOP_WORDS.has(word));
  return questionVector(forms.map((form) => ({ form, weight: 1 })));
}
