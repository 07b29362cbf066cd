/** One search: candidates by words, scored by everything that is known of them, and put in order. */
import type { TextWords } from '../words/words.js';
import { bestPassages, rarity, scorePassages } from './bm25.js';
import { ngramsOf, placesOf, termCountOf, termHash } from './body.js';
import { coverageOf } from './coverage.js';
import { EXPANSION_WEIGHT, type ExpandedQuestion } from './expand-terms.js';
import { proximityOf, titleShares, widenedQuestion } from './features.js';
import {
  type CoverageTable,
  type FeatureTable,
  featureFusion,
  normalised,
  reciprocalRankFusion,
  weightedFusion,
} from './fusion.js';
import type { IndexView, TermMatches } from './index-view.js';
import type { LinkGraph } from './link-graph.js';
import { cosine, filledPlaces, questionVector } from './ngrams.js';
import type { HitParts, SearchHit } from './passage.js';
import type { SearchSettings } from './search-settings.js';

/** Cosines of the vectors of a model: of some passages, and the nearest of all where these are compared. */
export interface DenseSearch {
  /** The nearest passages, best first; none where there are too many to compare. */
  readonly nearest: readonly number[];
  /** How near passages are that have nothing to do with the question, 0 to 1. */
  readonly usual: number;
  /** How near passages are, -1 to 1; absent for those without a vector. */
  cosines(passages: readonly number[]): Promise<ReadonlyMap<number, number>>;
}

/** What one search is made of. */
export interface SearchWork {
  readonly view: IndexView;
  readonly question: TextWords;
  readonly expanded: ExpandedQuestion;
  readonly settings: SearchSettings;
  readonly links: LinkGraph;
  readonly accepts: ((passage: number) => boolean) | undefined;
  /** Hits at most. */
  readonly limit: number;
  readonly dense?: DenseSearch | undefined;
}

/** Places of the fused list that links do not change. */
const FIXED_PLACES = 2;
/** What is left of a score where the question's words are in an example alone. */
const EXAMPLE_FACTOR = 0.5;
/** Best passages whose share of the question tells how well it can be answered at all. */
const COVERAGE_PASSAGES = 10;
/** Share of the passages with words of the question that is read for more words. */
const FEEDBACK_SHARE = 0.1;

interface Ranked {
  readonly passage: number;
  readonly score: number;
  /** Its place among the candidates, whose features it has. @default it has none */
  readonly row?: number;
  /** Features that are in no table. */
  readonly own?: Partial<HitParts>;
}

/** Normalised features of the candidates. */
type Columns = readonly (readonly [name: string, values: readonly number[]])[];

