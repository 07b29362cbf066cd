/** Searches of the graphs of datasets: which passages they lead to, by rules, or with a model where there is a budget for one. */
import { EngineError } from '../../../errors.js';
import { firstValue } from '../../../operators/from-abortable.js';
import type { BaseParts } from '../../base/parts.js';
import { availableChunks, findPassages } from '../../base/retrieval.js';
import { SearchBudget } from '../by-model/search-budget.js';
import type { FindGraphModel } from '../calls/graph-model.js';
import type { GraphAnswers, GraphAsk, ToldEntity } from '../graph-answers.js';
import type { GraphFindings, GraphQuery } from '../graph-search.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import type { HeldGraphs } from './held-graphs.js';

/** What was found before texts are read. */
export interface FoundInGraphs {
  readonly passages: readonly FoundPassageOfGraph[];
  readonly findings: Omit<GraphFindings, 'hits'>;
}

/** What searches are made with. */
export interface GraphSearchWork {
  readonly held: HeldGraphs;
  readonly parts: BaseParts;
  readonly models?: FindGraphModel | undefined;
}

/** A search, with passages that are looked at. */
type BoundedQuery = GraphQuery & { readonly limit: number };

/** Searches the graphs of datasets one by one; a budget is for all of them. @throws EngineError as `KnowledgeGraphSearch` */
export async function findInGraphs(
  work: GraphSearchWork,
  tenant: string,
  query: BoundedQuery,
  signal: AbortSignal,
): Promise<FoundInGraphs> {
  const { kind, datasetIds } = query;
  const asking = askingOf(work, tenant, query);
  const found: FoundInGraphs[] = [];
  for (const datasetId of [...new Set(datasetIds)]) {
    signal.throwIfAborted();
    const own =
      asking === undefined
        ? await foundByRules(work, tenant, datasetId, query, signal)
        : await foundByModel(work, tenant, datasetId, { ...query, ...asking }, signal);
    if (own !== undefined) found.push(own);
    else if ((await work.parts.store.findDataset(tenant, datasetId)) === undefined)
      throw new EngineError('NOT_FOUND', `There is no dataset "${datasetId}".`);
  }
  if (found.length > 0) {
    const all = joined(kind, found);
    return asking === undefined ? all : { ...all, findings: { ...all.findings, spent: asking.budget.spent } };
  }
  const message = `None of the datasets ${JSON.stringify(datasetIds)} has a graph; build one first.`;
  throw new EngineError('GRAPH_MISSING', message);
}

/** Passages that a search by words gives to a walk. */
const SEEDS = 50;
/** Calls of a model that is named without a budget. */
const USUAL_CALLS = 10;

/** Which model is asked, and what it may take; undefined where rules do the work. @throws EngineError MODEL_UNKNOWN */
function askingOf({ models }: GraphSearchWork, tenant: string, { kind, model = '', budget, onCall }: BoundedQuery) {
  if ((kind !== 'global' && kind !== 'drift') || (budget === undefined && model === '')) return undefined;
  const found = models?.(tenant, model);
  if (found === undefined) {
    if (model === '') return undefined;
    throw new EngineError('MODEL_UNKNOWN', `There is no chat model ${JSON.stringify(model.slice(0, 200))}.`);
  }
  return { kind, asked: found, budget: new SearchBudget(budget ?? { calls: USUAL_CALLS }, onCall) } as const;
}

async function foundByRules(
  { held, parts }: GraphSearchWork,
  tenant: string,
  datasetId: string,
  { kind, question, limit, level, between }: BoundedQuery,
  signal: AbortSignal,
): Promise<FoundInGraphs | undefined> {
  const asks = await asksOf(kind, { question, limit, level, between }, async () => {
    const found = await findPassages(parts, tenant, { question, datasetIds: [datasetId], limit: SEEDS }, signal);
    return found.map(({ id, similarity }) => ({ chunkId: id, score: similarity }));
  });
  let own: FoundInGraphs | undefined;
  for (const ask of asks) {
    const answer = await held.ask(tenant, datasetId, ask);
    if (answer !== undefined)
      own = joined(kind, [...(own === undefined ? [] : [own]), foundOf(kind, answer, datasetId)]);
  }
  return own;
}

