/** Which entity a name is: recalled by letters, ranked by what is said of it, or none of those that there are. */

import { compareNames, type NameLikeness } from './compare-names.js';
import { type NameForm, nameForm, type Simplify } from './name-forms.js';
import { wordsVector } from './sentence-vector.js';

/** A name with what is said of it. */
export interface NameInText {
  readonly name: string;
  /** The sentence that it stands in, or what an entity is described by. @default the name alone */
  readonly about?: string | undefined;
  /** Vector of a model of name and text; compared with those of the same model. @default that of letters */
  readonly vector?: readonly number[] | undefined;
}

/** An entity that a name may be. */
export interface Candidate extends NameInText {
  readonly id: string;
  readonly aliases?: readonly string[] | undefined;
}

/** What became of a name. */
export interface Disambiguation {
  /** `same`: it is the entity; `maybe`: it stays apart, and a model may be asked; `new`: there is none like it. */
  readonly verdict: 'same' | 'maybe' | 'new';
  /** The best candidate; absent where none was recalled. */
  readonly id?: string;
  /** 0 to 1. */
  readonly score: number;
  readonly by: NameLikeness['by'];
}

/** Least likeness of letters with which a candidate is looked at. */
export const RECALL = 0.3;
/** From here on a name is the entity; below the other it is a new one. */
export const SAME = 0.75;
export const NEW = 0.5;
/** Share of what is said of names in the score, beside their letters. */
const ABOUT_SHARE = 0.25;
/** Cosine of texts that have nothing to do with each other, by letters. */
const USUAL_COSINE = 0.2;

/**
 * Tells which of the candidates a name is. The same input always gives the same, whatever the order of the candidates.
 *
 * Equal spellings are the entity, whatever is said of it; all others are weighed with the cosine of what is said of both. Two candidates that are equally
 * good leave it undecided.
 */
export function disambiguate(
  mention: NameInText,
  candidates: readonly Candidate[],
  simplify?: Simplify,
): Disambiguation {
  const own = nameForm(mention.name, simplify);
  const recalled = candidates
    .map((candidate) => ({ candidate, likeness: bestLikeness(own, candidate, simplify) }))
    .filter(({ likeness }) => likeness.score >= RECALL);
  const ranked = recalled
    .map(({ candidate, likeness }) => ({
      id: candidate.id,
      by: likeness.by,
      score: combined(likeness, mention, candidate),
    }))
    .sort((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1));
  const [best, second] = ranked;
  if (best === undefined) return { verdict: 'new', score: 0, by: 'apart' };
  const isTie = second !== undefined && second.score >= SAME && best.score - second.score < 0.01 && best.by !== 'exact';
  const verdict = best.score < NEW ? 'new' : best.score >= SAME && !isTie ? 'same' : 'maybe';
  return { verdict, ...best };
}

function bestLikeness(own: NameForm, { name, aliases = [] }: Candidate, simplify: Simplify | undefined): NameLikeness {
  let best: NameLikeness = { score: 0, by: 'apart' };
  for (const written of [name, ...aliases]) {
    const likeness = compareNames(own, nameForm(written, simplify));
    if (likeness.score > best.score) best = likeness;
  }
  return best;
}

/** The score of letters, weighed with what is said of both. */
export function combined({ score, by }: NameLikeness, left: NameInText, right: NameInText): number {
  if (score === 0 || by === 'exact' || by === 'spelling') return score;
  const cosine = cosineOf(left, right);
  // Texts that say nothing of either leave it to the letters.
  if (cosine === undefined) return by === 'abbreviation' ? Math.min(score, SAME - 0.01) : score * (1 - ABOUT_SHARE / 2);
  const likeness = Math.max(0, (cosine - USUAL_COSINE) / (1 - USUAL_COSINE));
  return (1 - ABOUT_SHARE) * score + ABOUT_SHARE * Math.min(1, 2 * likeness);
}

/** How alike what is said of both is; undefined where nothing is. */
function cosineOf(left: NameInText, right: NameInText): number | undefined {
  if (left.vector !== undefined && right.vector !== undefined) return cosine(left.vector, right.vector);
  const [one, other] = [left.about?.trim() ?? '', right.about?.trim() ?? ''];
  if (one === '' || other === '') return undefined;
  return cosine(wordsVector(one), wordsVector(other));
}

function cosine(left: readonly number[] | Float64Array, right: readonly number[] | Float64Array): number {
  let product = 0;
  let own = 0;
  let other = 0;
  for (let at = 0; at < left.length; at += 1) {
    const [a, b] = [left[at] as number, right[at] ?? 0];
    product += a * b;
    own += a * a;
    other += b * b;
  }
  return own === 0 || other === 0 ? 0 : product / Math.sqrt(own * other);
}
