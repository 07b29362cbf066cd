/**
 * The category that an answer names: one it equals, else the one it names most often, else the last one.
 *
 * Case does not matter, nor do quotes, a final full stop or `Category:` around an equal answer. Names count as whole words
 * first and as parts of words only when no whole word is found; a longer name hides the shorter ones inside of it. Of those
 * named equally often the first declared wins. RAGFlow counts substrings alone.
 */
export function chooseCategory(answer: string, names: readonly string[]): string {
  const text = answer.toLowerCase();
  const bare = bareAnswer(text);
  const equal = names.find((name) => name.trim().toLowerCase() === bare);
  if (equal !== undefined) return equal;
  return mostNamed(text, names, true) ?? mostNamed(text, names, false) ?? (names.at(-1) as string);
}

function bareAnswer(text: string): string {
  const unquoted = (part: string) => part.replace(/^[\s"'`*.。]+|(?<![\s"'`*.。])[\s"'`*.。]+$/g, '');
  return unquoted(unquoted(text).replace(/^category\s*[:：]/, ''));
}

function mostNamed(text: string, names: readonly string[], wholeWords: boolean): string | undefined {
  const longestFirst = names.filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  const counts = new Map<string, number>();
  let rest = text;
  for (const name of longestFirst) {
    const { count, left } = takeOut(rest, name.trim().toLowerCase(), wholeWords);
    counts.set(name, count);
    rest = left;
  }
  let best: string | undefined;
  for (const name of names)
    if ((counts.get(name) ?? 0) > (best === undefined ? 0 : (counts.get(best) ?? 0))) best = name;
  return best;
}

/** Counts a name and puts a mark in its place that no name holds. */
function takeOut(text: string, name: string, wholeWords: boolean): { count: number; left: string } {
  let count = 0;
  let left = '';
  let from = 0;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, from)) {
    const end = at + name.length;
    if (wholeWords && (isWordBefore(text, at) || isWordAt(text, end))) {
      left += text.slice(from, at + 1);
      from = at + 1;
      continue;
    }
    count += 1;
    left += `${text.slice(from, at)}\n`;
    from = end;
  }
  return { count, left: left + text.slice(from) };
}

const LETTER = /[\p{L}\p{N}_]/u;

function isWordAt(text: string, at: number): boolean {
  return at < text.length && LETTER.test(String.fromCodePoint(text.codePointAt(at) as number));
}

function isWordBefore(text: string, at: number): boolean {
  return LETTER.test([...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '');
}
