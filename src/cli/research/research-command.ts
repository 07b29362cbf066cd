/** `runnel research`: a question that takes several searches, with its sub-questions as they are worked off, and a report. */
import { readFile, writeFile } from 'node:fs/promises';
import { concatMap, fromEvent, lastValueFrom, of, takeUntil, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { Log } from '../../logger.js';
import { REPORT_FORMS } from '../../research/plan/report-forms.js';
import type { ResearchFinal } from '../../research/research-events.js';
import { type Command, cannot, EXIT, parse, usualServerUrl } from '../command.js';
import type { Terminal } from '../terminal.js';
import { Questioner } from './questioner.js';
import { ResearchPrinter } from './research-printer.js';

export const researchCommand: Command = {
  usage:
    'research "question" [--dataset NAME …] [--depth NAME] [--budget TOKENS] [--web] [--plan [FILE]] [--yes] [--output FORM] [--steps FILE] [--out FILE] [--events]',
  summary: 'research a question by sub-questions, and write a report with its sources',
  help: `  "question"         what is to be found out
  --dataset NAME     name or id of a dataset that is searched; may be repeated. Without it all are
  --depth NAME       quick, normal or deep. Without it: normal
  --budget TOKENS    tokens that all calls of models may take together
  --web              searches the web, too
  --plan             plans tasks, shows them, and asks whether they are carried out: y, n, or edit, for which the plan is
                     written to a file; before that, what the question means
  --plan FILE        carries out the plan of a file that ends with .json, which must fit: nothing begins otherwise
  --yes              with --plan: carries the plan out as it is, and asks nothing
  --output FORM      of a report by a plan: answer, table, briefing or overview
  --steps FILE       plays the steps of a file in place of a model, such as examples/research/steps.jsonl
  --out FILE         writes the report: .md, .pdf, .docx or .html
  --events           prints one JSON object a line for each event

The report goes to the standard output, the sub-questions with their marks to the standard error: ? begun, + answered, - without
an answer; of a plan also its tasks: > begun. Models answer as with "runnel run"; without any, rules quote what was found.
Exit codes: 0 there is a report, 1 failed, 2 bad usage, 130 interrupted.`,
  run,
};

const FORMATS = ['md', 'pdf', 'docx', 'html'] as const;

async function run(given: readonly string[], terminal: Terminal): Promise<number> {
  const { args, file: planFile } = withoutPlanFile(given);
  const { values, positionals } = parse(
    researchCommand,
    args,
    {
      dataset: { type: 'string', multiple: true },
      depth: { type: 'string' },
      budget: { type: 'string' },
      web: { type: 'boolean' },
      plan: { type: 'boolean' },
      yes: { type: 'boolean' },
      output: { type: 'string' },
      steps: { type: 'string' },
      out: { type: 'string' },
      events: { type: 'boolean' },
    },
    { least: 1, most: 1 },
  );
  const question = (positionals[0] as string).trim();
  if (question === '') throw new EngineError('USAGE', 'The question is empty.');
  const format = formatOf(values.out);
  const asks = values.plan === true && planFile === undefined && values.yes !== true;
  if (asks && terminal.out.isTTY !== true) {
    throw new EngineError(
      'USAGE',
      '--plan asks at a terminal, and there is none. Add --yes to carry the plan out as it is.',
    );
  }
  const plan = planFile === undefined ? undefined : await readPlanFile(planFile);
  const settings = { ...settingsOf(values), ...(plan !== undefined && { plan, approve: false }) };
  const telling = (kind: string) => (_: object, message: string) => void terminal.err.write(`${kind}: ${message}\n`);
  const log: Log = { info: telling('note'), warn: telling('warning'), error: telling('warning') };
  const { openLocalResearch } = await import('./research-source.js');
  const source = await openLocalResearch(terminal.env, log, values.steps);
  const questioner = asks ? new Questioner(terminal, source) : undefined;
  try {
    if (source.isScripted)
      terminal.err.write('note: no model is configured (OPENAI_BASE_URL …), so rules do its work\n');
    const printer = new ResearchPrinter(terminal, values.events === true);
    const told$ = source.ask({ question, datasets: values.dataset, settings });
    const { signal } = terminal;
    const last = await lastValueFrom(
      told$.pipe(
        tap((event) => printer.print(event)),
        concatMap((event) => questioner?.answered(event) ?? of(event)),
        takeUntil(fromEvent(signal, 'abort')),
      ),
      { defaultValue: undefined },
    );
    if (signal.aborted) return EXIT.interrupted;
    if (last?.type !== 'final') return EXIT.failed;
    if (values.out !== undefined && format !== undefined) await writeReport(values.out, format, last, terminal.env);
    return EXIT.finished;
  } finally {
    questioner?.close();
    await source.close();
  }
}

/** The file behind `--plan`, which may stand alone, too; a question may follow it then, and does not end with .json. */
function withoutPlanFile(args: readonly string[]): { readonly args: readonly string[]; readonly file?: string } {
  const at = args.findIndex((one, place) => one === '--plan' && /\.json$/i.test(args[place + 1] ?? ''));
  if (at !== -1) return { args: args.toSpliced(at + 1, 1), file: args[at + 1] as string };
  const joined = args.findIndex((one) => one.startsWith('--plan='));
  if (joined === -1) return { args };
  return { args: args.with(joined, '--plan'), file: (args[joined] as string).slice('--plan='.length) };
}

/** @throws EngineError USAGE */
async function readPlanFile(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw cannot(`read the plan in "${file}"`, cause);
  });
  const plan = parseJson(text);
  if (isJsonObject(plan)) return plan;
  throw new EngineError('USAGE', `"${file}" holds no plan: expected a JSON object with "tasks".`);
}

/** @throws EngineError USAGE */
function settingsOf(values: {
  readonly depth?: string;
  readonly budget?: string;
  readonly web?: boolean;
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly output?: string;
}): JsonObject {
  const { depth, budget, web, plan, yes, output } = values;
  if (depth !== undefined && !['quick', 'normal', 'deep'].includes(depth)) {
    throw new EngineError('USAGE', `--depth must be quick, normal or deep; received "${depth}".`);
  }
  const tokens = Number(budget);
  if (budget !== undefined && !(budget.trim() !== '' && Number.isSafeInteger(tokens) && tokens >= 0)) {
    throw new EngineError('USAGE', `--budget must be a number of tokens; received "${budget}".`);
  }
  if (output !== undefined && !REPORT_FORMS.some((form) => form === output)) {
    throw new EngineError('USAGE', `--output must be one of ${REPORT_FORMS.join(', ')}; received "${output}".`);
  }
  return {
    ...(plan === true && { plan, approve: yes !== true }),
    ...(output !== undefined && { output }),
    ...(depth !== undefined && { depth }),
    ...(budget !== undefined && { budget: { tokens } }),
    ...(web === true && { web }),
  };
}

/** @throws EngineError USAGE */
function formatOf(file: string | undefined): (typeof FORMATS)[number] | undefined {
  if (file === undefined) return undefined;
  const format = FORMATS.find((one) => file.toLowerCase().endsWith(`.${one}`));
  if (format === undefined)
    throw new EngineError('USAGE', `--out must end with .md, .pdf, .docx or .html; received "${file}".`);
  return format;
}

async function writeReport(
  file: string,
  format: (typeof FORMATS)[number],
  final: ResearchFinal,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { reportFile } = await import('../../research/service/report-file.js');
  try {
    const studio = `${usualServerUrl(env)}/`;
    await writeFile(file, (await reportFile(final, format, { studio })).bytes);
  } catch (cause) {
    throw cannot(`write "${file}"`, cause);
  }
}
