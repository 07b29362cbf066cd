/** `runnel eval`: how well questions find their documents, and how well chats answer them. */
import { stat, writeFile } from 'node:fs/promises';
import { EngineError } from '../errors.js';
import type { CollectionResult, Comparison } from '../knowledge/evaluation/evaluate-collection.js';
import type { PipelineName } from '../knowledge/evaluation/pipelines.js';
import type { SearchSettings } from '../knowledge/search/search-settings.js';
import type { DeepResult } from '../research/evaluation/evaluate-deep.js';
import { type Command, cannot, EXIT, parse } from './command.js';
import {
  belowBars,
  type EvalValues,
  lowerThanBefore,
  type Measured,
  readBar,
  readSettingsFile,
} from './eval-measured.js';
import type { EvalReport } from './eval-report.js';
import type { Terminal } from './terminal.js';

export const evalCommand: Command = {
  usage:
    'eval <folder | golden.jsonl> [--documents PATH …] [--config FILE] [--against FILE] [--pipeline NAME] [--depth NAME] [--run FILE] [--json] [--html FILE] [--fail-below measure=value] [--judge [MODEL]]',
  summary: 'measure how well questions find their documents, or how well chats answer them',
  help: `  <folder>           a test collection: corpus.jsonl and queries.jsonl (or .jsonl.gz), and qrels.tsv
  <golden.jsonl>     questions to a chat, one JSON object a line; docs/search.md has the form
  --documents PATH   what the golden questions are about, a file or a folder; may be repeated. Without it: the
                     pages of this package
  --config FILE      JSON with settings: of the search (docs/search.md), or of the node Chat for golden questions
                     (docs/components.md). Without it: the defaults
  --against FILE     settings to compare with; a paired bootstrap over the questions tells what differs
  --pipeline NAME    default: one search a question; link: links are followed further; local: around the entities that
                     a question names; rank: a walk over the graph; deep: sub-questions, each searched and read by the default model,
                     the evidence in the order in which the report uses it; plan: the same by a plan (docs/research.md)
  --depth NAME       of the pipelines deep and plan: quick, normal or deep. Without it: normal
  --run FILE         writes what was found as lines of TREC: question Q0 document rank score tag
  --json             prints the result as JSON
  --html FILE        writes the result as a page that needs nothing else
  --fail-below M=V   exit 1 when a measure is below a value, such as ndcg@10=0.70; may be given several times
  --judge [MODEL]    has a model judge the answers to golden questions, each in both orders; two calls a question.
                     Stands behind the file. Without a name: the default model

Measures: ndcg@10, map, mrr@10, recall@5, recall@10, recall@100, hit@1, perfect@5, perfect@8. Of golden questions:
source_pass, keyword_pass, citation_precision, right_route, and judge_pass with --judge. Progress is shown on the
standard error. Models answer as with "runnel run".
Exit codes: 0 measured, 1 a measure is below its value or lower than with --against (95 % certain), 2 not measured.`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      evalCommand,
      withJudge(args),
      {
        config: { type: 'string' },
        against: { type: 'string' },
        documents: { type: 'string', multiple: true },
        pipeline: { type: 'string' },
        depth: { type: 'string' },
        run: { type: 'string' },
        json: { type: 'boolean' },
        html: { type: 'string' },
        'fail-below': { type: 'string', multiple: true },
        judge: { type: 'string' },
      },
      { least: 1, most: 1 },
    );
    const given = positionals[0] as string;
    const found = await stat(given).catch((cause: unknown) => {
      throw cannot(`read "${given}"`, cause);
    });
    const report = found.isDirectory()
      ? await measureCollection(given, values, terminal)
      : await (await import('./measure-golden.js')).measureGolden(given, values, terminal);
    if (values.html !== undefined) await writeReport(values.html, report.html());
    terminal.out.write(values.json === true ? `${JSON.stringify(report.json(), null, 2)}\n` : report.text());
    return report.failures.length === 0 ? EXIT.finished : EXIT.failed;
  },
};

/** `--judge` may stand without a model, which options of Node cannot. */
function withJudge(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => (arg === '--judge' && (args[at + 1]?.startsWith('-') ?? true) ? '--judge=' : arg));
}

