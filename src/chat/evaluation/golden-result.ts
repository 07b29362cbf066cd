/** A golden file's result: rates over all questions, and what differs from another configuration. */
import { type Difference, pairedBootstrap } from '../../knowledge/evaluation/metrics.js';
import type { GoldenQuestion } from './golden-file.js';
import { type Judgement, VERDICTS, type Verdict } from './judge-answer.js';
import { type AnswerScore, type ChatEnd, type StageTimes, scoreAnswer, stageTimes } from './score-answer.js';

/** Names of the rates, in the order in which they are shown; each is 0 to 1, and more is better. */
export const RATES = ['source_pass', 'keyword_pass', 'citation_precision', 'right_route'] as const;

/** The rate of answers that a judge lets pass, of those that it decided on; 0 where it decided on none. */
export const JUDGED_RATE = 'judge_pass';

/** One of {@link RATES}, or {@link JUDGED_RATE}; `right_route` is the share of questions without a wrong short circuit. */
export type Rate = (typeof RATES)[number] | typeof JUDGED_RATE;

/** Rates by name; that of a judge is there when one was asked. */
export type Rates = Readonly<Record<(typeof RATES)[number], number>> & { readonly [JUDGED_RATE]?: number };

/** One question, its answer, and what that is worth. */
export interface GoldenAnswer {
  readonly question: GoldenQuestion;
  readonly end: ChatEnd;
  readonly score: AnswerScore;
  /** Absent when no judge was asked. */
  readonly judgement?: Judgement;
}

/** What a judge found in all answers. */
export interface Judged {
  /** Name of the model. */
  readonly by: string;
  /** How often it found what. */
  readonly counts: Readonly<Record<Verdict, number>>;
}

/** What became of all questions. */
export interface GoldenResult {
  readonly answers: readonly GoldenAnswer[];
  readonly rates: Rates;
  readonly wrongShortcuts: number;
  readonly stages: readonly StageTimes[];
  /** Absent when no judge was asked. */
  readonly judged?: Judged;
}

/** What differs from another configuration. */
export interface GoldenComparison {
  /** That of a judge is there when one was asked. */
  readonly differences: Readonly<Record<(typeof RATES)[number], Difference>> & { readonly [JUDGED_RATE]?: Difference };
  /** Questions of which a rate changed, with the rates that are lower and higher now. */
  readonly changed: readonly {
    readonly id: string;
    readonly lower: readonly Rate[];
    readonly higher: readonly Rate[];
  }[];
  /** Rates that are lower with a certainty of 95 %. */
  readonly regressions: readonly Rate[];
}

/** A question, and how the chat about it ended. */
export interface GoldenEnd {
  readonly question: GoldenQuestion;
  readonly end: ChatEnd;
  /** Absent when no judge was asked. */
  readonly judgement?: Judgement;
}

/**
 * Sums up the answers to golden questions.
 *
 * @param judge name of the model that judged them; absent when none was asked
 */
export function goldenResult(ended: readonly GoldenEnd[], judge?: string): GoldenResult {
  const answers = ended.map((one): GoldenAnswer => ({ ...one, score: scoreAnswer(one.question, one.end) }));
  const rateOf = (rate: Rate): number => {
    const values = answers.flatMap((answer) => rateIn(answer, rate) ?? []);
    if (values.length === 0) return rate === JUDGED_RATE ? 0 : 1;
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const judged = judge === undefined ? undefined : { by: judge, counts: countsOf(answers) };
  return {
    answers,
    rates: Object.fromEntries(ratesOf({ judged }).map((rate) => [rate, rateOf(rate)])) as unknown as Rates,
    wrongShortcuts: answers.filter(({ score }) => score.wrongShortcut).length,
    stages: stageTimes(ended.map(({ end }) => end)),
    ...(judged && { judged }),
  };
}

/** The rates that a result has, in the order in which they are shown. */
export function ratesOf({ judged }: { readonly judged?: Judged | undefined }): readonly Rate[] {
  return judged === undefined ? RATES : [...RATES, JUDGED_RATE];
}

function countsOf(answers: readonly GoldenAnswer[]): Judged['counts'] {
  const counts = VERDICTS.map((verdict) => [
    verdict,
    answers.filter(({ judgement }) => judgement?.verdict === verdict).length,
  ]);
  return Object.fromEntries(counts) as Judged['counts'];
}

/** Compares two results of the same questions, `ours` with `theirs`; judged answers where one judge read both. */
export function compareGolden(ours: GoldenResult, theirs: GoldenResult): GoldenComparison {
  const rates = ours.judged?.by === theirs.judged?.by ? ratesOf(ours) : RATES;
  const before = new Map(theirs.answers.map((answer) => [answer.question.id, answer]));
  const pairs = ours.answers.flatMap((now) => {
    const other = before.get(now.question.id);
    return other === undefined ? [] : [{ id: now.question.id, now, before: other }];
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
  const measured = rates.map((rate): [Rate, Difference] => [rate, differenceOf(rate)]);
  const changed = pairs.flatMap((pair) => {
    const sign = (rate: Rate): number => {
      const [now, then] = [rateIn(pair.now, rate), rateIn(pair.before, rate)];
      // An answer that a judge did not decide on is neither better nor worse.
      if (rate === JUDGED_RATE && (now === undefined || then === undefined)) return 0;
      return Math.sign((now ?? 0) - (then ?? 0));
    };
    const [lower, higher] = [rates.filter((rate) => sign(rate) < 0), rates.filter((rate) => sign(rate) > 0)];
    return lower.length + higher.length === 0 ? [] : [{ id: pair.id, lower, higher }];
  });
  return {
    differences: Object.fromEntries(measured) as unknown as GoldenComparison['differences'],
    changed,
    regressions: measured.flatMap(([rate, { high }]) => (high < 0 ? [rate] : [])),
  };
}

function rateIn({ score, judgement }: GoldenAnswer, rate: Rate): number | undefined {
  const { sourcePass, keywordPass, citationPrecision, wrongShortcut } = score;
  switch (rate) {
    case 'source_pass':
      return Number(sourcePass);
    case 'keyword_pass':
      return Number(keywordPass);
    case 'citation_precision':
      return citationPrecision;
    case 'right_route':
      return Number(!wrongShortcut);
    case JUDGED_RATE: {
      const { verdict } = judgement ?? {};
      return verdict === 'pass' || verdict === 'fail' ? Number(verdict === 'pass') : undefined;
    }
  }
}
