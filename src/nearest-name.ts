/** Letters by which a name may differ, for so many of its letters. */
const LETTERS_PER_MISTAKE = 4;

/** Longer names are not compared: the time grows with the square of the length. */
const LONGEST = 100;

/**
 * The name that was probably meant: the one of `names` that differs least from `given`, and by one letter in four at most
 * (always one). Letters that change places count once; case and separators do not count. Undefined when none is near.
 *
 * The distance is the optimal string alignment distance (Boytsov, "Indexing methods for approximate dictionary searching", 2011).
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  const wanted = plain(given);
  if (wanted === '' || wanted.length > LONGEST) return undefined;
  let least = Math.max(1, Math.floor(wanted.length / LETTERS_PER_MISTAKE)) + 1;
  let nearest: string | undefined;
  for (const name of names) {
    const candidate = plain(name);
    if (candidate === '' || Math.abs(candidate.length - wanted.length) >= least) continue;
    const distance = distanceOf(wanted, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

/** The end of a sentence about an unknown name: ` Did you mean "query"?`, or nothing. */
export function didYouMean(given: string, names: Iterable<string>): string {
  const name = nearestName(given, names);
  return name === undefined ? '' : ` Did you mean "${name}"?`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const changed = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      next.push(isSwapped ? Math.min(changed, (before[j - 2] ?? 0) + 1) : changed);
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
