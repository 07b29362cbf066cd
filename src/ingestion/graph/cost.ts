/** What a build will take, before anything starts. */
import { from, mergeMap, toArray } from 'rxjs';
import type { BaseParts } from '../../knowledge/base/parts.js';
import { availableChunks } from '../../knowledge/base/retrieval.js';
import type { BuildRequest } from '../../knowledge/graph/build/build-options.js';
import type { BuildCost } from '../../knowledge/graph/build/graph-builds.js';
import { MAX_DESCRIBED } from '../../knowledge/graph/by-model/written-description.js';
import { askTwice, type CallSpent, type GraphCall, promptTokens } from '../../knowledge/graph/calls/ask-twice.js';
import { communityReportCall, EXPECTED_REPORT } from '../../knowledge/graph/calls/community-report.js';
import { PAIRS_A_CALL, sameNamesCall } from '../../knowledge/graph/calls/same-names.js';
import { EXPECTED_DESCRIPTION, summariseCall } from '../../knowledge/graph/calls/summarise.js';
import { type Contribution, ENTITY_TYPES } from '../../knowledge/graph/facts.js';
import type { GraphAnswers } from '../../knowledge/graph/graph-answers.js';
import type { KnowledgeGraphs } from '../../knowledge/graph/knowledge-graphs.js';
import { MAX_WRITTEN } from '../../knowledge/graph/reports/written-report.js';
import type { VersionedRules } from '../../knowledge/graph/rules/own-rules.js';
import { seededRandom } from '../../knowledge/graph/seeded-random.js';
import type { ChatChoice } from '../../models/router.js';
import { firstValue } from '../../operators/from-abortable.js';
import type { TokenPrice } from './build-work.js';
import { extractCall, questionAbout } from './extract-by-model.js';
import { graphModelOf } from './graph-model-of.js';
import { ofGraph } from './of-graph.js';
import { batchesOf, undecidedPairs } from './tell-names.js';
import { readMaterial } from './write-reports.js';

/** What is estimated. */
export interface CostQuestion {
  readonly tenant: string;
  readonly datasetId: string;
  readonly layers: BuildRequest['layers'];
  /** Whether reports are written. */
  readonly reports: boolean;
  /** The graphs, whose communities are counted. @default they are estimated by the chunks */
  readonly graphs?: Pick<KnowledgeGraphs, 'ask'> | undefined;
  readonly model: ChatChoice | undefined;
  readonly price: TokenPrice | undefined;
  /** Whether the model reads some chunks, to measure its answers. */
  readonly sample: boolean;
}

/** Chunks of one look, whose prompts are counted one by one. */
const LOOKS = 500;
/** Milliseconds that rules take for a chunk, and a model for one; calls that run at once. */
const RULES_MS = 1;
const CALL_MS = 3_000;
const CONCURRENT_CALLS = 4;
/** Chunks that are read to measure answers. */
const SAMPLED = 10;

type ExtractCall = GraphCall<Contribution>;

/**
 * Counts the prompts of the chunks that a model has not read, and of what it is asked behind them; rules take time alone. Answers are as long as they usually are for
 * as many names as rules find, or in the measure of the chunks that are read for it, whose answers are not kept.
 */
export async function estimateCost(
  parts: BaseParts,
  { read: rules, version }: VersionedRules,
  question: CostQuestion,
  signal: AbortSignal,
): Promise<BuildCost> {
  const { tenant, datasetId, layers, model, price } = question;
  const asks = layers.includes('model') && model !== undefined;
  const wanted = asks ? { layer: 'model', version: `1 ${model.name}` } : { layer: layers[0] ?? 'rules', version };
  let [chunks, prompt, answers] = [0, 0, 0];
  const sample = new Sample<ExtractCall>(question.sample && asks ? SAMPLED : 0);
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const looked = await parts.store.chunksWithoutContribution(tenant, datasetId, wanted, after, LOOKS);
    chunks += looked.chunks.length;
    for (const chunk of asks ? looked.chunks : []) {
      const call = extractCall(questionAbout(chunk.text, rules, ENTITY_TYPES));
      prompt += promptTokens(call);
      answers += call.expected;
      sample.add(call);
    }
    after = looked.next;
  } while (after !== undefined);
  const reports =
    question.reports && model !== undefined ? await reportsOf(parts, question, chunks, signal) : NO_REPORTS;
  const names = asks ? await namesOf(parts, question, chunks) : NO_NAMES;
  const described = asks ? await descriptionsOf(question, chunks) : NO_REPORTS;
  prompt += reports.prompt + names.prompt + described.prompt;
  const calls = (asks ? chunks : 0) + reports.count + names.calls + described.count;
  const sampled = asks && sample.values.length > 0 ? await measured(model, sample.values, signal) : undefined;
  const completion =
    Math.round(answers * (sampled?.share ?? 1)) +
    reports.count * EXPECTED_REPORT +
    names.completion +
    described.count * EXPECTED_DESCRIPTION;
  const known = price && (prompt * price.prompt + completion * price.completion) / 1e6;
  return {
    ...{ chunks, reports: reports.count, calls, prompt_tokens: prompt, completion_tokens: completion },
    money: asks || question.reports ? (known ?? null) : 0,
    ms: chunks * RULES_MS * layers.length + (calls * CALL_MS) / CONCURRENT_CALLS,
    model: model?.name ?? null,
    sampled: sampled?.told ?? null,
  };
}

