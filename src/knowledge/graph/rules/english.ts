/** Relations that English sentences state, by the verb between two noun phrases. */
import type { Span } from './sentences.js';
import type { StatedClause, StatedRelation } from './stated-relation.js';

interface VerbPattern {
  readonly relation: string;
  readonly pattern: RegExp;
  /** Whether the object does it: "is used by". */
  readonly isReversed?: boolean;
}

const BE = '(?:is|are|was|were|has been|have been|being|be|gets|get)';

/** The eight relations of English; passive forms stand before the words that they hold. */
const VERBS: readonly VerbPattern[] = [
  {
    relation: 'uses',
    pattern: verb(`${BE}\\s+(?:\\w+ly\\s+)?(?:used|utili[sz]ed|employed|adopted)\\s+by`),
    isReversed: true,
  },
  { relation: 'supports', pattern: verb(`${BE}\\s+(?:\\w+ly\\s+)?supported\\s+by`), isReversed: true },
  { relation: 'replaces', pattern: verb(`${BE}\\s+(?:\\w+ly\\s+)?(?:replaced|superseded)\\s+by`), isReversed: true },
  { relation: 'extends', pattern: verb(`${BE}\\s+(?:\\w+ly\\s+)?extended\\s+by`), isReversed: true },
  {
    relation: 'includes',
    pattern: verb(`${BE}\\s+(?:included|contained)\\s+in|${BE}\\s+(?:a\\s+)?part\\s+of`),
    isReversed: true,
  },
  { relation: 'depends_on', pattern: verb(`${BE}\\s+required\\s+by`), isReversed: true },
  { relation: 'includes', pattern: verb(`${BE}\\s+(?:composed|made\\s+up)\\s+of`) },
  { relation: 'uses', pattern: verb(`${BE}\\s+powered\\s+by`) },
  {
    relation: 'depends_on',
    pattern: verb(`${BE}\\s+(?:based\\s+on|dependent\\s+on|built\\s+(?:up)?on(?:\\s+top\\s+of)?)`),
  },
  { relation: 'integrates_with', pattern: verb(`(?:${BE}\\s+integrated|integrat(?:es?|ed))\\s+(?:with|into)`) },
  { relation: 'is_a', pattern: verb(`${BE}\\s+(?:(?:an?|one)\\s+(?:kind|type|form|sort|example|instance)\\s+of|an?)`) },
  {
    relation: 'includes',
    pattern: verb('includes?|included|contains?|contained|compris(?:es?|ed)|consists?\\s+of|consisted\\s+of'),
  },
  { relation: 'uses', pattern: verb('uses?|used|utili[sz]e[sd]?|employs?|adopts?|adopted') },
  { relation: 'supports', pattern: verb('supports?|supported') },
  {
    relation: 'depends_on',
    pattern: verb('depends?\\s+(?:up)?on|depended\\s+on|rel(?:ies|y|ied)\\s+(?:up)?on|requires?|required'),
  },
  { relation: 'replaces', pattern: verb('replaces?|replaced|supersedes?|superseded') },
  { relation: 'extends', pattern: verb('extends?|extended|builds?\\s+(?:up)?on|built\\s+(?:up)?on|inherits?\\s+from') },
];

/** What the object of a verb ends at. */
const OBJECT_END =
  /[;:()]|\s[–—-]\s|[,\s]+(?:for|to|in|on|at|by|with|from|as|when|while|because|so|that|which|who|where|via|through|during|since|after|before|instead|rather|than|under|over|into|without|under|whose|if|but|thus|among|across|within|between|against|about|of\s+which)\b/i;

