/** What follows a round of questions: one table, from the first row that fits. */

/** How a research stands behind a round. */
export interface Standing {
  /** Whether what was found answers the question. */
  readonly isSufficient: boolean;
  /** What is named as missing. */
  readonly missing: readonly string[];
  /** Sub-questions with an answer that was verified. */
  readonly answered: number;
  /** Rounds that may follow. */
  readonly roundsLeft: number;
  /** Whether evidence cannot be had any more: the budget or the time is used up, a person said enough, or all places failed. */
  readonly isCut: boolean;
  readonly contradictions: number;
}

/** What is done next. */
export type Action =
  | 'answer'
  /** The answer says what is missing. */
  | 'answer_with_caveat'
  /** Both sides are shown with their sources. */
  | 'answer_with_both_sides'
  | 'follow_up'
  /** The report says that the question cannot be answered, and what was tried. */
  | 'unanswerable';

/**
 * The ladder:
 *
 * | Standing | Next |
 * |---|---|
 * | cut, something is known | answer with caveat |
 * | cut, nothing is known | unanswerable |
 * | sufficient, sources contradict each other | both sides |
 * | sufficient | answer |
 * | something is named as missing, rounds are left | follow-up questions |
 * | something is known | answer with caveat |
 * | else | unanswerable |
 *
 * A sub-question whose answer is unsure is looked at again before its round ends.
 */
export function nextAction(standing: Standing): Action {
  const { isSufficient, missing, answered, roundsLeft, isCut, contradictions } = standing;
  if (isCut && !isSufficient) return answered > 0 ? 'answer_with_caveat' : 'unanswerable';
  if (isSufficient && answered > 0) return contradictions > 0 ? 'answer_with_both_sides' : 'answer';
  if (missing.length > 0 && roundsLeft > 0) return 'follow_up';
  return answered > 0 ? 'answer_with_caveat' : 'unanswerable';
}
