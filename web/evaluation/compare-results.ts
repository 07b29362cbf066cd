/** Two results of the same questions, side by side. */
import { type Difference, pairedBootstrap } from '../../src/knowledge/evaluation/metrics.js';
import type { EvaluationResult, MeasuredQuestion } from './evaluation-result.js';

/** A measure in one result or two. */
export interface MeasureLine {
  readonly measure: string;
  readonly a: number | undefined;
  readonly b: number | undefined;
  /** B less A over the questions that both have; undefined with one result. */
  readonly difference?: Difference & { readonly questions: number };
}

/** A question in one result or two. */
export interface QuestionLine {
  readonly id: string;
  readonly a: MeasuredQuestion | undefined;
  readonly b: MeasuredQuestion | undefined;
}

/** What the samples of the intervals are drawn with: the same files give the same intervals. */
export const SEED = 1;

/** Measures in the order of the first result. */
export function compareMeasures(a: EvaluationResult, b: EvaluationResult | undefined): readonly MeasureLine[] {
  const measures = [...new Set([...a.measures, ...(b?.measures ?? [])])];
  const pairs = b === undefined ? [] : pairQuestions(a, b);
  return measures.map((measure): MeasureLine => {
    const line = { measure, a: a.means[measure], b: b?.means[measure] };
    const both = pairs.flatMap((pair) => {
      const [before, now] = [pair.a?.values[measure], pair.b?.values[measure]];
      return before === undefined || now === undefined ? [] : [[before, now] as const];
    });
    if (both.length === 0) return line;
    const difference = pairedBootstrap(
      both.map(([, now]) => now),
      both.map(([before]) => before),
      SEED,
    );
    return { ...line, difference: { ...difference, questions: both.length } };
  });
}

/** Questions of either result: with two, those whose `measure` changed most come first; with one, the weakest. */
export function orderedQuestions(
  a: EvaluationResult,
  b: EvaluationResult | undefined,
  measure: string,
): readonly QuestionLine[] {
  if (b === undefined) {
    const lines = a.questions.map((one): QuestionLine => ({ id: one.id, a: one, b: undefined }));
    return lines.toSorted((one, other) => (one.a?.values[measure] ?? 2) - (other.a?.values[measure] ?? 2));
  }
  const change = (line: QuestionLine): number => {
    const [before, now] = [line.a?.values[measure], line.b?.values[measure]];
    return before === undefined || now === undefined ? -1 : Math.abs(now - before);
  };
  return pairQuestions(a, b).toSorted((one, other) => change(other) - change(one));
}

function pairQuestions(a: EvaluationResult, b: EvaluationResult): readonly QuestionLine[] {
  const others = new Map(b.questions.map((question) => [question.id, question]));
  const known = new Set(a.questions.map(({ id }) => id));
  return [
    ...a.questions.map((question): QuestionLine => ({ id: question.id, a: question, b: others.get(question.id) })),
    ...b.questions
      .filter(({ id }) => !known.has(id))
      .map((question) => ({ id: question.id, a: undefined, b: question })),
  ];
}
