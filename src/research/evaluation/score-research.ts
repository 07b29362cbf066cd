/** How well the answer of a research fits the expected ones. */

/** Articles do not count in English answers. */
const ARTICLES = /\b(?:a|an|the)\b/g;

/** An answer as it is compared: compatibility forms, lower case, without marks and articles. */
function plainAnswer(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s]+/gu, ' ')
    .replaceAll(ARTICLES, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Words; single letters where words have no spaces. */
function unitsOf(text: string): readonly string[] {
  return plainAnswer(text).match(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu) ?? [];
}

/** 1 when the answer is one of the expected ones but for case, marks and articles; else 0. */
export function exactMatch(answer: string, expected: readonly string[]): number {
  return expected.some((one) => plainAnswer(one) === plainAnswer(answer)) ? 1 : 0;
}

/**
 * The best F1 of the words of the answer with those of an expected one, 0 to 1.
 *
 * Source: Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", 2016.
 */
export function answerF1(answer: string, expected: readonly string[]): number {
  const own = unitsOf(answer);
  return Math.max(0, ...expected.map((one) => f1Of(own, unitsOf(one))));
}

function f1Of(own: readonly string[], gold: readonly string[]): number {
  const left = new Map<string, number>();
  for (const unit of gold) left.set(unit, (left.get(unit) ?? 0) + 1);
  let common = 0;
  for (const unit of own) {
    const count = left.get(unit) ?? 0;
    if (count === 0) continue;
    left.set(unit, count - 1);
    common += 1;
  }
  return common === 0 ? 0 : (2 * common) / (own.length + gold.length);
}