/** Some of many values, each as likely as any other; the same of the same ones. Source: Vitter, "Random sampling with a reservoir", 1985, algorithm R. */
class Sample<T> {
  readonly values: T[] = [];
  readonly #size: number;
  readonly #random = seededRandom(1);
  #seen = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(value: T): void {
    this.#seen += 1;
    const at = this.values.length < this.#size ? this.values.length : Math.floor(this.#random() * this.#seen);
    if (at < this.#size) this.values[at] = value;
  }
}

/** Asks a model about some chunks; tells how long its answers are for each token that was expected, and what that took. */
async function measured(model: ChatChoice, calls: readonly ExtractCall[], signal: AbortSignal) {
  const spent = { calls: 0, prompt_tokens: 0, completion_tokens: 0 };
  const budget = {
    take: () => true,
    settle(_expected: CallSpent, { prompt, completion }: CallSpent): void {
      spent.calls += 1;
      spent.prompt_tokens += prompt;
      spent.completion_tokens += completion;
    },
  };
  const asked = graphModelOf(model);
  const all$ = from(calls).pipe(
    mergeMap((call) => askTwice(asked, call, budget), CONCURRENT_CALLS),
    toArray(),
  );
  await firstValue(all$, signal);
  const expected = calls.reduce((sum, call) => sum + call.expected, 0);
  return { share: spent.completion_tokens / expected, told: { chunks: calls.length, ...spent } };
}

const NO_NAMES = { calls: 0, prompt: 0, completion: 0 };
/** Chunks for each pair of names that is perhaps one, of most graphs, and tokens of the prompt of a usual pair. */
const CHUNKS_A_PAIR = 10;
const USUAL_PAIR = 120;

/** The pairs that a model was not asked about, and those that new chunks will bring. */
async function namesOf({ store }: BaseParts, { tenant, datasetId, graphs }: CostQuestion, newChunks: number) {
  const pairs = graphs === undefined ? [] : await undecidedPairs(store, graphs, tenant, datasetId);
  const calls = batchesOf(pairs).map(sameNamesCall);
  const more = sameNamesCall([]);
  const expected = Math.round(newChunks / CHUNKS_A_PAIR);
  const further = Math.ceil(expected / PAIRS_A_CALL);
  return {
    calls: calls.length + further,
    prompt: calls.reduce((sum, call) => sum + promptTokens(call), further * promptTokens(more) + expected * USUAL_PAIR),
    completion: calls.reduce((sum, call) => sum + call.expected, further * more.expected + 2 * expected),
  };
}

/** Chunks for each entity with many descriptions, of most graphs, and tokens of the prompt of a usual one. */
const CHUNKS_A_DESCRIPTION = 50;
const USUAL_DESCRIPTIONS = 500;

/** The descriptions that are missing or stale, and those that new chunks will need. */
async function descriptionsOf({ tenant, datasetId, graphs }: CostQuestion, newChunks: number) {
  const material =
    graphs === undefined
      ? []
      : await ofGraph<GraphAnswers['undescribed']['material']>([], async () => {
          const ask = { kind: 'undescribed', limit: MAX_DESCRIBED } as const;
          return (await graphs.ask(tenant, datasetId, ask)).material;
        });
  const further = Math.round(newChunks / CHUNKS_A_DESCRIPTION);
  return {
    count: material.length + further,
    prompt: material.reduce((sum, one) => sum + promptTokens(summariseCall(one)), further * USUAL_DESCRIPTIONS),
  };
}

const NO_REPORTS = { count: 0, prompt: 0 };
/** Chunks for each community of most graphs, and tokens of the prompt of a usual report: for what is not there yet. */
const CHUNKS_A_COMMUNITY = 8;
const USUAL_PROMPT = 1_800;
/** Communities whose prompts are counted one by one. */
const COUNTED = 200;

/** The reports that are missing or stale, and those that new chunks will need. */
async function reportsOf(
  parts: BaseParts,
  { tenant, datasetId, graphs }: CostQuestion,
  newChunks: number,
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly prompt: number }> {
  const expected = Math.ceil(newChunks / CHUNKS_A_COMMUNITY);
  const { material, of } = await materialOf(graphs, tenant, datasetId);
  let prompt = 0;
  for (const one of material) {
    const chunks = await availableChunks(parts, tenant, one.chunks, signal);
    prompt += promptTokens(
      communityReportCall(
        readMaterial(
          one,
          [...chunks.values()].map(({ chunk }) => chunk),
        ),
      ),
    );
  }
  const usual = material.length === 0 ? USUAL_PROMPT : prompt / material.length;
  const count = Math.min(MAX_WRITTEN, Math.max(of, expected));
  return { count, prompt: Math.round(prompt + Math.max(0, count - material.length) * usual) };
}

/** Of a dataset without a graph nothing. */
async function materialOf(graphs: CostQuestion['graphs'], tenant: string, datasetId: string) {
  const none = { material: [], of: 0 };
  if (graphs === undefined) return none;
  return ofGraph<Pick<GraphAnswers['material'], 'material' | 'of'>>(none, () =>
    graphs.ask(tenant, datasetId, { kind: 'material', limit: COUNTED }),
  );
}
