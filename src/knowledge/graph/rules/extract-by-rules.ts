/** What a text says of names, by rules: terms, capitalised and quoted names, and the 19 patterns of sentences. */
import { hasHan } from '../../words/split-words.js';
import {
  CO_OCCURRENCE_WEIGHT,
  CO_OCCURS,
  type Contribution,
  MAX_NAME,
  MAX_NAMES_A_PARAGRAPH,
  type Mention,
  type Relation,
} from '../facts.js';
import { chineseClauses, chineseRelations } from './chinese.js';
import { englishRelations } from './english.js';
import { createNameFinder, type FoundName, type NameFinder } from './find-names.js';
import { notedRelations } from './notations.js';
import { clausesOf, paragraphsOf, type Span, sentencesOf } from './sentences.js';
import type { StatedRelation } from './stated-relation.js';
import { TECHNICAL_TERMS, type TechnicalTerm } from './technical-terms.js';

/** Finds relations in a sentence by patterns of users. */
export type FindStated = (sentence: string) => readonly StatedRelation[];

/** What rules know beside those of the package. */
export interface RuleOptions {
  /** Terms of the dataset. @default none */
  readonly terms?: readonly TechnicalTerm[] | undefined;
  /** Patterns of the dataset; see `findByPatterns`. @default none */
  readonly patterns?: FindStated | undefined;
}

/** Reads what a text says; the same text always gives the same. */
export type ExtractByRules = (text: string) => Contribution;

/** Longest text that is read, in UTF-16 units, and mentions and relations of it that count. */
const MAX_TEXT = 200_000;
const MAX_MENTIONS = 2_000;
const MAX_RELATIONS = 2_000;

/** Makes what reads texts by rules. Negations, questions and conditionals give no relation. */
export function createRules({ terms = [], patterns = () => [] }: RuleOptions = {}): ExtractByRules {
  const finder = createNameFinder([...terms, ...TECHNICAL_TERMS]);
  return (given) => {
    const mentions: Mention[] = [];
    const relations: Relation[] = [];
    for (const paragraph of paragraphsOf(given.slice(0, MAX_TEXT))) {
      const found = readParagraph(paragraph, finder, patterns);
      mentions.push(...found.mentions);
      relations.push(...found.relations);
      if (mentions.length >= MAX_MENTIONS || relations.length >= MAX_RELATIONS) break;
    }
    return { mentions: mentions.slice(0, MAX_MENTIONS), relations: relations.slice(0, MAX_RELATIONS) };
  };
}

function readParagraph(paragraph: Span, finder: NameFinder, patterns: FindStated): Contribution {
  const mentions = new Map<number, Mention>();
  const explicit: Relation[] = [];
  const weak: FoundName[] = [];
  for (const sentence of sentencesOf(paragraph)) {
    const names = finder.namesIn(sentence);
    for (const one of names) {
      if (one.isWeak) weak.push(one);
      else mentions.set(one.start, mentionOf(one));
    }
    for (const stated of statedIn(sentence, patterns)) {
      const [source, target] = [endOf(stated.source, sentence, names), endOf(stated.target, sentence, names)];
      if (source === undefined || target === undefined || source.name === target.name) continue;
      for (const one of [source, target]) if (!mentions.has(one.start)) mentions.set(one.start, one);
      const { relation } = stated;
      const description = sentence.text.slice(0, MAX_DESCRIPTION);
      explicit.push({ source: source.name, target: target.name, relation, description, weight: 1, isExplicit: true });
    }
  }
  const sure = new Set([...mentions.values()].map(({ name }) => name));
  for (const one of weak) if (sure.has(one.name)) mentions.set(one.start, mentionOf(one));
  const all = [...mentions.values()].sort((left, right) => left.start - right.start);
  return { mentions: all, relations: [...explicit, ...neighbours(all)] };
}

/** UTF-16 units of a sentence that describe a relation. */
const MAX_DESCRIPTION = 400;

function mentionOf({ name, type, start, end }: FoundName): Mention {
  return { name, type, start, end };
}

/** All relations that a sentence states; a clause without a subject is about that of the clause before. */
function statedIn(sentence: Span, patterns: FindStated): StatedRelation[] {
  const stated: StatedRelation[] = [...notedRelations(sentence), ...patterns(sentence.text)];
  let subject: string | undefined;
  for (const clause of clausesOf(sentence)) {
    const isChinese = hasHan(clause.text);
    for (const part of isChinese ? chineseClauses(clause) : [clause]) {
      const found = (isChinese ? chineseRelations : englishRelations)(part, sentence, subject);
      subject = found.subject ?? subject;
      stated.push(...found.relations);
    }
  }
  return stated;
}

/** The name that a phrase is, or the one that it holds, else the phrase itself. */
function endOf(phrase: string, { text, start }: Span, names: readonly FoundName[]): Mention | undefined {
  const at = text.indexOf(phrase);
  const from = start + Math.max(at, 0);
  const inside = names.filter((one) => at >= 0 && one.start < from + phrase.length && from < one.end);
  const strong = inside.filter(({ isWeak }) => !isWeak);
  // The last name of a phrase is its head: "the Redis client of Runnel" aside, "engine Runnel" is Runnel.
  const best = strong.find((one) => one.end - one.start >= phrase.length) ?? strong[0];
  if (best !== undefined) return mentionOf(best);
  if (phrase.length > MAX_NAME || !/\p{L}/u.test(phrase)) return undefined;
  const known = names.find(({ name }) => name === phrase);
  if (known !== undefined) return mentionOf(known);
  return { name: phrase, type: 'concept', start: from, end: from + (at >= 0 ? phrase.length : 0) };
}

/** Different names of a paragraph, each with each. */
function neighbours(mentions: readonly Mention[]): Relation[] {
  const names = [...new Set(mentions.map(({ name }) => name))].slice(0, MAX_NAMES_A_PARAGRAPH);
  const relations: Relation[] = [];
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      const [source = '', target = ''] = [one, other].sort();
      const weight = CO_OCCURRENCE_WEIGHT;
      relations.push({ source, target, relation: CO_OCCURS, description: '', weight, isExplicit: false });
    }
  }
  return relations;
}
