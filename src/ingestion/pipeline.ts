/** The built-in pipeline of documents: a chain of steps, whose results are stored. */
import { chain } from '../compose/chain.js';
import type { Step, StepActivation } from '../compose/step.js';
import { step } from '../compose/steps.js';
import { EngineError } from '../errors.js';
import { readingOptionsOf, wantsLayout } from '../knowledge/base/reading-options.js';
import { enrichChunks } from './enrich-chunks.js';
import { embedDocument, indexDocument } from './index-document.js';
import * as reading from './read-document.js';
import { storeChunks } from './store-chunks.js';
import { IngestionWork, type StepPlace } from './work.js';

/** Share of the whole at which each step ends. */
const ENDS = {
  load: 0.01,
  detect: 0.02,
  parse: 0.3,
  clean: 0.35,
  chunk: 0.5,
  enrich: 0.6,
  embed: 0.85,
  index: 1,
} as const;

type StepName = keyof typeof ENDS;

/** Names of the steps, in their order. */
export const INGESTION_STEPS = Object.keys(ENDS) as readonly StepName[];

/** What steps pass on: facts, never texts, which lie in the store. */
interface Facts extends reading.FoundText {
  readonly documentId: string;
  readonly detected: reading.Detected;
}

/** How a document ended. */
export interface IngestionResult {
  readonly documentId: string;
  readonly chunks: number;
}

/**
 * `load → detect → parse → clean → chunk → enrich → embed → index` as a plan of the engine. Its services are an {@link IngestionWork}.
 *
 * What a step has finished is stored with the attempt, and is not done again by a process that goes on with it; every step can be done twice
 * without harm. Chunks whose text did not change keep ids, vectors and what users set of them; the former ones are found until the new ones are.
 */
export const ingestionPipeline: Step<{ readonly documentId: string }, IngestionResult> = chain(
  step('load', load),
  step('detect', detect),
  step('parse', parse),
  step('clean', clean),
  step('chunk', chunk),
  step('enrich', enrich),
  step('embed', embed),
  step('index', index),
);

async function load({ documentId }: { readonly documentId: string }, at: StepActivation): Promise<Facts> {
  const { work, plan } = workOf(at);
  const found = await reading.findText(work, placeOf('load'), plan);
  return { documentId, ...found, detected: { kind: 'unknown', form: 'text' } };
}

async function detect(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, plan } = workOf(at);
  return facts.isRead ? facts : { ...facts, detected: await reading.detect(work, placeOf('detect'), plan) };
}

async function parse(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, plan } = workOf(at);
  const place = placeOf('parse');
  if (!facts.isRead) await reading.parse(work, place, facts.detected, { plan, signal: at.signal });
  else if (facts.textId !== '') await work.tell(place, 'the same bytes were read before');
  return facts;
}

async function clean(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work, plan } = workOf(at);
  const { textId, isRead, detected } = facts;
  if (!isRead)
    await reading.clean(work, placeOf('clean'), { textId, form: detected.form }, { plan, signal: at.signal });
  return facts;
}

async function chunk(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work } = workOf(at);
  const { chunkMethod: method, parserConfig: settings } = work.options.document;
  await storeChunks(work, placeOf('chunk'), { textId: facts.textId, config: { method, settings } }, at.signal);
  return facts;
}

async function enrich(facts: Facts, at: StepActivation): Promise<Facts> {
  const { work } = workOf(at);
  const message = ({ chunks, problem }: { readonly chunks: number; readonly problem: string }) =>
    [chunks === 0 ? '' : `enriched ${chunks} chunks`, problem].filter((one) => one !== '').join('; ');
  await work.once(placeOf('enrich'), message, () => enrichChunks(work, placeOf('enrich'), at.signal));
  return facts;
}

async function embed(facts: Facts, at: StepActivation): Promise<Facts> {
  await embedDocument(workOf(at).work, placeOf('embed'), at.signal);
  return facts;
}

async function index({ documentId }: Facts, at: StepActivation): Promise<IngestionResult> {
  return { documentId, chunks: await indexDocument(workOf(at).work, placeOf('index'), at.signal) };
}

/** What steps use of their activation. */
function workOf({ services: work }: StepActivation) {
  if (!(work instanceof IngestionWork)) {
    throw new EngineError('INTERNAL', 'The services of the pipeline of documents must be an IngestionWork.');
  }
  const { parserConfig } = work.options.document;
  const plan: reading.ReadingPlan = { part: readingOptionsOf(parserConfig), hasLayout: wantsLayout(parserConfig) };
  return { work, plan };
}

function placeOf(name: StepName): StepPlace {
  const before = INGESTION_STEPS[INGESTION_STEPS.indexOf(name) - 1];
  return { name, from: before === undefined ? 0 : ENDS[before], to: ENDS[name] };
}
