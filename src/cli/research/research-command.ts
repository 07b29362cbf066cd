/** `runnel research`: a question that takes several searches, with its sub-questions as they are worked off, and a report. */
import { writeFile } from 'node:fs/promises';
import { fromEvent, lastValueFrom, takeUntil, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { Log } from '../../logger.js';
import type { ResearchEvent, ResearchFinal } from '../../research/research-events.js';
import { type Command, cannot, EXIT, parse } from '../command.js';
import type { Terminal } from '../terminal.js';

export const researchCommand: Command = {
  usage:
    'research "question" [--dataset NAME …] [--depth NAME] [--budget TOKENS] [--web] [--steps FILE] [--out FILE] [--events]',
  summary: 'research a question by sub-questions, and write a report with its sources',
  help: `  "question"         what is to be found out
  --dataset NAME     name or id of a dataset that is searched; may be repeated. Without it all are
  --depth NAME       quick, normal or deep. Without it: normal
  --budget TOKENS    tokens that all calls of models may take together
  --web              searches the web, too
  --steps FILE       plays the steps of a file in place of a model, such as examples/research/steps.jsonl
  --out FILE         writes the report: .md, .pdf, .docx or .html
  --events           prints one JSON object a line for each event

The report goes to the standard output, the sub-questions with their marks to the standard error: ? begun, + answered, - without
an answer. Models answer as with "runnel run"; without any, rules quote what was found.
Exit codes: 0 there is a report, 1 failed, 2 bad usage, 130 interrupted.`,
  run,
};

const FORMATS = ['md', 'pdf', 'docx', 'html'] as const;

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(
    researchCommand,
    args,
    {
      dataset: { type: 'string', multiple: true },
      depth: { type: 'string' },
      budget: { type: 'string' },
      web: { type: 'boolean' },
      steps: { type: 'string' },
      out: { type: 'string' },
      events: { type: 'boolean' },
    },
    { least: 1, most: 1 },
  );
  const question = (positionals[0] as string).trim();
  if (question === '') throw new EngineError('USAGE', 'The question is empty.');
  const format = formatOf(values.out);
  const settings = settingsOf(values);
  const warn = (_: object, message: string): void => void terminal.err.write(`warning: ${message}\n`);
  const log: Log = { info: () => {}, warn, error: warn };
  const { openLocalResearch } = await import('./research-source.js');
  const source = await openLocalResearch(terminal.env, log, values.steps);
  try {
    if (source.isScripted)
      terminal.err.write('note: no model is configured (OPENAI_BASE_URL …), so rules do its work\n');
    const printer = new TreePrinter(terminal, values.events === true);
    const told$ = source.ask({ question, datasets: values.dataset, settings });
    const { signal } = terminal;
    const last = await lastValueFrom(
      told$.pipe(
        tap((event) => printer.print(event)),
        takeUntil(fromEvent(signal, 'abort')),
      ),
      { defaultValue: undefined },
    );
    if (signal.aborted) return EXIT.interrupted;
    if (last?.type !== 'final') return EXIT.failed;
    if (values.out !== undefined && format !== undefined) await writeReport(values.out, format, last);
    return EXIT.finished;
  } finally {
    await source.close();
  }
}

/** @throws EngineError USAGE */
function settingsOf(values: { readonly depth?: string; readonly budget?: string; readonly web?: boolean }): JsonObject {
  const { depth, budget, web } = values;
  if (depth !== undefined && !['quick', 'normal', 'deep'].includes(depth)) {
    throw new EngineError('USAGE', `--depth must be quick, normal or deep; received "${depth}".`);
  }
  const tokens = Number(budget);
  if (budget !== undefined && !(budget.trim() !== '' && Number.isSafeInteger(tokens) && tokens >= 0)) {
    throw new EngineError('USAGE', `--budget must be a number of tokens; received "${budget}".`);
  }
  return {
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

async function writeReport(file: string, format: (typeof FORMATS)[number], final: ResearchFinal): Promise<void> {
  const { reportFile } = await import('../../research/service/report-file.js');
  try {
    await writeFile(file, (await reportFile(final, format)).bytes);
  } catch (cause) {
    throw cannot(`write "${file}"`, cause);
  }
}

/** Prints a research as it goes on. */
class TreePrinter {
  readonly #terminal: Pick<Terminal, 'out' | 'err'>;
  readonly #isJson: boolean;
  /** Levels of questions, by id. */
  readonly #levels = new Map<string, number>();

  constructor(terminal: Pick<Terminal, 'out' | 'err'>, isJson: boolean) {
    this.#terminal = terminal;
    this.#isJson = isJson;
  }

  print(event: ResearchEvent): void {
    const { out, err } = this.#terminal;
    if (this.#isJson) {
      out.write(`${JSON.stringify(event)}\n`);
      return;
    }
    switch (event.type) {
      case 'question': {
        const level = Math.max(0, ...event.depends_on.map((id) => (this.#levels.get(id) ?? 0) + 1));
        this.#levels.set(event.id, level);
        err.write(`${'  '.repeat(level)}? ${event.text}\n`);
        return;
      }
      case 'finding': {
        const indent = '  '.repeat(this.#levels.get(event.question) ?? 0);
        const isKnown = event.answer !== '' && ['supported', 'quoted', 'given'].includes(event.verdict);
        err.write(`${indent}${isKnown ? `+ ${event.text} ${event.answer}` : `- ${event.text}`}\n`);
        return;
      }
      case 'gap':
        err.write(`= ${event.action.replaceAll('_', ' ')}\n`);
        return;
      case 'token':
        out.write(event.content);
        return;
      case 'retract':
        err.write(`\n${event.reason}; what follows counts\n`);
        return;
      case 'final':
        out.write('\n');
        for (const { n, source, url } of event.sources)
          err.write(`[${n}] ${source}${url === undefined ? '' : ` ${url}`}\n`);
        return;
      case 'error':
        err.write(`error: ${event.message}\n`);
        return;
      default:
        return;
    }
  }
}
