/** `runnel search`: passages of a dataset that fit a question. */
import { EngineError } from '../errors.js';
import type { KnowledgeHit } from '../knowledge/base/retrieval.js';
import { LOCAL_TENANT } from '../settings/access.js';
import { type Command, EXIT, parse } from './command.js';
import { Screen } from './screen.js';
import type { Terminal } from './terminal.js';

export const searchCommand: Command = {
  usage: 'search <dataset> <question> [--top N] [--threshold T] [--json]',
  summary: 'find passages of a dataset',
  help: `  <dataset>          name or id
  <question>         in words, as a person would ask
  --top N            passages at most (5)
  --threshold T      leaves out passages that are less similar, 0 to 1 (0)
  --json             prints one JSON object a line: document, similarity, scores, start, end, page, text

Each passage comes with its similarity, its document, and where it stands in the text of the document.
Only one process can use the embedded database: ask the server when it runs.
Exit codes: 0 something was found, 1 nothing was, 2 bad usage.`,
  run,
};

/** Characters of a passage that are shown. */
const SHOWN = 400;
const MAX_TOP = 1_000;

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(
    searchCommand,
    args,
    { top: { type: 'string' }, threshold: { type: 'string' }, json: { type: 'boolean' } },
    { least: 2, most: 2 },
  );
  const [name = '', question = ''] = positionals;
  const pageSize = numberOf('--top', values.top ?? '5', 1, MAX_TOP);
  const similarityThreshold = numberOf('--threshold', values.threshold ?? '0', 0, 1);
  const screen = new Screen(terminal);
  const { openCommandKnowledge } = await import('./open-knowledge.js');
  const { base, close } = await openCommandKnowledge(terminal, (line) => screen.remark(line));
  try {
    const found = await base.datasets.findByName(LOCAL_TENANT, name);
    if (found === undefined)
      throw new EngineError('NOT_FOUND', `There is no dataset "${name}"; runnel ingest makes one.`);
    const query = { question, datasetIds: [found.dataset.id], pageSize: Math.floor(pageSize), similarityThreshold };
    const { hits } = await base.search(LOCAL_TENANT, query, terminal.signal);
    for (const [at, hit] of hits.entries()) screen.answer(values.json === true ? lineOf(hit) : passageOf(hit, at + 1));
    if (hits.length === 0) screen.remark('nothing was found');
    return hits.length === 0 ? EXIT.failed : EXIT.finished;
  } finally {
    screen.end();
    await close();
  }
}

function lineOf({ chunk, document, similarity, scores }: KnowledgeHit): string {
  const { id, start, end, page, text, headings } = chunk;
  return `${JSON.stringify({ document: document.name, similarity, scores, start, end, page, headings, id, text })}\n`;
}

function passageOf({ chunk, document, similarity }: KnowledgeHit, rank: number): string {
  const { start, end, page, headings, text } = chunk;
  const place = [page === null ? '' : `page ${page}`, start === null ? '' : `${start}-${end}`].filter(
    (part) => part !== '',
  );
  const where = [document.name, ...headings].join(' > ');
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
  return `${rank}. ${similarity.toFixed(3)}  ${where}${place.length === 0 ? '' : ` (${place.join(', ')})`}\n${shown.replace(/^/gm, '   ')}\n\n`;
}

function numberOf(option: string, given: string, least: number, most: number): number {
  const value = Number(given);
  if (given.trim() !== '' && value >= least && value <= most) return value;
  throw new EngineError('USAGE', `${option} takes a number from ${least} to ${most}; received "${given}".`);
}
