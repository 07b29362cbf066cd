/** Delimiters of separated values. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Characters and records by which the delimiter is found. */
const SAMPLE_LENGTH = 65_536;
const SAMPLE_RECORDS = 50;

/**
 * The delimiter of a CSV text: the one of comma, semicolon, tab and bar that parts the first records into the same number of
 * fields, or into most; undefined when none of them does.
 */
export function findDelimiter(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE_LENGTH);
  let best: { readonly delimiter: string; readonly score: number } | undefined;
  for (const delimiter of DELIMITERS) {
    const counts = countDelimiters(sample, delimiter);
    // The last record may be cut off by the sample.
    const whole = counts.length > 1 && sample.length < text.length ? counts.slice(0, -1) : counts;
    const [first = 0] = whole;
    if (first === 0) continue;
    const alike = whole.filter((count) => count === first).length / whole.length;
    const score = alike * 1000 + Math.min(first, 999);
    if (best === undefined || score > best.score) best = { delimiter, score };
  }
  return best?.delimiter;
}

/** How often the delimiter stands outside of quotes, by record. */
function countDelimiters(sample: string, delimiter: string): number[] {
  const counts: number[] = [];
  let count = 0;
  let isQuoted = false;
  let length = 0;
  const close = (): void => {
    if (length > 0) counts.push(count);
    count = 0;
    length = 0;
  };
  for (const character of sample) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && (character === '\n' || character === '\r')) {
      close();
      if (counts.length >= SAMPLE_RECORDS) return counts;
      continue;
    }
    length += 1;
    if (!isQuoted && character === delimiter) count += 1;
  }
  close();
  return counts;
}
