/** How good a ranked list is, and whether one way of ranking is better than another. */

/** Names of the measures, in the order in which they are shown. */
export const MEASURES = [
  'ndcg@10',
  'map',
  'mrr@10',
  'recall@5',
  'recall@10',
  'recall@100',
  'hit@1',
  'perfect@5',
  'perfect@8',
] as const;

/** One of {@link MEASURES}. */
export type Measure = (typeof MEASURES)[number];

/** A value from 0 to 1 for each measure. */
export type Measures = Readonly<Record<Measure, number>>;

/** Relevance of documents by id; what is absent or not above 0 is not relevant. */
export type Judgements = ReadonlyMap<string, number>;

/**
 * The measures of one ranked list of ids, best first; all 0 where nothing is relevant.
 *
 * nDCG has the relevance as gain and log2(rank + 1) as discount, as `trec_eval` does; MAP divides by all relevant documents; `perfect@n` is 1 when all relevant
 * documents are among the first n.
 */
export function measuresOf(ranked: readonly string[], judged: Judgements): Measures {
  const gains = ranked.map((id) => Math.max(0, judged.get(id) ?? 0));
  const ideal = [...judged.values()].filter((gain) => gain > 0).sort((left, right) => right - left);
  const relevant = ideal.length;
  const share = (part: number, all: number): number => (all === 0 ? 0 : part / all);
  const foundIn = (most: number): number => gains.slice(0, most).filter((gain) => gain > 0).length;
  const first = gains.findIndex((gain) => gain > 0);
  const perfect = (most: number): number => (relevant > 0 && foundIn(most) === relevant ? 1 : 0);
  return {
    'ndcg@10': share(discounted(gains, 10), discounted(ideal, 10)),
    map: share(precisionSum(gains), relevant),
    'mrr@10': first >= 0 && first < 10 ? 1 / (first + 1) : 0,
    'recall@5': share(foundIn(5), relevant),
    'recall@10': share(foundIn(10), relevant),
    'recall@100': share(foundIn(100), relevant),
    'hit@1': first === 0 ? 1 : 0,
    'perfect@5': perfect(5),
    'perfect@8': perfect(8),
  };
}

function discounted(gains: readonly number[], most: number): number {
  return gains.slice(0, most).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
}

function precisionSum(gains: readonly number[]): number {
  let found = 0;
  let sum = 0;
  for (const [at, gain] of gains.entries()) {
    if (gain <= 0) continue;
    found += 1;
    sum += found / (at + 1);
  }
  return sum;
}

/** The mean of each measure; 0 without any. */
export function meanMeasures(all: readonly Measures[]): Measures {
  const means = MEASURES.map((name) => [name, mean(all.map((one) => one[name]))]);
  return Object.fromEntries(means) as Measures;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mean difference of two ways of ranking, and between which values it is with 95 % certainty. */
export interface Difference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Samples that are drawn. */
const SAMPLES = 10_000;

/**
 * A paired bootstrap: questions are drawn with replacement 10,000 times, and the middle 95 % of the mean differences are given. The same values
 * and the same seed give the same result.
 *
 * Source: Sakai, "Evaluating Evaluation Metrics based on the Bootstrap", 2006.
 */
export function pairedBootstrap(ours: readonly number[], theirs: readonly number[], seed = 1): Difference {
  const differences = ours.map((value, at) => value - (theirs[at] ?? 0));
  const size = differences.length;
  if (size === 0) return { mean: 0, low: 0, high: 0 };
  const random = randomOf(seed);
  const means = new Float64Array(SAMPLES);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    let sum = 0;
    for (let drawn = 0; drawn < size; drawn += 1) sum += differences[Math.floor(random() * size)] as number;
    means[sample] = sum / size;
  }
  means.sort();
  return {
    mean: mean(differences),
    low: means[Math.floor(SAMPLES * 0.025)] as number,
    high: means[Math.floor(SAMPLES * 0.975)] as number,
  };
}

/** Numbers from 0 to 1 (mulberry32 by Tommy Ettinger, public domain). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
