/** `runnel graph`: builds the graph of a dataset, and asks it. */
import { filter, firstValueFrom, merge, Observable, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import { buildRequestSchema } from '../../knowledge/graph/build/build-options.js';
import { toldBuild } from '../../knowledge/graph/build/graph-builds.js';
import {
  GRAPH_SEARCHES,
  type GraphFindings,
  type GraphQuery,
  type GraphStep,
} from '../../knowledge/graph/graph-search.js';
import { nearestName } from '../../nearest-name.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { type Command, EXIT, parse } from '../command.js';
import type { CommandKnowledge } from '../open-knowledge.js';
import { Screen } from '../screen.js';
import type { Terminal } from '../terminal.js';

export const graphCommand: Command = {
  usage: 'graph <cost | build | show | search | path | merge | split> <dataset> [arguments] [options]',
  summary: 'build the graph of a dataset, and ask it',
  help: `  graph cost DATASET             what a build would take; nothing is started
  graph build DATASET            reads names and relations of all documents; goes on where a build was stopped
  graph show DATASET [ENTITY]    entities and their relations, around one or the most mentioned ones
  graph search DATASET QUESTION  passages with the reason why each is there
  graph path DATASET FROM TO     how two entities are connected, each step with its passage
  graph merge DATASET A B        takes two names for one; split keeps them apart
  --layers LIST      links, rules, model, with commas between them (links,rules)
  --tokens N         tokens that models may spend on a build; also --calls N
  --kind NAME        of a search: local, global, drift, path, rank (local)
  --top N            passages or entities at most (8)
  --json             prints JSON

Only one process can use the embedded database: ask the server when it runs.
Exit codes: 0 done, 1 nothing was found or the build failed, 2 bad usage.`,
  run,
};

const ACTIONS = ['cost', 'build', 'show', 'search', 'path', 'merge', 'split'] as const;
const ARGUMENTS: Readonly<Record<(typeof ACTIONS)[number], readonly [least: number, most: number]>> = {
  cost: [0, 0],
  build: [0, 0],
  show: [0, 1],
  search: [1, 1],
  path: [2, 2],
  merge: [2, 2],
  split: [2, 2],
};

/** Characters of a passage that are shown. */
const SHOWN = 300;

/** What an action works with. */
interface Work {
  readonly knowledge: CommandKnowledge;
  readonly datasetId: string;
  readonly given: readonly string[];
  readonly values: {
    readonly layers?: string | undefined;
    readonly tokens?: string | undefined;
    readonly calls?: string | undefined;
    readonly kind?: string | undefined;
    readonly top: number;
    readonly json?: boolean | undefined;
  };
  readonly screen: Screen;
  readonly terminal: Terminal;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const text = { type: 'string' } as const;
  const options = {
    layers: text,
    tokens: text,
    calls: text,
    kind: text,
    top: text,
    json: { type: 'boolean' },
  } as const;
  const { values, positionals } = parse(graphCommand, args, options, { least: 2, most: 4 });
  const [name = '', dataset = '', ...given] = positionals;
  const action = ACTIONS.find((one) => one === name);
  if (action === undefined) {
    const nearest = nearestName(name, ACTIONS);
    throw new EngineError(
      'USAGE',
      `graph takes ${ACTIONS.join(', ')}; received "${name}".${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
    );
  }
  const [least, most] = ARGUMENTS[action];
  if (given.length < least || given.length > most)
    throw new EngineError(
      'USAGE',
      `graph ${action} takes a dataset and ${least === most ? least : `${least} or ${most}`} more; received ${given.length}.`,
    );
  const screen = new Screen(terminal);
  const { openCommandKnowledge } = await import('../open-knowledge.js');
  const knowledge = await openCommandKnowledge(terminal, (line) => screen.remark(line));
  try {
    const found = await knowledge.base.datasets.findByName(LOCAL_TENANT, dataset);
    if (found === undefined)
      throw new EngineError('NOT_FOUND', `There is no dataset "${dataset}"; runnel ingest makes one.`);
    const top = wholeOf('--top', values.top ?? '8');
    const work: Work = { knowledge, datasetId: found.dataset.id, given, values: { ...values, top }, screen, terminal };
    return await perform(action, work);
  } finally {
    screen.end();
    await knowledge.close();
  }
}

function perform(action: (typeof ACTIONS)[number], work: Work): Promise<number> {
  switch (action) {
    case 'cost':
      return cost(work);
    case 'build':
      return build(work);
    case 'show':
      return show(work);
    case 'search':
      return search(work, { kind: kindOf(work.values.kind), question: work.given[0] ?? '' });
    case 'path': {
      const [from = '', to = ''] = work.given;
      return search(work, { kind: 'path', question: `${from} ${to}`, between: [from, to] });
    }
    case 'merge':
    case 'split':
      return decide(work, action === 'merge' ? 'same' : 'apart');
  }
}

async function cost({ knowledge, datasetId, values, screen }: Work): Promise<number> {
  const { layers, model } = requestOf(values);
  const told = await knowledge.builds.cost(LOCAL_TENANT, datasetId, { layers, model });
  const money = told.money === null ? 'money unknown' : `money ${told.money.toFixed(4)}`;
  const text = `${told.chunks} chunks to read, ${told.calls} calls, ${told.prompt_tokens} + ${told.completion_tokens} tokens, ${money}, about ${Math.ceil(told.ms / 1000)} s\n`;
  screen.answer(values.json === true ? `${JSON.stringify(told)}\n` : text);
  return EXIT.finished;
}

async function build({ knowledge, datasetId, values, screen, terminal }: Work): Promise<number> {
  const { builds } = knowledge;
  const request = requestOf(values);
  const started = new Observable<never>((subscriber) => {
    builds.start(LOCAL_TENANT, datasetId, request).catch((error: unknown) => subscriber.error(error));
  });
  const ended$ = merge(builds.run(), started).pipe(
    filter((report) => report.datasetId === datasetId),
    tap(({ progress }) => screen.status(`${progress.message}: ${Math.round(100 * progress.progress)} %`)),
    filter(({ progress }) => progress.finishedAt !== null),
  );
  const stopped$ = new Observable<never>((subscriber) => {
    const stop = (): void => subscriber.error(terminal.signal.reason);
    terminal.signal.addEventListener('abort', stop, { once: true });
    return () => terminal.signal.removeEventListener('abort', stop);
  });
  await firstValueFrom(merge(ended$, stopped$));
  const record = await builds.find(LOCAL_TENANT, datasetId);
  if (record === undefined) return EXIT.failed;
  const told = toldBuild(record);
  const counts = await knowledge.base.graphs.ask(LOCAL_TENANT, datasetId, { kind: 'counts' }).catch(() => undefined);
  const size =
    counts === undefined
      ? 'no graph'
      : `${counts.entities} entities, ${counts.relations} relations, ${counts.communities} communities`;
  const lacking = told.missing.map((line) => `missing: ${line}\n`).join('');
  screen.answer(
    values.json === true ? `${JSON.stringify({ ...told, ...counts })}\n` : `${told.message}: ${size}\n${lacking}`,
  );
  return told.state === 'DONE' ? EXIT.finished : EXIT.failed;
}

async function show({ knowledge, datasetId, given, values, screen }: Work): Promise<number> {
  const [around] = given;
  const part = await knowledge.base.graphs.ask(LOCAL_TENANT, datasetId, { kind: 'show', around, limit: values.top });
  const names = new Map(part.nodes.map(({ id, name }) => [id, name]));
  const nodes = part.nodes.map(
    ({ name, type, mentions, documents }) => `${name} (${type}), ${mentions} mentions in ${documents} documents\n`,
  );
  const edges = part.edges.map(
    ({ source, target, relation }) => `  ${names.get(source)} -- ${relation} -- ${names.get(target)}\n`,
  );
  screen.answer(values.json === true ? `${JSON.stringify(part)}\n` : [...nodes, ...edges].join(''));
  return part.nodes.length === 0 ? EXIT.failed : EXIT.finished;
}

async function search(
  { knowledge, datasetId, values, screen, terminal }: Work,
  asked: Pick<GraphQuery, 'kind' | 'question' | 'between'>,
): Promise<number> {
  const query: GraphQuery = { ...asked, datasetIds: [datasetId], limit: values.top };
  const found = await knowledge.base.graphs.search(LOCAL_TENANT, query, terminal.signal);
  screen.answer(values.json === true ? `${JSON.stringify(found)}\n` : textOf(found));
  return found.hits.length === 0 ? EXIT.failed : EXIT.finished;
}

function textOf({ hits, paths, points }: GraphFindings): string {
  const ways = paths.map((steps, at) => `way ${at + 1}: ${steps.map(stepText).join('; ')}\n`);
  const said = points.map(({ text, rating }) => `${rating}  ${text.slice(0, SHOWN)}\n`);
  const passages = hits.map(({ chunk, document, score, why }, at) => {
    const because = [...why.entities, ...why.steps.map(stepText)].slice(0, 5).join('; ');
    const text = chunk.text.length > SHOWN ? `${chunk.text.slice(0, SHOWN)} …` : chunk.text;
    return `${at + 1}. ${score.toFixed(3)}  ${document.name}  (${because})\n${text.replace(/^/gm, '   ')}\n\n`;
  });
  return [...ways, ...said, ...passages].join('') || 'nothing was found\n';
}

function stepText({ from, relation, to }: GraphStep): string {
  return `${from} ${relation.replaceAll('_', ' ')} ${to}`;
}

async function decide({ knowledge, datasetId, given, screen }: Work, kind: 'same' | 'apart'): Promise<number> {
  const { id, names } = await knowledge.base.graphs.decide(LOCAL_TENANT, datasetId, kind, given);
  screen.answer(`${names.join(' and ')} are ${kind === 'same' ? 'one' : 'kept apart'} from now on (${id})\n`);
  return EXIT.finished;
}

function requestOf({ layers, tokens, calls }: Work['values']) {
  const given = {
    ...(layers !== undefined && { layers: layers.split(',').map((layer) => layer.trim()) }),
    budget: {
      ...(tokens !== undefined && { tokens: wholeOf('--tokens', tokens) }),
      ...(calls !== undefined && { calls: wholeOf('--calls', calls) }),
    },
  };
  const { data, error } = buildRequestSchema.safeParse(given);
  if (data !== undefined) return data;
  throw new EngineError(
    'USAGE',
    `--layers takes links, rules, model; received "${layers}". ${error.issues[0]?.message ?? ''}`,
  );
}

function kindOf(given = 'local'): GraphQuery['kind'] {
  const kind = GRAPH_SEARCHES.find((one) => one === given);
  if (kind !== undefined) return kind;
  throw new EngineError('USAGE', `--kind takes ${GRAPH_SEARCHES.join(', ')}; received "${given}".`);
}

function wholeOf(option: string, given: string): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= 0) return value;
  throw new EngineError('USAGE', `${option} takes a whole number; received "${given}".`);
}
