/** `runnel eval`: how well questions find their documents. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { EngineError } from '../errors.js';
import { isJsonObject, parseJson } from '../json.js';
import type { CollectionResult, Comparison } from '../knowledge/evaluation/evaluate-collection.js';
import type { Measure } from '../knowledge/evaluation/metrics.js';
import type { SearchSettings } from '../knowledge/search/search-settings.js';
import { type Command, cannot, EXIT, parse } from './command.js';
import type { EvalReport } from './eval-report.js';
import type { Terminal } from './terminal.js';

export const evalCommand: Command = {
  usage:
    'eval <folder> [--config FILE] [--against FILE] [--run FILE] [--json] [--html FILE] [--fail-below measure=value]',
  summary: 'measure how well questions find their documents',
  help: `  <folder>           a test collection: corpus.jsonl and queries.jsonl (or .jsonl.gz), and qrels.tsv
  --config FILE      JSON with settings of the search; docs/search.md has them. Without it: the defaults
  --against FILE     settings to compare with; a paired bootstrap over the questions tells what differs
  --run FILE         writes what was found as lines of TREC: question Q0 document rank score tag
  --json             prints the result as JSON
  --html FILE        writes the result as a page that needs nothing else
  --fail-below M=V   exit 1 when a measure is below a value, such as ndcg@10=0.70; may be given several times

Measures: ndcg@10, map, mrr@10, recall@5, recall@10, recall@100, hit@1, perfect@5, perfect@8. Progress is shown
on the standard error.
Exit codes: 0 measured, 1 a measure is below its value or lower than with --against (95 % certain), 2 not measured.`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      evalCommand,
      args,
      {
        config: { type: 'string' },
        against: { type: 'string' },
        run: { type: 'string' },
        json: { type: 'boolean' },
        html: { type: 'string' },
        'fail-below': { type: 'string', multiple: true },
      },
      { least: 1, most: 1 },
    );
    const folder = positionals[0] as string;
    const bars = await Promise.all((values['fail-below'] ?? []).map(readBar));
    const settings = await readSettingsFile(values.config);
    const other = values.against === undefined ? undefined : await readSettingsFile(values.against);
    const { result, comparison } = await evaluate(folder, settings, other, terminal);
    const { reportHtml, reportText } = await import('./eval-report.js');
    const report: EvalReport = { folder, result, comparison, failures: failuresOf(result, comparison, bars) };
    if (values.run !== undefined) await writeRun(values.run, result);
    if (values.html !== undefined) await write(values.html, reportHtml(report));
    terminal.out.write(values.json === true ? `${JSON.stringify(jsonOf(report), null, 2)}\n` : reportText(report));
    return report.failures.length === 0 ? EXIT.finished : EXIT.failed;
  },
};

/** A measure and the value that it must reach. */
interface Bar {
  readonly measure: Measure;
  readonly value: number;
}

async function readBar(given: string): Promise<Bar> {
  const { MEASURES } = await import('../knowledge/evaluation/metrics.js');
  const [name = '', value = ''] = given.split('=');
  const measure = MEASURES.find((one) => one === name.trim().toLowerCase());
  const least = Number(value);
  if (measure !== undefined && value.trim() !== '' && least >= 0 && least <= 1) return { measure, value: least };
  throw new EngineError(
    'USAGE',
    `--fail-below takes a measure (${MEASURES.join(', ')}), "=" and a value from 0 to 1; received ${JSON.stringify(given)}.`,
  );
}

/** @throws EngineError USAGE for a file that cannot be read, OPTION_INVALID for settings that are not allowed */
async function readSettingsFile(file: string | undefined): Promise<SearchSettings> {
  const { DEFAULT_SETTINGS, readSearchSettings } = await import('../knowledge/search/search-settings.js');
  if (file === undefined) return DEFAULT_SETTINGS;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw cannot(`read "${file}"`, cause);
  });
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new EngineError('USAGE', `"${file}" must hold a JSON object with settings.`);
  return readSearchSettings(value);
}

async function evaluate(
  folder: string,
  settings: SearchSettings,
  other: SearchSettings | undefined,
  { err, signal }: Terminal,
): Promise<{ readonly result: CollectionResult; readonly comparison: Comparison | undefined }> {
  const found = await stat(folder).catch((cause: unknown) => {
    throw cannot(`read "${folder}"`, cause);
  });
  if (!found.isDirectory()) throw new EngineError('USAGE', `"${folder}" is no folder with a test collection.`);
  const [{ readCollection }, { compareResults, evaluateCollection, indexCollection }] = await Promise.all([
    import('../knowledge/evaluation/read-collection.js'),
    import('../knowledge/evaluation/evaluate-collection.js'),
  ]);
  const onProgress = (step: string, done: number, all: number): void => {
    err.write(`${done} of ${all} ${step}\n`);
  };
  const indexed = await indexCollection(await readCollection(folder), { onProgress, signal });
  const result = await evaluateCollection(indexed, settings, { onProgress, signal });
  if (other === undefined) return { result, comparison: undefined };
  const theirs = await evaluateCollection(indexed, other, { onProgress, signal });
  return { result, comparison: compareResults(result, theirs) };
}

function failuresOf(result: CollectionResult, comparison: Comparison | undefined, bars: readonly Bar[]): string[] {
  const below = bars.flatMap(({ measure, value }) =>
    result.means[measure] >= value ? [] : [`${measure} is ${result.means[measure].toFixed(4)}, below ${value}`],
  );
  const lost = (comparison?.regressions ?? []).map((measure) => `${measure} is lower than with the other settings`);
  return [...below, ...lost];
}

async function writeRun(file: string, result: CollectionResult): Promise<void> {
  const { trecLines } = await import('../knowledge/evaluation/evaluate-collection.js');
  await write(file, trecLines(result, 'runnel'));
}

async function write(file: string, content: string | Iterable<string>): Promise<void> {
  try {
    await writeFile(file, content);
  } catch (cause) {
    throw cannot(`write "${file}"`, cause);
  }
}

function jsonOf({ folder, result, comparison, failures }: EvalReport): object {
  const { means, documents, times, questions } = result;
  const measured = questions.map(({ id, measures, ms }) => ({ id, measures, ms }));
  return {
    folder,
    documents,
    means,
    times,
    ...(comparison !== undefined && { comparison }),
    failures,
    questions: measured,
  };
}