/** Carries out a search. Equal scores are in the order of ids, so the same passages always give the same hits, however they came into the index. */
export async function searchPassages(work: SearchWork): Promise<SearchHit[]> {
  const { view, settings, accepts, limit, dense } = work;
  const wanted = questionWeights(work);
  const matches = await view.matches(wanted.keys());
  const weights = withoutAbsent(work, wanted, matches);
  const words = scorePassages(view, matches, weights, settings.bm25);
  const most = dense === undefined ? settings.candidates : settings.denseCandidates;
  const found = bestPassages(view, words, Math.max(most, settings.rm3.passages / FEEDBACK_SHARE, limit), accepts);
  if (settings.fusion === 'none') return hitsOf(view, bm25Only(found, words), { limit, factor: 1, columns: [] });
  const widened = await widen(work, weights, found, words);
  const nearest = (dense?.nearest ?? []).filter((passage) => accepts === undefined || accepts(passage));
  const byWords = found.slice(0, most);
  const byFeedback = bestPassages(view, widened, settings.candidates, accepts);
  const candidates = [...new Set([...byWords, ...byFeedback, ...nearest])];
  const bodies = await view.bodies(candidates);
  const rarityOf = (term: string): number => rarityIn(view, matches, term);
  const table = await featureTable(work, { candidates, bodies, words, widened, weights, rarityOf });
  const scores = fuse(work, table, coverageTable(candidates, bodies, weights));
  if (settings.examplePenalty) penalise(view, candidates, bodies, weights, scores);
  const ranked = inOrder(view, candidates, scores);
  const best = ranked.slice(0, COVERAGE_PASSAGES).map(({ passage }) => bodies.get(passage) ?? EMPTY);
  const asked = { question: work.question, expansions: work.expanded.weights };
  const coverage = coverageOf(asked, best, (term) => matches.get(term)?.passages ?? 0, view.live);
  const linked = settings.linkGraph ? await withLinks(work, ranked) : ranked;
  const known = new Set(linked.map(({ passage }) => passage));
  const rest = bm25Only(
    found.filter((passage) => !known.has(passage)),
    words,
  ).map((one) => ({ ...one, score: 0 }));
  // Cosines are the same for all questions, so they are told as they are.
  const cosines = table.vector?.map((cosine) => Math.min(1, Math.max(0, cosine)));
  const columns = Object.entries(table).map(
    ([name, values]) => [name, name === 'vector' ? (cosines ?? []) : normalised(values)] as const,
  );
  const isOnly = (row: number): boolean => settings.weights.vector > 0 && table.bm25?.[row] === 0;
  const alike = cosines?.map((cosine, row) => (isOnly(row) ? beyond(cosine, dense?.usual ?? 0) : 0));
  return hitsOf(view, [...linked, ...rest], { limit, factor: coverage, columns, alike });
}

function questionWeights({ question, expanded }: SearchWork): Map<string, number> {
  const weights = new Map<string, number>();
  for (const term of question.terms) weights.set(term, (weights.get(term) ?? 0) + 1);
  for (const [term, weight] of expanded.weights) if (!weights.has(term)) weights.set(term, weight);
  return weights;
}

/** Without names in a language that no passage has them in: they would only make the question's own words count less. */
function withoutAbsent(
  { question }: SearchWork,
  weights: ReadonlyMap<string, number>,
  matches: ReadonlyMap<string, TermMatches>,
): Map<string, number> {
  const own = new Set(question.terms);
  return new Map([...weights].filter(([term]) => own.has(term) || (matches.get(term)?.passages ?? 0) > 0));
}

/** A term that no passage holds is as rare as a term can be. */
function rarityIn(view: IndexView, matches: ReadonlyMap<string, TermMatches>, term: string): number {
  return rarity(matches.get(term)?.passages ?? 0, view.live);
}

async function widen(
  { view, settings }: SearchWork,
  weights: ReadonlyMap<string, number>,
  found: readonly number[],
  words: Float64Array,
): Promise<Float64Array> {
  // In a small dataset the ten best are most of what there is, and say more about other things than about the question.
  const most = Math.ceil(found.length * FEEDBACK_SHARE);
  const best = found.slice(0, Math.min(settings.rm3.passages, most));
  const bodies = await view.bodies(best);
  const read = best.flatMap((passage) => {
    const body = bodies.get(passage);
    return body === undefined ? [] : [{ body, score: words[passage] as number }];
  });
  if (read.length === 0) return new Float64Array(view.size);
  const widened = widenedQuestion(weights, read, settings.rm3);
  return scorePassages(view, await view.matches(widened.keys()), widened, settings.bm25);
}

interface TableSource {
  readonly candidates: readonly number[];
  readonly bodies: ReadonlyMap<number, Uint8Array>;
  readonly words: Float64Array;
  readonly widened: Float64Array;
  readonly weights: ReadonlyMap<string, number>;
  readonly rarityOf: (term: string) => number;
}

const EMPTY = new Uint8Array(1_024 + 2);

