/** Words that rules look for, as hurried fingers write them. */

/** Long enough that a slip hardly makes another word of them. */
const WORDS = 'weather forecast temperature calculate currency exchange convert ticket tickets revenue latency'.split(
  ' ',
);
/** What is a word by itself, or meant for another one. */
const OTHERS: ReadonlySet<string> = new Set(['covert', 'wether']);
/** Chinese words that sound the same, or look it. */
const CHINESE: ReadonlyMap<string, string> = new Map([
  ['天汽', '天气'],
  ['天期预报', '天气预报'],
  ['汇律', '汇率'],
  ['汇帅', '汇率'],
  ['消售', '销售'],
  ['销受', '销售'],
  ['工但', '工单'],
  ['几店了', '几点了'],
  ['怎麽', '怎么'],
  ['怎莫', '怎么'],
  ['怎摸', '怎么'],
]);
const ANY_CHINESE = new RegExp([...CHINESE.keys()].join('|'), 'g');

const SLIPS: ReadonlyMap<string, string> = new Map(
  WORDS.flatMap((word) => slipsOf(word).map((slip): [string, string] => [slip, word])).filter(
    ([slip]) => !WORDS.includes(slip) && !OTHERS.has(slip),
  ),
);

/** A letter left out, doubled, or in the place of its neighbour. */
function slipsOf(word: string): string[] {
  return [...word].flatMap((letter, at) => {
    const [before, next, behind] = [word.slice(0, at), word[at + 1] ?? '', word.slice(at + 2)];
    return [before + next + behind, before + letter + letter + next + behind, before + next + letter + behind];
  });
}

/** A text in lower case with such slips mended; takes time with its length alone. */
export function withoutSlips(lower: string): string {
  return lower
    .replaceAll(/[a-z]{5,13}/g, (word) => SLIPS.get(word) ?? word)
    .replaceAll(ANY_CHINESE, (word) => CHINESE.get(word) ?? word);
}
