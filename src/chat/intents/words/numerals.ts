/** Numbers in words: 三百五十, 一点五万, two hundred and fifty. */

const DIGITS: Readonly<Record<string, number>> = {
  零: 0,
  〇: 0,
  一: 1,
  壹: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1_000 };
const MYRIADS: Readonly<Record<string, number>> = { 万: 10_000, 亿: 100_000_000 };

/** Longest numeral that is read, in signs. */
const MAX_NUMERAL = 40;

/** The signs of Chinese numerals, as a class of a pattern. */
export const NUMERAL_SIGNS = '零〇一壹二两三四五六七八九十百千万亿点';

/** The number that a Chinese numeral means, also behind digits (3万, 1.5亿); undefined for what is none. */
export function chineseNumber(text: string): number | undefined {
  if (text === '' || text.length > MAX_NUMERAL) return undefined;
  const [whole = '', fraction, more] = text.split('点');
  if (more !== undefined) return undefined;
  if (fraction !== undefined) return withFraction(whole, fraction);
  return wholeNumber(whole);
}

function withFraction(whole: string, fraction: string): number | undefined {
  const last = fraction.at(-1) ?? '';
  const scale = MYRIADS[last] ?? 1;
  const digits = [...(scale === 1 ? fraction : fraction.slice(0, -1))].map((sign) => DIGITS[sign]);
  const before = wholeNumber(whole);
  if (before === undefined || digits.length === 0 || digits.includes(undefined)) return undefined;
  return Number((Number(`${before}.${digits.join('')}`) * scale).toPrecision(15));
}

function wholeNumber(text: string): number | undefined {
  const signs = [...text];
  // Year numbers and the like: 二〇二五.
  if (signs.length > 1 && signs.every((sign) => DIGITS[sign] !== undefined)) {
    return Number(signs.map((sign) => DIGITS[sign]).join(''));
  }
  let total = 0;
  let section = 0;
  let digit: number | undefined;
  /** Of the unit before, for 三百五, which is 350. */
  let lastUnit = 1;
  for (const sign of signs) {
    const [value, unit, myriad] = [DIGITS[sign], UNITS[sign], MYRIADS[sign]];
    if (value !== undefined) {
      if (digit !== undefined && digit !== 0) return undefined;
      digit = value;
      if (value === 0) lastUnit = 1;
    } else if (unit !== undefined) {
      section += (digit ?? (section === 0 ? 1 : 0)) * unit;
      digit = undefined;
      lastUnit = unit;
    } else if (myriad !== undefined) {
      section += digit ?? 0;
      if (section === 0 && total === 0) return undefined;
      total = myriad === 100_000_000 ? (total + section) * myriad : total + section * myriad;
      section = 0;
      digit = undefined;
      lastUnit = myriad;
    } else return undefined;
  }
  return total + section + (digit ?? 0) * (lastUnit > 10 ? lastUnit / 10 : 1);
}

const SMALL: readonly string[] =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS: readonly string[] = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1_000,
  million: 1_000_000,
  billion: 1_000_000_000,
};

const valueOfWord = (word: string): number | undefined => {
  const small = SMALL.indexOf(word);
  if (small !== -1) return small;
  const tens = TENS.indexOf(word);
  return tens === -1 ? undefined : (tens + 2) * 10;
};

/** A text in lower case in which English number words are digits: `two hundred and fifty euros` is `250 euros`. */
export function withEnglishNumbers(lower: string): string {
  const words = lower.split(/([^a-z]+)/);
  const out: string[] = [];
  let at = 0;
  while (at < words.length) {
    const found = numberAt(words, at);
    if (found === undefined) {
      out.push(words[at] ?? '');
      at += 1;
    } else {
      out.push(String(found.value));
      at = found.end;
    }
  }
  return out.join('');
}

/** The longest number that begins at a word; words stand at even places, what is between them at odd ones. */
function numberAt(
  words: readonly string[],
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let [total, section, end] = [0, 0, start];
  let isNumber = false;
  for (let at = start; at < words.length; at += 2) {
    const word = words[at] ?? '';
    const between = words[at - 1] ?? ' ';
    if (at > start && between !== ' ' && between !== '-') break;
    const value = valueOfWord(word);
    const scale = Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
    const next = words[at + 2] ?? '';
    if (value !== undefined) {
      // "twenty five" is one number, "two five" is not.
      if (isNumber && section % 100 !== 0 && !(section % 10 === 0 && value < 10 && section % 100 >= 20)) break;
      section += value;
      isNumber = true;
    } else if (scale !== undefined && isNumber) {
      if (scale === 100) section *= 100;
      else {
        total += section * scale;
        section = 0;
      }
    } else if (word === 'a' && Object.hasOwn(SCALES, next) && !isNumber) {
      section = 1;
      isNumber = true;
      continue;
    } else if (word === 'and' && isNumber && valueOfWord(next) !== undefined && section % 100 === 0) continue;
    else break;
    end = at + 1;
  }
  return isNumber && end > start ? { value: total + section, end } : undefined;
}
