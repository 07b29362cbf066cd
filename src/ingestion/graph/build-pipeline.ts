/** The build of a graph: a chain of layers as a plan of the engine. */
import { defer, EMPTY, from, mergeMap, type Observable, toArray } from 'rxjs';
import { chain } from '../../compose/chain.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { EngineError } from '../../errors.js';
import type { BuildLayer } from '../../knowledge/graph/build/build-options.js';
import { askTwice } from '../../knowledge/graph/calls/ask-twice.js';
import type { GraphModel } from '../../knowledge/graph/calls/graph-model.js';
import { linksOf } from '../../knowledge/graph/contribute.js';
import type { Contribution } from '../../knowledge/graph/facts.js';
import type { ChatChoice } from '../../models/router.js';
import { firstValue } from '../../operators/from-abortable.js';
import type { ChunkRecord } from '../../records/knowledge.js';
import { BuildBudget } from './build-budget.js';
import { BuildWork } from './build-work.js';
import { describeEntities } from './describe-entities.js';
import { extractCall, questionAbout } from './extract-by-model.js';
import { graphModelOf } from './graph-model-of.js';
import { tellNames } from './tell-names.js';
import { writeReports } from './write-reports.js';

/** Chunks that rules read between two turns of the event loop, and that are stored at once. */
const CHUNKS_A_STEP = 16;
/** Chunks that are looked at in one statement. */
const LOOKS = 100;
/** Chunks that a model reads at once. */
const CONCURRENT_CALLS = 4;

/** What layers pass on. */
interface Facts {
  readonly datasetId: string;
}

/**
 * `links → rules → model → names → descriptions → reports`, those of them that the build asks for. Its services are a {@link BuildWork}.
 *
 * What a chunk contributes, what a model decides about names, and what it writes of an entity or a community, is stored before the next one is read, so a process that goes
 * on with a build asks no model twice about any of them.
 */
export const buildPipeline: Step<Facts, Facts> = chain(
  step('links', layerByRules('links')),
  step('rules', layerByRules('rules')),
  step('model', layerByModel),
  step('names', async (facts: Facts, at: StepActivation): Promise<Facts> => {
    await tellNames(workOf(at), at.signal);
    return facts;
  }),
  step('descriptions', async (facts: Facts, at: StepActivation): Promise<Facts> => {
    await describeEntities(workOf(at), at.signal);
    return facts;
  }),
  step('reports', async (facts: Facts, at: StepActivation): Promise<Facts> => {
    await writeReports(workOf(at), at.signal);
    return facts;
  }),
);

function layerByRules(layer: 'links' | 'rules') {
  return async (facts: Facts, at: StepActivation): Promise<Facts> => {
    const work = workOf(at);
    if (!work.request.layers.includes(layer)) return facts;
    const { rules, rulesVersion } = work.options;
    const titles = new Map<string, string>();
    await begin(work, layer);
    for await (const chunks of missingChunks(work, layer, rulesVersion, at.signal)) {
      if (layer === 'links') await addTitles(work, chunks, titles);
      const read = ({ text, documentId, index }: ChunkRecord): Contribution =>
        layer === 'rules'
          ? rules(text)
          : linksOf({ text, title: titles.get(documentId) ?? '', isFirst: index === 0 }, rules);
      await work.put(
        layer,
        rulesVersion,
        chunks.map((chunk) => ({ chunk, contribution: read(chunk) })),
      );
    }
    return facts;
  };
}

/** Adds the titles of the documents of chunks: what a document tells as its title, else its name. */
async function addTitles(work: BuildWork, chunks: readonly ChunkRecord[], titles: Map<string, string>): Promise<void> {
  const { claimed, parts } = work.options;
  for (const { documentId } of chunks) {
    if (titles.has(documentId)) continue;
    const document = await parts.store.findDocument(claimed.tenant, documentId);
    const { title } = document?.metadata ?? {};
    titles.set(documentId, typeof title === 'string' && title !== '' ? title : (document?.name ?? ''));
  }
}

/** Counts what a layer has to read. */
async function begin(work: BuildWork, layer: BuildLayer): Promise<void> {
  const { parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  const all = (await parts.store.findCountedDataset(tenant, datasetId))?.counts.chunks ?? 0;
  const count = Math.min(all, work.chosen?.size ?? all);
  await work.tell({ of: { ...work.progress.of, [layer]: count }, message: `reads chunks: ${layer}` });
}

/** Chunks that a layer has not read, some at a time. */
async function* missingChunks(
  work: BuildWork,
  layer: BuildLayer,
  version: string,
  signal: AbortSignal,
): AsyncGenerator<readonly ChunkRecord[]> {
  const { parts, claimed } = work.options;
  const { tenant, datasetId } = claimed;
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const looked = await parts.store.chunksWithoutContribution(tenant, datasetId, { layer, version }, after, LOOKS);
    const chunks = looked.chunks.filter(({ id }) => work.chosen?.has(id) !== false);
    for (let at = 0; at < chunks.length; at += CHUNKS_A_STEP) yield chunks.slice(at, at + CHUNKS_A_STEP);
    after = looked.next;
  } while (after !== undefined);
}

async function layerByModel(facts: Facts, at: StepActivation): Promise<Facts> {
  const work = workOf(at);
  if (!work.request.layers.includes('model')) return facts;
  const { model } = work;
  if (model === undefined) {
    work.miss('model: no chat model is configured');
    return facts;
  }
  const version = modelVersion(model);
  await begin(work, 'model');
  const budget = new BuildBudget(work, model.name, 'model: the budget was reached before all chunks were read');
  const asked = graphModelOf(model);
  for await (const chunks of missingChunks(work, 'model', version, at.signal)) {
    const read$ = from(chunks).pipe(
      mergeMap((chunk) => readByModel(work, budget, { chunk, model: asked, version }), CONCURRENT_CALLS),
      toArray(),
    );
    await firstValue(read$, at.signal);
    if (budget.isReached) break;
  }
  return facts;
}

/** Contributions of another model, or of other types, are made anew. */
function modelVersion({ name }: ChatChoice): string {
  return `1 ${name}`.slice(0, 200);
}

function readByModel(
  work: BuildWork,
  budget: BuildBudget,
  { chunk, model, version }: { readonly chunk: ChunkRecord; readonly model: GraphModel; readonly version: string },
): Observable<unknown> {
  return defer(() => {
    const question = questionAbout(chunk.text, work.options.rules, work.request.entity_types);
    return askTwice(model, extractCall(question), budget).pipe(
      mergeMap((end) => {
        if (end.state === 'no-room') return EMPTY;
        if (end.state === 'unusable') work.miss('model: some answers could not be used');
        const contribution = end.state === 'answered' ? end.value : NOTHING;
        return from(work.put('model', version, [{ chunk, contribution }]));
      }),
    );
  });
}

const NOTHING: Contribution = { mentions: [], relations: [] };

function workOf({ services: work }: StepActivation): BuildWork {
  if (work instanceof BuildWork) return work;
  throw new EngineError('INTERNAL', 'The services of a build must be a BuildWork.');
}
