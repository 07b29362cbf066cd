/** Sources that cannot both be right, by rules. */
import { foldText, hasHan, runsOf } from '../../knowledge/words/split-words.js';
import { STOP_WORDS } from '../../knowledge/words/stop-words.js';
import { statementParts } from './check-statement.js';
import type { ResearchEvidence } from './evidence-table.js';
import { sentencesOf } from './sentences.js';

/** Two statements that contradict each other. */
export interface Contradiction {
  /** Ids of evidence, or of findings. */
  readonly a: string;
  readonly b: string;
  readonly why: string;
}

/** Share of the other words that two statements about the same attribute have in common; of letters, where words have no spaces. */
const SAME_SHARE = 0.75;
const SAME_LETTERS = 0.9;
/** Words that a statement must have beside its values. */
const MIN_WORDS = 3;
/** Sentences of one text, and pairs, that are looked at. */
const MAX_SENTENCES = 20;
const MAX_PAIRS = 20_000;

interface Claim {
  readonly id: string;
  readonly sentence: string;
  readonly words: ReadonlySet<string>;
  /** What it is about: its names, else those of its document. */
  readonly subjects: readonly string[];
  readonly isHan: boolean;
  readonly values: readonly string[];
}

/** Sentences of different texts that say the same of the same, but for their numbers. */
export function contradictionsOf(
  evidence: readonly Pick<ResearchEvidence, 'id' | 'text' | 'source'>[],
): readonly Contradiction[] {
  const claims = evidence.flatMap(({ id, text, source }) =>
    sentencesOf(text)
      .slice(0, MAX_SENTENCES)
      .flatMap((one) => claimOf(id, one, source)),
  );
  const found: Contradiction[] = [];
  let pairs = 0;
  for (const [at, one] of claims.entries()) {
    for (const other of claims.slice(at + 1)) {
      pairs += 1;
      if (pairs > MAX_PAIRS) return found;
      if (one.id === other.id || !contradict(one, other)) continue;
      if (found.some(({ a, b }) => a === one.id && b === other.id)) continue;
      found.push({ a: one.id, b: other.id, why: `“${one.sentence}” / “${other.sentence}”` });
    }
  }
  return found;
}

function claimOf(id: string, given: string, source: string): readonly Claim[] {
  const sentence = given.trim();
  const { numbers, names } = statementParts(sentence);
  if (numbers.length === 0) return [];
  const words = new Set<string>();
  for (const { text, kind } of runsOf(foldText(sentence))) {
    if (/\d/.test(text)) continue;
    if (kind !== 'word') for (const letter of text) words.add(letter);
    else if (!STOP_WORDS.has(text)) words.add(text);
  }
  if (words.size < MIN_WORDS) return [];
  const subjects = (names.length > 0 ? names : statementParts(source).names).map(foldText);
  return [{ id, sentence, words, subjects, isHan: hasHan(sentence), values: numbers }];
}

function contradict(one: Claim, other: Claim): boolean {
  if (one.values.length !== other.values.length) return false;
  if (one.values.every((value) => other.values.includes(value))) return false;
  if (!one.isHan && !one.subjects.some((name) => isAmong(name, other.subjects))) return false;
  const common = [...one.words].filter((word) => other.words.has(word)).length;
  return common / (one.words.size + other.words.size - common) >= (one.isHan ? SAME_LETTERS : SAME_SHARE);
}

/** Whether a name is one of several, or a part of one. */
function isAmong(name: string, others: readonly string[]): boolean {
  return others.some((other) => ` ${other} `.includes(` ${name} `) || ` ${name} `.includes(` ${other} `));
}
