/** What the scripted model reads out of a text: names by their capitals, and what they have to do with each other by where they stand. */

/** Words that begin sentences and are no names, or no part of one. */
const FILLERS = new Set(
  `a an and are as at before between by did do does for from has have her his how in is it its of on or she he the their they this to was were what when where
  which who whom whose why with`.split(/\s+/),
);
const NAME = /\p{Lu}[\p{L}\p{N}'’-]*(?: (?:(?:of|the|de) )?(?=\p{Lu})\p{Lu}[\p{L}\p{N}'’-]*)*/gu;
const KIND = /\b(?:is|was) an? (\p{Ll}+)/u;

/** Whether a word is too common to tell texts apart. */
export function isFiller(word) {
  return FILLERS.has(word.toLowerCase());
}

/** Capitalised names of a text, each once, in order; fillers at their beginning are left out. */
export function namesOf(text) {
  const found = (text.match(NAME) ?? []).map((name) => {
    const words = name.split(' ');
    const first = words.findIndex((word) => !isFiller(word));
    return first < 0 ? '' : words.slice(first).join(' ');
  });
  return [...new Set(found.filter((name) => name !== ''))];
}

/**
 * The graph of a passage: its first name is what it is about, and has to do with all other names; names of one sentence have to do with each other.
 * The only name of a passage has to do with what it is ("… is a town"), so that none stands alone.
 *
 * @returns `{names, kinds, pairs: [{source, target, sentence}]}`, each pair once whatever its direction
 */
export function graphOf(text) {
  const names = namesOf(text);
  const subject = names[0];
  const pairs = new Map();
  const relate = (source, target, sentence) => {
    const key = pairKey(source, target);
    if (source !== target && !pairs.has(key)) pairs.set(key, { source, target, sentence });
  };
  const kinds = new Set();
  for (const sentence of text.split(/(?<=[.!?])\s+|\n+/)) {
    const own = namesOf(sentence);
    const [, kind] = KIND.exec(sentence) ?? [];
    if (names.length === 1 && kind !== undefined) {
      kinds.add(kind);
      relate(subject, kind, sentence);
    }
    for (const [at, name] of own.entries()) {
      relate(subject, name, sentence);
      for (const other of own.slice(at + 1)) relate(name, other, sentence);
    }
  }
  return { names, kinds: [...kinds], pairs: [...pairs.values()] };
}

/** One text for the spellings of a name: without regard to case and an article before it, which systems keep or leave out. */
export function nameKey(name) {
  return name.toLowerCase().replace(/^the /, '');
}

/** One text for both directions of a pair. */
export function pairKey(source, target) {
  return [source, target].map(nameKey).sort().join(' | ');
}