async function featureTable(
  { view, question, expanded, dense }: SearchWork,
  source: TableSource,
): Promise<FeatureTable> {
  const { candidates, bodies, words, widened, weights, rarityOf } = source;
  const ofBody = (score: (body: Uint8Array) => number): number[] =>
    candidates.map((passage) => score(bodies.get(passage) ?? EMPTY));
  const rare = new Map([...weights].map(([term, weight]) => [term, weight * rarityOf(term)]));
  const titles = candidates.map((passage) => titleShares(view.head(passage), rare));
  const cosines = await dense?.cosines(candidates);
  const own = ofBody(proximityOf(question.terms, question.places, rarityOf));
  const other = ofBody(proximityOf(expanded.terms, expanded.places, rarityOf));
  return {
    bm25: candidates.map((passage) => words[passage] as number),
    rm3: candidates.map((passage) => widened[passage] as number),
    proximity: eitherOf(own, other),
    title: titles.map(({ title }) => title),
    titleInQuestion: titles.map(({ titleInQuestion }) => titleInQuestion),
    ...(question.language === 'zh' ? {} : { ngram: ofBody(ngramCosine(question, rarityOf)) }),
    ...(cosines === undefined ? {} : { vector: candidates.map((passage) => cosines.get(passage) ?? 0) }),
  };
}

/** Nearness in the words of the question, or less of it in those of its expansions; passages in different languages hold either. */
function eitherOf(own: readonly number[], other: readonly number[]): readonly number[] {
  if (!other.some((value) => value > 0)) return own;
  const [near, expanded] = [normalised(own), normalised(other)];
  return near.map((value, at) => Math.max(value, EXPANSION_WEIGHT * (expanded[at] as number)));
}

function ngramCosine(
  { forms, formTerms }: TextWords,
  rarityOf: (term: string) => number,
): (body: Uint8Array) => number {
  const vector = questionVector(forms.map((form, at) => ({ form, weight: rarityOf(formTerms[at] as string) })));
  const places = filledPlaces(vector);
  return (body) => cosine(vector, places, ngramsOf(body));
}

/** How much of the question each candidate holds; computed only where a fusion reads it. */
function coverageTable(
  candidates: readonly number[],
  bodies: ReadonlyMap<number, Uint8Array>,
  weights: ReadonlyMap<string, number>,
): () => CoverageTable {
  return () => {
    const wanted = new Set([...weights.keys()].map(termHash));
    const shared = candidates.map((passage) => placesOf(bodies.get(passage) ?? EMPTY, wanted).size);
    const sizes = candidates.map((passage) => termCountOf(bodies.get(passage) ?? EMPTY));
    return {
      held: shared.map((count) => (wanted.size === 0 ? 0 : count / wanted.size)),
      overlap: shared.map((count, at) => count / Math.max(1, wanted.size + (sizes[at] as number) - count)),
    };
  };
}

function fuse({ settings }: SearchWork, table: FeatureTable, coverage: () => CoverageTable): number[] {
  switch (settings.fusion) {
    case 'reciprocalRank':
      return reciprocalRankFusion(table);
    case 'features':
      return featureFusion(table, coverage());
    default:
      return weightedFusion(table, settings.weights);
  }
}

/** Lowers passages that hold words of the question inside of a marked example and nowhere else. */
function penalise(
  view: IndexView,
  candidates: readonly number[],
  bodies: ReadonlyMap<number, Uint8Array>,
  weights: ReadonlyMap<string, number>,
  scores: number[],
): void {
  const wanted = new Set([...weights.keys()].map(termHash));
  for (const [at, passage] of candidates.entries()) {
    const { example } = view.head(passage);
    if (example === undefined) continue;
    const [from, to] = example;
    const places = [...placesOf(bodies.get(passage) ?? EMPTY, wanted).values()].flat();
    if (places.length > 0 && places.every((place) => place >= from && place < to)) {
      scores[at] = (scores[at] as number) * EXAMPLE_FACTOR;
    }
  }
}

function inOrder(view: IndexView, candidates: readonly number[], scores: readonly number[]): Ranked[] {
  const ranked = candidates.map((passage, row): Ranked => ({ passage, score: scores[row] as number, row }));
  return ranked.sort((left, right) => right.score - left.score || (idOf(view, left) < idOf(view, right) ? -1 : 1));
}