const NEGATION =
  /\b(?:not|never|no|none|nor|neither|without|cannot|hardly|barely|lacks?|fails?\s+to|stopped|stops|refuses?\s+to)\b|n['’]t\b/i;
const DOUBT =
  /\b(?:if|unless|whether|would|could|might|may|should|suppose|supposing|assuming|imagine|in\s+case|provided\s+that|as\s+long\s+as|otherwise|hypothetically|perhaps|maybe|possibly)\b|^(?:when(?:ever)?|once|had|were|should)\b/i;
const QUESTION =
  /\?["'”’)]*$|^(?:who|what|which|where|when|why|how|do|does|did|is|are|was|were|can|could|will|would|should|has|have)\b[^.]*\?/i;

const PRONOUN =
  /^(?:i|it|its|this|that|these|those|they|them|their|we|us|our|you|your|he|she|him|his|her|there|here|which|who|whom|what|one|ones|each|all|both|some|many|most|few|others?|another|anyone|everyone|something|nothing|everything|anything|itself|themselves|such|same|part)$/i;

const DETERMINER =
  /^(?:the|a|an|its|their|our|your|this|that|these|those|both|either|all|some|several|many|various|most|only|each|every|also|two|three|new|own)\s+/i;
const ADVERB =
  /(?:^|[\s,]+)(?:also|now|currently|mainly|mostly|internally|directly|already|still|often|usually|typically|always|then|just|only|can|will|has|have|had|does|do|did|both|in\s+turn|not|never|no\s+longer|which|that|who|and|or|\w+ly)$/i;

/** Words of a noun phrase. */
const MAX_WORDS = 6;

/** Whether a sentence asks, or says what may be. */
export function isDoubtfulInEnglish(sentence: string): boolean {
  return QUESTION.test(sentence) || DOUBT.test(sentence);
}

/** Whether a part of a sentence denies. */
export function isDeniedInEnglish(text: string): boolean {
  return NEGATION.test(text);
}

/** The relations of a clause. `names` gives the names in a range of it. */
export function englishRelations(clause: Span, sentence: Span, subject: string | undefined): StatedClause {
  if (isDoubtfulInEnglish(sentence.text)) return { relations: [] };
  const verbs = verbsOf(clause.text);
  const stated: StatedRelation[] = [];
  let sources: readonly string[] = subject === undefined ? [] : [subject];
  for (const [at, { relation, isReversed = false, start, end }] of verbs.entries()) {
    const before = clause.text.slice(verbs[at - 1]?.end ?? 0, start);
    const own = subjectOf(before, at === 0);
    if (own !== undefined) sources = own;
    const next = verbs[at + 1];
    const after = clause.text.slice(end, next?.start ?? clause.text.length);
    const object = next === undefined ? after : withoutSubject(after);
    // What is denied before the verb, or by "no" behind it.
    if (NEGATION.test(before.slice(-60)) || NEGATION.test(object.slice(0, 12))) continue;
    const targets = phrasesOf(object.split(OBJECT_END)[0] ?? '');
    for (const source of sources) {
      for (const target of targets) {
        if (source.toLowerCase() === target.toLowerCase()) continue;
        stated.push(isReversed ? { source: target, relation, target: source } : { source, relation, target });
      }
    }
  }
  return { relations: stated, subject: sources[0] };
}

interface FoundVerb extends VerbPattern {
  readonly start: number;
  readonly end: number;
}

/** Verbs in their order, none inside of another. */
function verbsOf(text: string): FoundVerb[] {
  const found: FoundVerb[] = [];
  for (const one of VERBS) {
    for (const { 0: words, index: start } of text.matchAll(one.pattern)) {
      const end = start + words.length;
      if (!found.some((other) => start < other.end && other.start < end)) found.push({ ...one, start, end });
    }
  }
  return found.sort((left, right) => left.start - right.start);
}

/** The subjects before a verb; undefined where it has none of its own. */
function subjectOf(before: string, isFirst: boolean): readonly string[] | undefined {
  let text = before.trim();
  if (!isFirst) {
    const cut = lastGap(text);
    if (cut === undefined) return undefined;
    text = text.slice(cut).trim();
  }
  text = withoutAdverbs(text);
  if (text === '') return undefined;
  // What stands before a comma leads to the sentence: "In 2020, Runnel uses".
  const parts = text.split(/,\s+(?:and\s+)?|\s+and\s+/);
  const names: string[] = [];
  for (const part of parts.reverse()) {
    const phrase = nounPhrase(part, names.length === 0);
    if (phrase === undefined || (names.length > 0 && !isNameLike(part))) break;
    names.unshift(phrase);
  }
  return names;
}

function isNameLike(part: string): boolean {
  const words = part.replace(DETERMINER, '').trim().split(/\s+/);
  return (
    words.length <= 4 &&
    !/^(?:in|on|at|by|since|until|from|after|before|during|for|with)$/i.test(words[0] ?? '') &&
    words.every((word) => /^[\p{Lu}\d]/u.test(word))
  );
}

/** Adverbs and auxiliaries between subject and verb go. */
function withoutAdverbs(given: string): string {
  let text = given.replace(/[,\s]+$/, '');
  for (let at = 0; at < 6; at += 1) {
    const shorter = text.replace(ADVERB, '').replace(/[,\s]+$/, '');
    if (shorter === text) break;
    text = shorter;
  }
  return text;
}

/** Where the last part of a list begins. */
function lastGap(text: string): number | undefined {
  const gaps = [...text.matchAll(/,\s*(?:and\s+)?|\s+and\s+|^and\s+|\band$/gi)];
  const last = gaps.at(-1);
  return last === undefined ? undefined : last.index + last[0].length;
}

/** What is left of an object when the subject of the next verb is taken from its end. */
function withoutSubject(text: string): string {
  const cut = lastGap(text.trimEnd());
  if (cut === undefined) return text;
  return text.slice(0, cut).replace(/[,\s]*(?:and)?[,\s]*$/i, '');
}

/** The noun phrases of a list. */
function phrasesOf(text: string): string[] {
  const parts = text.split(/,\s*(?:and\s+|or\s+|as\s+well\s+as\s+)?|\s+(?:and|or|as\s+well\s+as)\s+|\s*&\s*/);
  const phrases: string[] = [];
  for (const part of parts) {
    if (part.trim() === '') continue;
    const phrase = nounPhrase(part, false);
    if (phrase === undefined) break;
    phrases.push(phrase);
  }
  return phrases;
}

/** A noun phrase without what determines it; `fromEnd`: of a subject, whose last words count. */
function nounPhrase(given: string, fromEnd: boolean): string | undefined {
  let text = given.trim().replace(/^[\s"“'‘(*•-]+|[\s"”'’.!,)*]+$/gu, '');
  if (fromEnd)
    text = text.split(/\b(?:in|on|at|for|when|that|which|because|so|with|by|from|under)\s+(?=[^\s])/i).at(-1) ?? text;
  for (let at = 0; at < 3; at += 1) text = text.replace(DETERMINER, '');
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > MAX_WORDS || PRONOUN.test(words[0] as string)) return undefined;
  if (!/\p{L}/u.test(text)) return undefined;
  return words.join(' ');
}

function verb(words: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_'’-])(?:${words})(?![\\p{L}\\p{N}_'’-])`, 'giu');
}