async function foundByModel(
  { held, parts }: GraphSearchWork,
  tenant: string,
  datasetId: string,
  {
    kind,
    question,
    limit,
    level,
    asked: model,
    budget,
  }: Omit<BoundedQuery, 'budget'> & NonNullable<ReturnType<typeof askingOf>>,
  signal: AbortSignal,
): Promise<FoundInGraphs | undefined> {
  const { searchByModel } = await import('../by-model/search-by-model.js');
  const found$ = searchByModel({
    ...{ kind, question, limit, level, model, budget },
    ask: (ask) => held.ask(tenant, datasetId, ask),
    texts: async (ids, own) => {
      const chunks = await availableChunks(parts, tenant, ids, own);
      return ids.flatMap((id) => chunks.get(id)?.chunk.text ?? []);
    },
  });
  const found = await firstValue(found$, signal);
  if (found === undefined) return undefined;
  const { questions, isDegraded } = found;
  const own = foundOf(kind, found, datasetId);
  return { ...own, findings: { ...own.findings, questions, isDegraded } };
}

/** The questions to one graph that a search is made of. */
async function asksOf(
  kind: GraphQuery['kind'],
  { question, limit, level, between }: Pick<GraphQuery, 'question' | 'level' | 'between'> & { readonly limit: number },
  byWords: () => Promise<readonly { readonly chunkId: string; readonly score: number }[]>,
): Promise<readonly GraphAsk[]> {
  switch (kind) {
    case 'local':
      return [{ kind, question, limit }];
    case 'global':
      return [{ kind, question, level, limit }];
    case 'drift':
      return [
        { kind: 'global', question, level, limit },
        { kind: 'local', question, limit },
      ];
    case 'path':
      return [{ kind, question, between }];
    case 'rank':
      return [{ kind, question, found: await byWords(), limit }];
  }
}

const NOTHING_SPENT = { calls: 0, tokens: 0 };

type Answer = GraphAnswers['local' | 'rank' | 'path' | 'global'];

function foundOf(kind: GraphQuery['kind'], answer: GraphAnswers[GraphAsk['kind']], datasetId: string): FoundInGraphs {
  const given = answer as Partial<GraphAnswers['path'] & GraphAnswers['global']> & Answer;
  const { entities, paths = [], points = [], read, of, isStale = false } = given;
  const passages = 'passages' in answer ? answer.passages : paths.flatMap(passagesOfPath);
  const findings = {
    kind,
    entities: entities.map(({ id, name, type, description }: ToldEntity) => ({
      id,
      name,
      type,
      description,
      datasetId,
    })),
    paths: paths.map(({ steps }) => steps),
    points,
    read: { done: read ?? passages.length, of: of ?? passages.length },
    isStale,
    ...{ questions: [], isDegraded: false, spent: NOTHING_SPENT },
  };
  return { passages, findings };
}

/** Each step of a way by the passage that shows it; those of better ways first. */
function passagesOfPath({ steps, chunks }: GraphAnswers['path']['paths'][number], rank: number): FoundPassageOfGraph[] {
  const entities = [...new Set(steps.flatMap(({ from, to }) => [from, to]))];
  return chunks.flatMap((chunkId) =>
    chunkId === undefined ? [] : [{ chunkId, score: 1 / (1 + rank), why: { entities, steps } }],
  );
}

function joined(kind: GraphQuery['kind'], parts: readonly FoundInGraphs[]): FoundInGraphs {
  const [first, ...others] = parts as readonly [FoundInGraphs, ...FoundInGraphs[]];
  if (others.length === 0) return first;
  const all = parts.map(({ findings }) => findings);
  const sum = (of: (one: (typeof all)[number]) => number): number => all.reduce((total, one) => total + of(one), 0);
  const entities = new Map(all.flatMap((one) => one.entities).map((one) => [`${one.datasetId} ${one.id}`, one]));
  const findings = {
    kind,
    entities: [...entities.values()],
    paths: all.flatMap(({ paths }) => paths),
    points: all.flatMap(({ points }) => points).sort((a, b) => b.rating - a.rating),
    read: { done: sum(({ read }) => read.done), of: sum(({ read }) => read.of) },
    isStale: all.some(({ isStale }) => isStale),
    questions: all.flatMap(({ questions }) => questions),
    isDegraded: all.some(({ isDegraded }) => isDegraded),
    spent: NOTHING_SPENT,
  };
  return { passages: parts.flatMap(({ passages }) => passages).sort((a, b) => b.score - a.score), findings };
}
