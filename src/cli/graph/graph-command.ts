/** `runnel graph`: builds the graph of a dataset, and asks it. */
import { EngineError } from '../../errors.js';
import { nearestName } from '../../nearest-name.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { type Command, parse } from '../command.js';
import { Screen } from '../screen.js';
import type { Terminal } from '../terminal.js';
import { pathAction, searchAction, showAction } from './ask-actions.js';
import { buildAction, costAction } from './build-actions.js';
import { GRAPH_OPTIONS, type GraphAction, type GraphWork } from './graph-action.js';
import { aliasAction, mergeAction, namesAction, splitAction, undoAction } from './name-actions.js';
import { exportAction, putAction, rulesAction } from './own-actions.js';

/** What the command does, in the order of its help: a line for each. */
const ACTIONS: ReadonlyMap<string, GraphAction> = new Map([
  ['cost', costAction],
  ['build', buildAction],
  ['show', showAction],
  ['search', searchAction],
  ['path', pathAction],
  ['merge', mergeAction],
  ['split', splitAction],
  ['alias', aliasAction],
  ['names', namesAction],
  ['undo', undoAction],
  ['rules', rulesAction],
  ['put', putAction],
  ['export', exportAction],
]);

const WIDTH = 29;

export const graphCommand: Command = {
  usage: 'graph <action> <dataset> [arguments] [options]',
  summary: 'build the graph of a dataset, and ask it',
  help: `${[...ACTIONS].map(lineOf).join('\n')}
  --layers LIST      links, rules, model, given, with commas between them (of a build links,rules, of an export all)
  --reports yes|no   of a build and its cost: whether a model writes reports on communities (with the layer model)
  --sample           of the cost of a build: the model reads ten chunks, so that its answers are measured
  --types LIST       of a build: types of entities that a model chooses from
  --model ID         of a build, its cost, and searches global and drift: the chat model (the default one)
  --tokens N         tokens that models may spend on a build, or on a search global or drift; also --calls N
  --money N          of a build: what models may cost, by the prices of RUNNEL_MODELS; also --ms N, the time
  --kind NAME        of a search: local, global, drift, path, rank (local)
  --level N          of global and drift: the communities, from 0, the coarsest (chosen by the budget)
  --max-tokens N     of a search: tokens that its passages may have together (8000)
  --top N            passages or entities at most (8)
  --format NAME      of a file: json, graphml, gexf (what its name ends with, else json); FILE may be - for the input
  --out FILE         where an export goes (the output)
  --json             prints JSON

The searches global and drift work by rules, unless --tokens, --calls or --model let a model take part.
Only one process can use the embedded database: ask the server when it runs.
Exit codes: 0 done, 1 nothing was found or the build failed, 2 bad usage.`,
  run,
};

function lineOf([name, { help }]: readonly [string, GraphAction]): string {
  const [args, does] = help;
  return `  ${`graph ${name} DATASET ${args}`.trimEnd().padEnd(WIDTH)}  ${does}`;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(graphCommand, args, GRAPH_OPTIONS, { least: 2, most: 4 });
  const [name = '', dataset = '', ...given] = positionals;
  const action = ACTIONS.get(name);
  if (action === undefined) throw unknownAction(name);
  const [least, most] = action.takes;
  if (given.length < least || given.length > most)
    throw new EngineError(
      'USAGE',
      `graph ${name} takes a dataset and ${least === most ? least : `${least} or ${most}`} more; received ${given.length}.`,
    );
  requireFitting(name, action, values);
  const screen = new Screen(terminal);
  const { openCommandKnowledge } = await import('../open-knowledge.js');
  const knowledge = await openCommandKnowledge(terminal, (line) => screen.remark(line));
  try {
    const found = await knowledge.base.datasets.findByName(LOCAL_TENANT, dataset);
    if (found === undefined)
      throw new EngineError('NOT_FOUND', `There is no dataset "${dataset}"; runnel ingest makes one.`);
    return await action.run({ knowledge, datasetId: found.dataset.id, given, values, screen, terminal });
  } finally {
    screen.end();
    await knowledge.close();
  }
}

/** @throws EngineError USAGE for an option that means nothing to the action */
function requireFitting(name: string, { options = [] }: GraphAction, values: GraphWork['values']): void {
  const fitting: readonly string[] = [...options, 'json'];
  const other = Object.keys(values).find((option) => !fitting.includes(option));
  if (other === undefined) return;
  const taken = fitting.map((option) => `--${option}`).join(', ');
  throw new EngineError('USAGE', `graph ${name} takes no --${other}; it takes ${taken}.`);
}

function unknownAction(name: string): EngineError {
  const names = [...ACTIONS.keys()];
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return new EngineError('USAGE', `graph takes ${names.join(', ')}; received "${name}".${meant}`);
}
