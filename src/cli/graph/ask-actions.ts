/** Asking a graph: its entities, and passages that it leads to. */
import { EngineError } from '../../errors.js';
import {
  GRAPH_SEARCHES,
  type GraphFindings,
  type GraphQuery,
  type GraphStep,
} from '../../knowledge/graph/graph-search.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { EXIT } from '../command.js';
import { type GraphAction, type GraphOption, type GraphWork, modelOf, wholeOf } from './graph-action.js';

/** Characters of a passage that are shown. */
const SHOWN = 300;
/** Passages or entities. */
const TOP = '8';
/** Passages at most. */
const MAX_TOP = 100;
const MAX_LEVEL = 16;

/** Options of searches that a model may take part in. */
const OF_MODELS = ['tokens', 'calls', 'model', 'level'] as const satisfies readonly GraphOption[];

export const showAction: GraphAction = {
  help: ['[ENTITY]', 'entities and their relations, around one or the most mentioned ones'],
  takes: [0, 1],
  options: ['top'],
  run: show,
};

export const searchAction: GraphAction = {
  help: ['QUESTION', 'passages with the reason why each is there'],
  takes: [1, 1],
  options: ['kind', 'top', 'max-tokens', ...OF_MODELS],
  run: (work) => search(work, searchOf(work)),
};

export const pathAction: GraphAction = {
  help: ['FROM TO', 'how two entities are connected, each step with its passage'],
  takes: [2, 2],
  options: ['top', 'max-tokens'],
  run: (work) => {
    const [from = '', to = ''] = work.given;
    return search(work, { kind: 'path', question: `${from} ${to}`, between: [from, to] });
  },
};

async function show({ knowledge, datasetId, given, values, screen }: GraphWork): Promise<number> {
  const [around] = given;
  const part = await knowledge.base.graphs.ask(LOCAL_TENANT, datasetId, { kind: 'show', around, limit: topOf(values) });
  const names = new Map(part.nodes.map(({ id, name }) => [id, name]));
  const nodes = part.nodes.map(
    ({ name, type, mentions, documents }) => `${name} (${type}), mentions ${mentions}, documents ${documents}\n`,
  );
  const edges = part.edges.map(
    ({ source, target, relation }) => `  ${names.get(source)} -- ${relation} -- ${names.get(target)}\n`,
  );
  screen.answer(values.json === true ? `${JSON.stringify(part)}\n` : [...nodes, ...edges].join(''));
  return part.nodes.length === 0 ? EXIT.failed : EXIT.finished;
}

/** A search as the options have it. @throws EngineError USAGE */
function searchOf({ given: [question = ''], values }: GraphWork): Omit<GraphQuery, 'datasetIds'> {
  if (question.trim() === '') throw new EngineError('USAGE', 'The question is empty.');
  const kind = kindOf(values.kind);
  const { tokens, calls, model, level } = values;
  const needless =
    kind === 'global' || kind === 'drift' ? undefined : OF_MODELS.find((name) => values[name] !== undefined);
  if (needless !== undefined)
    throw new EngineError('USAGE', `--${needless} is for --kind global and drift; received --kind ${kind}.`);
  const budget = {
    ...(tokens !== undefined && { tokens: wholeOf('--tokens', tokens) }),
    ...(calls !== undefined && { calls: wholeOf('--calls', calls) }),
  };
  return {
    ...{ kind, question },
    ...(level !== undefined && { level: wholeOf('--level', level, 0, MAX_LEVEL) }),
    ...(model !== undefined && { model: modelOf(model) }),
    // Without one no model is asked, unless it is named.
    ...(Object.keys(budget).length > 0 && { budget }),
  };
}

async function search(
  { knowledge, datasetId, values, screen, terminal }: GraphWork,
  asked: Omit<GraphQuery, 'datasetIds'>,
): Promise<number> {
  const maxTokens = values['max-tokens'];
  const query: GraphQuery = {
    ...{ ...asked, datasetIds: [datasetId], limit: wholeOf('--top', values.top ?? TOP, 1, MAX_TOP) },
    ...(maxTokens !== undefined && { maxTokens: wholeOf('--max-tokens', maxTokens, 1, 1_000_000) }),
  };
  const found = await knowledge.base.graphs.search(LOCAL_TENANT, query, terminal.signal);
  screen.answer(values.json === true ? `${JSON.stringify(found)}\n` : textOf(found));
  const { spent, read } = found;
  if (spent.calls > 0)
    screen.remark(`${spent.calls} calls, ${spent.tokens} tokens; ${read.done} of ${read.of} reports were read`);
  if (found.isDegraded) screen.remark('warning: a model failed at a part of the work, which rules did instead');
  return found.hits.length === 0 ? EXIT.failed : EXIT.finished;
}

function textOf({ hits, paths, points, questions }: GraphFindings): string {
  const ways = paths.map((steps, at) => `way ${at + 1}: ${steps.map(stepText).join('; ')}\n`);
  const said = points.map(({ text, rating }) => `${rating}  ${text.slice(0, SHOWN)}\n`);
  const followed = questions.map((question) => `asked on the way: ${question}\n`);
  const passages = hits.map(({ chunk, document, score, why }, at) => {
    const because = [...why.entities, ...why.steps.map(stepText)].slice(0, 5).join('; ');
    const text = chunk.text.length > SHOWN ? `${chunk.text.slice(0, SHOWN)} …` : chunk.text;
    return `${at + 1}. ${score.toFixed(3)}  ${document.name}  (${because})\n${text.replace(/^/gm, '   ')}\n\n`;
  });
  return [...ways, ...said, ...followed, ...passages].join('') || 'nothing was found\n';
}

function stepText({ from, relation, to }: GraphStep): string {
  return `${from} ${relation.replaceAll('_', ' ')} ${to}`;
}

function kindOf(given = 'local'): GraphQuery['kind'] {
  const kind = GRAPH_SEARCHES.find((one) => one === given);
  if (kind !== undefined) return kind;
  throw new EngineError('USAGE', `--kind takes ${GRAPH_SEARCHES.join(', ')}; received "${given}".`);
}

function topOf({ top = TOP }: GraphWork['values']): number {
  return wholeOf('--top', top);
}