async function measureCollection(folder: string, values: EvalValues, terminal: Terminal): Promise<Measured> {
  if (values.documents !== undefined) {
    throw new EngineError('USAGE', '--documents is for golden questions; a test collection has documents of its own.');
  }
  if (values.judge !== undefined) {
    throw new EngineError('USAGE', '--judge is for golden questions; documents of a test collection are judged in it.');
  }
  readPipeline(values);
  const { MEASURES } = await import('../knowledge/evaluation/metrics.js');
  const bars = (values['fail-below'] ?? []).map((one) => readBar(one, MEASURES));
  const settings = await readSearch(values.config);
  const other = values.against === undefined ? undefined : await readSearch(values.against);
  const { result, comparison } = await evaluate(folder, values, settings, other, terminal);
  const [{ reportHtml, reportText }, { deepText }] = await Promise.all([
    import('./eval-report.js'),
    import('./research/eval-deep.js'),
  ]);
  const lost = (comparison?.regressions ?? []).map(lowerThanBefore);
  const failures = [...belowBars(result.means, bars), ...lost];
  const report: EvalReport = { folder, result, comparison, failures };
  if (values.run !== undefined) await writeRun(values.run, result);
  return {
    failures,
    text: () => `${reportText(report)}${isDeep(result) ? deepText(result) : ''}`,
    html: () => reportHtml(report),
    json: () => jsonOf(report),
  };
}

/** How questions of a collection may be answered. */
const RESEARCHES = ['deep', 'plan'] as const;
const PIPELINES = ['default', 'link', 'local', 'rank', ...RESEARCHES] as const satisfies readonly (
  | PipelineName
  | Research
)[];

type Research = (typeof RESEARCHES)[number];

/** @throws EngineError USAGE for a pipeline that there is not, and options that do not go with it */
function readPipeline({ pipeline: given = 'default', depth, against }: EvalValues): PipelineName | Research {
  const pipeline = PIPELINES.find((name) => name === given);
  if (pipeline === undefined) {
    throw new EngineError('USAGE', `--pipeline must be one of ${PIPELINES.join(', ')}; received "${given}".`);
  }
  if (!isResearch(pipeline) && depth !== undefined) {
    throw new EngineError('USAGE', '--depth is for --pipeline deep and plan.');
  }
  if (isResearch(pipeline) && against !== undefined) {
    throw new EngineError(
      'USAGE',
      `--against compares settings of one search; it does not go with --pipeline ${pipeline}.`,
    );
  }
  return pipeline;
}

function isResearch(pipeline: PipelineName | Research): pipeline is Research {
  return RESEARCHES.some((one) => one === pipeline);
}

/** @throws EngineError USAGE for a file that cannot be read, OPTION_INVALID for settings that are not allowed */
async function readSearch(file: string | undefined): Promise<SearchSettings> {
  const { DEFAULT_SETTINGS, readSearchSettings } = await import('../knowledge/search/search-settings.js');
  return file === undefined ? DEFAULT_SETTINGS : readSearchSettings(await readSettingsFile(file));
}

async function evaluate(
  folder: string,
  values: EvalValues,
  settings: SearchSettings,
  other: SearchSettings | undefined,
  { err, signal, env }: Terminal,
): Promise<{ readonly result: CollectionResult; readonly comparison: Comparison | undefined }> {
  const [{ readCollection }, { compareResults, evaluateCollection, indexCollection }] = await Promise.all([
    import('../knowledge/evaluation/read-collection.js'),
    import('../knowledge/evaluation/evaluate-collection.js'),
  ]);
  const onProgress = (step: string, done: number, all: number): void => {
    err.write(`${done} of ${all} ${step}\n`);
  };
  const indexed = await indexCollection(await readCollection(folder), { onProgress, signal });
  const pipeline = readPipeline(values);
  if (isResearch(pipeline)) {
    const { evaluateByResearch } = await import('./research/eval-deep.js');
    const result = await evaluateByResearch(indexed, values, settings, { onProgress, signal }, env);
    return { result, comparison: undefined };
  }
  const result = await evaluateCollection(indexed, settings, { onProgress, pipeline, signal });
  if (other === undefined) return { result, comparison: undefined };
  const theirs = await evaluateCollection(indexed, other, { onProgress, pipeline, signal });
  return { result, comparison: compareResults(result, theirs) };
}

async function writeRun(file: string, result: CollectionResult): Promise<void> {
  const { trecLines } = await import('../knowledge/evaluation/evaluate-collection.js');
  await writeReport(file, trecLines(result, 'runnel'));
}

async function writeReport(file: string, content: string | Iterable<string>): Promise<void> {
  try {
    await writeFile(file, content);
  } catch (cause) {
    throw cannot(`write "${file}"`, cause);
  }
}

/** Whether questions were researched. */
function isDeep(result: CollectionResult): result is DeepResult {
  return 'answers' in result;
}

function jsonOf({ folder, result, comparison, failures }: EvalReport): object {
  const { means, documents, times, questions } = result;
  const measured = questions.map(({ id, measures, ms }) => ({ id, measures, ms }));
  return {
    folder,
    documents,
    means,
    times,
    ...(isDeep(result) && { answers: result.answers }),
    ...(comparison !== undefined && { comparison }),
    failures,
    questions: measured,
  };
}
