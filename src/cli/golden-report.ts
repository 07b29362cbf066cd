/** The result of a golden file for people. */
import {
  type GoldenComparison,
  type GoldenResult,
  JUDGED_RATE,
  type Judged,
  type Rate,
  ratesOf,
} from '../chat/evaluation/golden-result.js';
import type { Verdict } from '../chat/evaluation/judge-answer.js';
import { differenceCells, type ReportTable, shortened, signed } from './report-page.js';

/** What was measured. */
export interface GoldenReport {
  readonly file: string;
  readonly result: GoldenResult;
  readonly comparison: GoldenComparison | undefined;
  /** Why the exit code is 1; empty otherwise. */
  readonly failures: readonly string[];
}

/** The report as lines of a terminal. */
export function goldenText({ file, result, comparison, failures }: GoldenReport): string {
  const { answers, rates, wrongShortcuts, stages, judged } = result;
  const lines = [`${file}: ${answers.length} questions, ${wrongShortcuts} wrong short circuits`, ''];
  for (const rate of ratesOf(result)) {
    const passed = `${rate.padEnd(20)}${rates[rate]?.toFixed(4)}`;
    const difference = comparison?.differences[rate];
    const compared =
      difference === undefined
        ? ''
        : `   ${signed(difference.mean)} [${signed(difference.low)}, ${signed(difference.high)}]`;
    lines.push(`  ${passed}${compared}`);
  }
  if (judged !== undefined) lines.push('', `  ${judgedLine(judged)}`);
  lines.push('', `  ${'stage'.padEnd(20)}p50 ms    p99 ms    budget    over`);
  for (const { name, p50, p99, budgetMs, overBudget, ran } of stages) {
    const cells = [p50.toFixed(0), p99.toFixed(0), budgetMs === 0 ? '-' : String(budgetMs), `${overBudget} of ${ran}`];
    lines.push(`  ${name.padEnd(20)}${cells.map((cell) => cell.padEnd(10)).join('')}`.trimEnd());
  }
  const weak = weakRows(result);
  if (weak.length > 0) lines.push('', 'Questions that did not pass:', ...weak.map((row) => `  ${row.join('  ')}`));
  const changed = changedRows(comparison);
  if (comparison !== undefined) {
    lines.push('', `${changed.length} questions changed:`, ...changed.map((row) => `  ${row.join('  ')}`));
  }
  for (const failure of failures) lines.push(`failed: ${failure}`);
  return `${lines.join('\n')}\n`;
}

/** The tables of the report as a page. */
export function goldenTables({ result, comparison }: GoldenReport): readonly ReportTable[] {
  const heads = comparison === undefined ? [] : ['Difference', '95 %'];
  const rateRows = ratesOf(result).map((rate) => [
    rate,
    result.rates[rate]?.toFixed(4) ?? '',
    ...differenceCells(comparison?.differences[rate]),
  ]);
  const stageRows = result.stages.map(({ name, p50, p99, budgetMs, overBudget, ran }) => [
    name,
    p50.toFixed(0),
    p99.toFixed(0),
    budgetMs === 0 ? '' : String(budgetMs),
    `${overBudget} of ${ran}`,
  ]);
  return [
    { title: 'Rates', heads: ['Rate', 'Mean', ...heads], rows: rateRows },
    { title: 'Stages', heads: ['Stage', 'p50 ms', 'p99 ms', 'Budget ms', 'Over it'], rows: stageRows },
    { title: 'Questions that did not pass', heads: ['Id', 'Category', 'What', 'Question'], rows: weakRows(result) },
    ...(result.judged === undefined
      ? []
      : [
          {
            title: `Answers judged by ${result.judged.by}`,
            heads: ['Id', 'Verdict', 'Answer before what is expected', 'Behind it'],
            rows: judgedRows(result),
          },
        ]),
    ...(comparison === undefined
      ? []
      : [{ title: 'Questions that changed', heads: ['Id', 'Lower', 'Higher'], rows: changedRows(comparison) }]),
  ];
}

/** How a verdict is called. */
const VERDICT_NAMES: Readonly<Record<Verdict, string>> = {
  pass: 'pass',
  fail: 'fail',
  undecided: 'undecided: the two orders disagree',
  not_judged: 'not judged',
};

/** Who judged the answers, and what was found. */
export function judgedLine({ by, counts }: Judged): string {
  const found = Object.entries(VERDICT_NAMES).map(([verdict, name]) => `${counts[verdict as Verdict]} ${name}`);
  return `judged by ${by}, in both orders: ${found.join(', ')}`;
}

function judgedRows({ answers }: GoldenResult): string[][] {
  return answers.flatMap(({ question: { id }, judgement }) =>
    judgement === undefined ? [] : [[id, VERDICT_NAMES[judgement.verdict], ...judgement.reasons.map(shortened)]],
  );
}

function weakRows({ answers }: GoldenResult): string[][] {
  return answers.flatMap(({ question: { id, category, question }, end, score, judgement }) => {
    const missed: (Rate | string)[] = [];
    if (end.type === 'error') missed.push(end.code);
    if (!score.sourcePass) missed.push('source_pass');
    if (!score.keywordPass) missed.push('keyword_pass');
    if (score.wrongShortcut) missed.push('right_route');
    if (judgement?.verdict === 'fail') missed.push(JUDGED_RATE);
    else if (judgement !== undefined && judgement.verdict !== 'pass') missed.push(VERDICT_NAMES[judgement.verdict]);
    return missed.length === 0 ? [] : [[id, category, missed.join(', '), shortened(question)]];
  });
}

function changedRows(comparison: GoldenComparison | undefined): string[][] {
  return (comparison?.changed ?? []).map(({ id, lower, higher }) => [
    id,
    lower.map((rate) => `-${rate}`).join(', '),
    higher.map((rate) => `+${rate}`).join(', '),
  ]);
}
