/** One score of several for each candidate of a search. */

/** The names of what is fused. */
export type FeatureName = 'bm25' | 'ngram' | 'rm3' | 'proximity' | 'title' | 'titleInQuestion' | 'vector';

/** Raw values of each feature, one for each candidate; a feature that is absent does not count. */
export type FeatureTable = Readonly<Partial<Record<FeatureName, readonly number[]>>>;

/** How features become one score. */
export type FusionKind = 'weighted' | 'reciprocalRank' | 'features';

/** Weights of the features. */
export type FeatureWeights = Readonly<Record<FeatureName, number>>;

/** Measured on seven sets, see docs/search.md; the vectors of a model are added to the rest, whose weights sum up to 1. */
export const DEFAULT_WEIGHTS: FeatureWeights = {
  bm25: 0.4,
  ngram: 0.15,
  rm3: 0.15,
  proximity: 0.15,
  title: 0.1,
  titleInQuestion: 0.05,
  vector: 0.6,
};

/** Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", 2009. */
const RRF_K = 60;

/** Moves values to 0 to 1; all 0 where they are all the same. */
export function normalised(values: readonly number[]): number[] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  // Of one candidate, or of equals, each is the best there is.
  return values.map((value) => (most > least ? (value - least) / (most - least) : most > 0 ? 1 : 0));
}

/** The sum of the weighted features, each normalised within the candidates; 0 to 1. */
export function weightedFusion(table: FeatureTable, weights: FeatureWeights): number[] {
  const used = Object.entries(table) as [FeatureName, readonly number[]][];
  const total = used.reduce((sum, [name]) => sum + weights[name], 0);
  const sums = new Array<number>(sizeOf(table)).fill(0);
  if (total === 0) return sums;
  for (const [name, values] of used) {
    for (const [at, value] of normalised(values).entries())
      sums[at] = (sums[at] as number) + (weights[name] * value) / total;
  }
  return sums;
}

/** Features that find passages by themselves, and so have a list of their own. */
const LISTS: readonly FeatureName[] = ['bm25', 'ngram', 'vector'];

/** The sum of 1 / (60 + rank) over the lists of BM25, of the letters and of the vectors; divided by what the first rank everywhere would have. */
export function reciprocalRankFusion(table: FeatureTable): number[] {
  const lists = LISTS.flatMap((name) => (table[name] === undefined ? [] : [table[name]]));
  const sums = new Array<number>(sizeOf(table)).fill(0);
  for (const values of lists) {
    const order = [...values.keys()].sort(
      (left, right) => (values[right] as number) - (values[left] as number) || left - right,
    );
    for (const [rank, at] of order.entries()) {
      if ((values[at] as number) > 0) sums[at] = (sums[at] as number) + 1 / (RRF_K + rank + 1);
    }
  }
  return sums.map((sum) => (lists.length === 0 ? 0 : (sum * (RRF_K + 1)) / lists.length));
}

/** What the five features of the chat's design read besides. */
export interface CoverageTable {
  /** Share of the question's terms that each candidate holds. */
  readonly held: readonly number[];
  /** Terms that question and candidate share, divided by all terms of both. */
  readonly overlap: readonly number[];
}

/** Cosine 35 %, share of the question 25 %, title 20 %, BM25 15 %, overlap 5 %. */
export function featureFusion(table: FeatureTable, { held, overlap }: CoverageTable): number[] {
  const cosines = table.vector ?? table.ngram ?? [];
  const words = normalised(table.bm25 ?? []);
  return held.map(
    (share, at) =>
      0.35 * Math.min(1, Math.max(0, cosines[at] ?? 0)) +
      0.25 * share +
      0.2 * (table.title?.[at] ?? 0) +
      0.15 * (words[at] ?? 0) +
      0.05 * (overlap[at] ?? 0),
  );
}

function sizeOf(table: FeatureTable): number {
  return Object.values(table)[0]?.length ?? 0;
}
