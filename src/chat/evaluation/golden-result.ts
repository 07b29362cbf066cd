/** A golden file's result: rates over all questions, and what differs from another configuration. */
import { type Difference, pairedBootstrap } from '../../knowledge/evaluation/metrics.js';
import type { GoldenQuestion } from './golden-file.js';
import { type AnswerScore, type ChatEnd, type StageTimes, scoreAnswer, stageTimes } from './score-answer.js';

/** Names of the rates, in the order in which they are shown; each is 0 to 1, and more is better. */
export const RATES = ['source_pass', 'keyword_pass', 'citation_precision', 'right_route'] as const;

/** One of {@link RATES}; `right_route` is the share of questions without a wrong short circuit. */
export type Rate = (typeof RATES)[number];

/** One question, its answer, and what that is worth. */
export interface GoldenAnswer {
  readonly question: GoldenQuestion;
  readonly end: ChatEnd;
  readonly score: AnswerScore;
}

/** What became of all questions. */
export interface GoldenResult {
  readonly answers: readonly GoldenAnswer[];
  readonly rates: Readonly<Record<Rate, number>>;
  readonly wrongShortcuts: number;
  readonly stages: readonly StageTimes[];
}

/** What differs from another configuration. */
export interface GoldenComparison {
  readonly differences: Readonly<Record<Rate, Difference>>;
  /** Questions of which a rate changed, with the rates that are lower and higher now. */
  readonly changed: readonly {
    readonly id: string;
    readonly lower: readonly Rate[];
    readonly higher: readonly Rate[];
  }[];
  /** Rates that are lower with a certainty of 95 %. */
  readonly regressions: readonly Rate[];
}

/** Sums up the answers to golden questions. */
export function goldenResult(
  ended: readonly { readonly question: GoldenQuestion; readonly end: ChatEnd }[],
): GoldenResult {
  const answers = ended.map(({ question, end }) => ({ question, end, score: scoreAnswer(question, end) }));
  const rateOf = (rate: Rate): number => {
    const values = answers.flatMap(({ score }) => rateIn(score, rate) ?? []);
    return values.length === 0 ? 1 : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return {
    answers,
    rates: Object.fromEntries(RATES.map((rate) => [rate, rateOf(rate)])) as Record<Rate, number>,
    wrongShortcuts: answers.filter(({ score }) => score.wrongShortcut).length,
    stages: stageTimes(ended.map(({ end }) => end)),
  };
}

/** Compares two results of the same questions, `ours` with `theirs`. */
export function compareGolden(ours: GoldenResult, theirs: GoldenResult): GoldenComparison {
  const before = new Map(theirs.answers.map(({ question, score }) => [question.id, score]));
  const pairs = ours.answers.flatMap(({ question, score }) => {
    const other = before.get(question.id);
    return other === undefined ? [] : [{ id: question.id, now: score, before: other }];
  });
  const differenceOf = (rate: Rate): Difference => {
    const both = pairs.flatMap((pair) => {
      const [now, then] = [rateIn(pair.now, rate), rateIn(pair.before, rate)];
      return now === undefined || then === undefined ? [] : [{ now, then }];
    });
    return pairedBootstrap(
      both.map(({ now }) => now),
      both.map(({ then }) => then),
    );
  };
  const differences = Object.fromEntries(
    RATES.map((rate) => [rate, differenceOf(rate)]),
  ) as GoldenComparison['differences'];
  const changed = pairs.flatMap((pair) => {
    const sign = (rate: Rate): number => Math.sign((rateIn(pair.now, rate) ?? 0) - (rateIn(pair.before, rate) ?? 0));
    const [lower, higher] = [RATES.filter((rate) => sign(rate) < 0), RATES.filter((rate) => sign(rate) > 0)];
    return lower.length + higher.length === 0 ? [] : [{ id: pair.id, lower, higher }];
  });
  return { differences, changed, regressions: RATES.filter((rate) => differences[rate].high < 0) };
}

function rateIn(
  { sourcePass, keywordPass, citationPrecision, wrongShortcut }: AnswerScore,
  rate: Rate,
): number | undefined {
  switch (rate) {
    case 'source_pass':
      return Number(sourcePass);
    case 'keyword_pass':
      return Number(keywordPass);
    case 'citation_precision':
      return citationPrecision;
    case 'right_route':
      return Number(!wrongShortcut);
  }
}
