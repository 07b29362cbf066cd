/** The result of a golden file for people. */
import { type GoldenComparison, type GoldenResult, RATES, type Rate } from '../chat/evaluation/golden-result.js';
import type { ReportTable } from './report-page.js';
import { shortened, signed } from './report-page.js';

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
  const { answers, rates, wrongShortcuts, stages } = result;
  const lines = [`${file}: ${answers.length} questions, ${wrongShortcuts} wrong short circuits`, ''];
  for (const rate of RATES) {
    const passed = `${rate.padEnd(20)}${rates[rate].toFixed(4)}`;
    const difference = comparison?.differences[rate];
    const compared =
      difference === undefined
        ? ''
        : `   ${signed(difference.mean)} [${signed(difference.low)}, ${signed(difference.high)}]`;
    lines.push(`  ${passed}${compared}`);
  }
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
  const rateRows = RATES.map((rate) => {
    const difference = comparison?.differences[rate];
    const compared =
      difference === undefined
        ? []
        : [signed(difference.mean), `${signed(difference.low)} to ${signed(difference.high)}`];
    return [rate, result.rates[rate].toFixed(4), ...compared];
  });
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
    ...(comparison === undefined
      ? []
      : [{ title: 'Questions that changed', heads: ['Id', 'Lower', 'Higher'], rows: changedRows(comparison) }]),
  ];
}

function weakRows({ answers }: GoldenResult): string[][] {
  return answers.flatMap(({ question: { id, category, question }, end, score }) => {
    const missed: (Rate | string)[] = [];
    if (end.type === 'error') missed.push(end.code);
    if (!score.sourcePass) missed.push('source_pass');
    if (!score.keywordPass) missed.push('keyword_pass');
    if (score.wrongShortcut) missed.push('right_route');
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
