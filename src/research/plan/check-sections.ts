/** What is wrong with the sections of a report together, by rules. */
import { HeldWords } from '../evidence/check-statement.js';
import { contradictionsOf } from '../evidence/contradictions.js';

/** A section as it was written and checked by itself. */
export interface DraftedSection {
  readonly title: string;
  readonly text: string;
  /** Sentences with the mark that sources do not support them. */
  readonly unsupported: number;
}

/** Something that is wrong. */
export interface SectionProblem {
  /** Place of the section. */
  readonly at: number;
  readonly kind: 'unsupported' | 'numbers' | 'uncovered' | 'other';
  readonly why: string;
}

/** Share of the words of the question that a report has. */
const COVERED = 0.4;

/** Sentences that sources do not support, numbers that do not agree between sections, and a question whose words the report does not have. */
export function sectionProblems(question: string, drafts: readonly DraftedSection[]): readonly SectionProblem[] {
  const problems = drafts.flatMap(({ unsupported }, at): SectionProblem[] =>
    unsupported === 0
      ? []
      : [{ at, kind: 'unsupported', why: `${unsupported} sentences say what their sources do not` }],
  );
  const differing = contradictionsOf(drafts.map(({ title, text }, at) => ({ id: String(at), text, source: title })));
  for (const { a, b, why } of differing) {
    for (const at of [Number(a), Number(b)]) problems.push({ at, kind: 'numbers', why });
  }
  const held = new HeldWords(drafts.flatMap(({ title, text }) => [title, text]));
  if (drafts.length > 0 && held.shareOf(question) < COVERED) {
    problems.push({ at: 0, kind: 'uncovered', why: 'the words of the question are not there' });
  }
  return problems;
}
