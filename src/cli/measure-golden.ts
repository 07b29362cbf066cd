/** The golden half of `runnel eval`. */
import { readFile } from 'node:fs/promises';
import { answerJson } from '../chat/evaluation/answer-json.js';
import { readGolden } from '../chat/evaluation/golden-file.js';
import { compareGolden, type GoldenResult, JUDGED_RATE, RATES } from '../chat/evaluation/golden-result.js';
import { EngineError } from '../errors.js';
import { readSettings } from '../settings/read-settings.js';
import { openGolden } from './eval-golden.js';
import {
  belowBars,
  type EvalValues,
  lowerThanBefore,
  type Measured,
  readBar,
  readSettingsFile,
} from './eval-measured.js';
import { type GoldenReport, goldenTables, goldenText, judgedLine } from './golden-report.js';
import { reportPage } from './report-page.js';
import type { Terminal } from './terminal.js';

/** Asks the questions of a golden file and scores the answers. @throws EngineError USAGE */
export async function measureGolden(file: string, values: EvalValues, terminal: Terminal): Promise<Measured> {
  if (values.run !== undefined) {
    throw new EngineError('USAGE', '--run is for test collections; golden questions have no ranked lists.');
  }
  if (values.pipeline !== undefined) {
    throw new EngineError('USAGE', '--pipeline is for test collections; golden questions are asked to a chat.');
  }
  const { judge } = values;
  const rates = judge === undefined ? RATES : [...RATES, JUDGED_RATE];
  const bars = (values['fail-below'] ?? []).map((one) => readBar(one, rates));
  const params = values.config === undefined ? {} : await readSettingsFile(values.config);
  const other = values.against === undefined ? undefined : await readSettingsFile(values.against);
  const questions = readGolden(await readFile(file, 'utf8'), file);
  const golden = await openGolden({
    settings: readSettings(terminal.env, 'stores', 'models', 'nodes', 'tools'),
    env: terminal.env,
    documents: values.documents ?? [],
    judge,
    signal: terminal.signal,
    onProgress: (step, done, all) => terminal.err.write(`${done} of ${all} ${step}\n`),
    remark: (line) => terminal.err.write(`${line}\n`),
  });
  try {
    const result = await golden.ask(questions, params);
    const comparison = other === undefined ? undefined : compareGolden(result, await golden.ask(questions, other));
    const failures = [...belowBars(result.rates, bars), ...(comparison?.regressions ?? []).map(lowerThanBefore)];
    const report: GoldenReport = { file, result, comparison, failures };
    return {
      failures,
      text: () => goldenText(report),
      html: () =>
        reportPage({
          title: `Evaluation of ${file}`,
          about: aboutOf(result),
          failures,
          tables: goldenTables(report),
        }),
      json: () => jsonOf(report),
    };
  } finally {
    await golden.close();
  }
}

function aboutOf({ answers, wrongShortcuts, judged }: GoldenResult): string {
  const counted = `${answers.length} questions, ${wrongShortcuts} wrong short circuits`;
  return judged === undefined ? `${counted}.` : `${counted}; ${judgedLine(judged)}.`;
}

function jsonOf({ file, result, comparison, failures }: GoldenReport): object {
  const { answers, rates, wrongShortcuts, stages, judged } = result;
  return {
    file,
    rates,
    wrong_shortcuts: wrongShortcuts,
    stages,
    ...(judged !== undefined && { judged_by: judged.by, judged: judged.counts }),
    ...(comparison !== undefined && { comparison }),
    failures,
    questions: answers.map(answerJson),
  };
}