const NO_PARTS: HitParts = { bm25: 0, ngram: 0, rm3: 0, proximity: 0, title: 0, titleInQuestion: 0 };

function idOf(view: IndexView, { passage }: Ranked): string {
  return view.head(passage).id;
}

/** Puts passages that the best link to behind the first two, by their own score and that of the link; once for each hop. */
async function withLinks(work: SearchWork, ranked: readonly Ranked[]): Promise<Ranked[]> {
  let best = [...ranked];
  for (let hop = 0; hop < work.settings.links.hops; hop += 1) best = await linkedOnce(work, ranked, best);
  return best;
}

/** The ranked passages with what the best of another order of them link to. */
async function linkedOnce(
  { view, question, links, accepts, settings }: SearchWork,
  ranked: readonly Ranked[],
  best: readonly Ranked[],
): Promise<Ranked[]> {
  const { weight, named } = settings.links;
  const found = await links.links(view, question.terms, best, accepts);
  const own = new Set(named > 0 ? links.named(view, question.terms, accepts) : []);
  const all = new Map(ranked.map((one) => [one.passage, one]));
  for (const passage of own) if (!found.has(passage)) found.set(passage, 0);
  const fixed = ranked.slice(0, FIXED_PLACES);
  const taken = new Set(fixed.map(({ passage }) => passage));
  for (const { passage } of fixed) all.delete(passage);
  for (const [passage, link] of found) {
    if (taken.has(passage)) continue;
    const known = all.get(passage) ?? { passage, score: 0 };
    const gained = weight * link + (own.has(passage) ? named : 0);
    all.set(passage, { ...known, score: known.score + gained, own: { link } });
  }
  const moved = [...all.values()].sort(
    (left, right) => right.score - left.score || (idOf(view, left) < idOf(view, right) ? -1 : 1),
  );
  return [...fixed, ...moved];
}

function bm25Only(found: readonly number[], words: Float64Array): Ranked[] {
  const best = words[found[0] ?? 0] || 1;
  return found.map((passage) => {
    const score = (words[passage] as number) / best;
    return { passage, score, own: { bm25: score } };
  });
}

/** What hits are made of besides. */
interface Shown {
  readonly limit: number;
  /** Share of the question that is held. */
  readonly factor: number;
  readonly columns: Columns;
  /** Of each candidate that the vectors alone found how far its cosine is beyond the usual, else 0; its words say nothing of how similar it is. @default 0 for all */
  readonly alike?: readonly number[] | undefined;
}

/** The rest of the way to 1 that a cosine has gone. */
function beyond(cosine: number, usual: number): number {
  return usual >= 1 ? 0 : Math.max(0, (cosine - usual) / (1 - usual));
}

/**
 * Hits with a similarity that never rises from one to the next: their scores times the share of the question that is held. One that vectors alone found is as
 * similar as its vector is beyond the usual, and what stands before it is no less.
 */
function hitsOf(
  view: IndexView,
  ranked: readonly Ranked[],
  { limit, factor, columns, alike = [] }: Shown,
): SearchHit[] {
  const shown = ranked.slice(0, limit);
  const similarities = new Array<number>(shown.length);
  let most = 1;
  for (const [at, { score, row = -1 }] of shown.entries()) {
    most = Math.min(most, Math.max(0, score * factor));
    similarities[at] = Math.max(most, alike[row] ?? 0);
  }
  let least = 0;
  for (let at = shown.length - 1; at >= 0; at -= 1) {
    least = Math.max(least, similarities[at] as number);
    similarities[at] = least;
  }
  return shown.map(({ passage, row, own }, at) => {
    const { id, documentId, title, metadata } = view.head(passage);
    const features =
      row === undefined ? {} : Object.fromEntries(columns.map(([name, values]) => [name, values[row] as number]));
    const similarity = similarities[at] as number;
    return { id, documentId, title, metadata, similarity, parts: { ...NO_PARTS, ...features, ...own } };
  });
}
