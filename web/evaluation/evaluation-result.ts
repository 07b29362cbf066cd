/** Results of `runnel eval --json`, as a page shows them: one of a test collection, or one of golden questions. */
import { isJsonObject, type Json, type JsonObject, parseOwnJson } from '../../src/json.js';

/** A question and what it measured. */
export interface MeasuredQuestion {
  readonly id: string;
  /** What is known of it beside its values, such as the answer. */
  readonly about: JsonObject;
  /** 0 to 1 by measure; without those that do not hold for this question. */
  readonly values: Readonly<Record<string, number>>;
}

/** A result that was read from a file. */
export interface EvaluationResult {
  readonly fileName: string;
  /** What was measured: a folder or a file of questions. */
  readonly of: string;
  readonly measures: readonly string[];
  readonly means: Readonly<Record<string, number>>;
  readonly questions: readonly MeasuredQuestion[];
}

/** Questions of a file at most. */
const MAX_QUESTIONS = 20_000;

/** What a file holds; undefined when it is no result. */
export function readResult(fileName: string, text: string): EvaluationResult | undefined {
  const json = parseOwnJson(text);
  if (!isJsonObject(json) || !Array.isArray(json.questions)) return undefined;
  const isGolden = isJsonObject(json.rates);
  const means = numbersIn(isGolden ? json.rates : json.means);
  const measures = Object.keys(means);
  const questions = json.questions.slice(0, MAX_QUESTIONS).flatMap((question: Json): readonly MeasuredQuestion[] => {
    if (!isJsonObject(question) || typeof question.id !== 'string') return [];
    const { id, measures: measured, ...about } = question;
    return [{ id, about, values: isGolden ? goldenValues(question) : numbersIn(measured) }];
  });
  if (measures.length === 0 || questions.length === 0) return undefined;
  const of = isGolden ? json.file : json.folder;
  return { fileName, of: typeof of === 'string' ? of : '', measures, means, questions };
}

/** Rates over answers, of those that have a value. */
export function meansOf(answers: readonly Json[]): Readonly<Record<string, number>> {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const answer of answers) {
    for (const [name, value] of Object.entries(isJsonObject(answer) ? goldenValues(answer) : {})) {
      const { sum, count } = sums.get(name) ?? { sum: 0, count: 0 };
      sums.set(name, { sum: sum + value, count: count + 1 });
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]));
}

/** The scores of an answer under the names of their rates. */
function goldenValues({
  sourcePass,
  keywordPass,
  citationPrecision,
  wrongShortcut,
  judgement,
}: JsonObject): Readonly<Record<string, number>> {
  const verdict = isJsonObject(judgement) ? judgement.verdict : undefined;
  return {
    ...(typeof sourcePass === 'boolean' && { source_pass: Number(sourcePass) }),
    ...(typeof keywordPass === 'boolean' && { keyword_pass: Number(keywordPass) }),
    ...(typeof citationPrecision === 'number' && { citation_precision: citationPrecision }),
    ...(typeof wrongShortcut === 'boolean' && { right_route: Number(!wrongShortcut) }),
    // An answer that the judge did not decide on counts for nothing.
    ...((verdict === 'pass' || verdict === 'fail') && { judge_pass: Number(verdict === 'pass') }),
  };
}

function numbersIn(value: Json | undefined): Readonly<Record<string, number>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}
