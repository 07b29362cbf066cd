/** Sub-questions of a research: what a model wrote made usable, rules where there is none, answers put in. */
import type { ResearchAnswer } from '../calls/research-calls.js';

/** A part of a question, as it is planned. */
export interface SubQuestion {
  readonly id: string;
  /** May hold `{id}` of earlier ones. */
  readonly question: string;
  /** Ids of those whose answers it needs. */
  readonly dependsOn: readonly string[];
}

/** Characters of a sub-question. */
const MAX_QUESTION = 2_000;
const MAX_ID = 64;

/**
 * Sub-questions that can be worked off: none empty, none twice, ids that are there, no cycle, not more than `most`. What depends on itself, on a later one of
 * its cycle or on what is not there loses that dependency; a placeholder is a dependency.
 */
export function usableQuestions(
  given: ResearchAnswer<'research_decompose'>['sub_questions'],
  most: number,
): readonly SubQuestion[] {
  const known = new Map<string, SubQuestion>();
  const texts = new Set<string>();
  for (const { id: givenId, question: givenText, depends_on } of given) {
    if (known.size >= most) break;
    const question = givenText.trim().slice(0, MAX_QUESTION);
    const id = givenId.trim().slice(0, MAX_ID);
    if (question === '' || id === '' || known.has(id) || texts.has(question.toLowerCase())) continue;
    texts.add(question.toLowerCase());
    known.set(id, { id, question, dependsOn: [...new Set([...depends_on, ...placeholdersIn(question)])] });
  }
  return withoutCycles(known);
}

/** Ids that a question has in braces. */
export function placeholdersIn(question: string): readonly string[] {
  return [...question.matchAll(/\{([^{}\s]{1,64})\}/g)].map(([, id = '']) => id);
}

function withoutCycles(known: ReadonlyMap<string, SubQuestion>): readonly SubQuestion[] {
  const done = new Map<string, SubQuestion>();
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (done.get(from)?.dependsOn ?? []).some((next) => reaches(next, to, seen));
  };
  for (const one of known.values()) {
    const dependsOn = one.dependsOn.filter((id) => id !== one.id && known.has(id) && !reaches(id, one.id));
    done.set(one.id, { ...one, dependsOn });
  }
  return [...done.values()];
}

/**
 * A question with the answers of earlier ones in place of `{id}`: by nothing where there is none, or where it is too long to be searched by. Braces around
 * what is no id stay.
 */
export function withAnswers(
  { question }: Pick<SubQuestion, 'question'>,
  answers: ReadonlyMap<string, string | undefined>,
): string {
  return question
    .replaceAll(/\{([^{}\s]{1,64})\}/g, (braces, id: string) =>
      answers.has(id) ? (answers.get(id) ?? '').slice(0, MAX_ANSWER).trim() : braces,
    )
    .replaceAll(/\s{2,}/g, ' ')
    .trim();
}

/** Characters of an answer that is put into another question. */
const MAX_ANSWER = 300;

/** Ends of parts that are questions by themselves. */
const PARTS = /(?<=[?？])\s*|[;；]\s*|\s*(?:,\s*and also|\band also\b|以及|另外)\s*/u;

/** Names that a comparison is about. */
const COMPARED =
  /\b(?:compare|difference(?:s)? between|between)\s+(.{2,80}?)\s+(?:and|with|to|vs\.?)\s+(.{2,80}?)(?:[?.,]|$)|(?:比较|对比)\s*(.{1,40}?)\s*(?:和|与|跟)\s*(.{1,40}?)(?:的|[？?。,，]|$)/iu;

/** Sub-questions by rules, for a research without a model: the sentences of a question, the sides of a comparison, else the question itself. */
export function questionsByRules(question: string, most: number): readonly SubQuestion[] {
  const compared = COMPARED.exec(question);
  const sides = compared?.slice(1).filter((side) => side !== undefined) ?? [];
  const parts = question
    .split(PARTS)
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  const texts = sides.length === 2 ? [question, ...sides] : parts.length > 1 ? parts : [question];
  return texts
    .slice(0, Math.max(1, most))
    .map((text, at) => ({ id: `q${at + 1}`, question: text.trim(), dependsOn: [] }));
}
