/** Arithmetic in words as an expression: 三百的20% is 20%*300, "15 percent of 80" is 15%*80. */
import { plainSigns } from '../../../tools/everyday/arithmetic.js';
import { chineseNumber, NUMERAL_SIGNS, withEnglishNumbers } from './numerals.js';

/** A number, a bracket around few things, or a percentage. */
const N = String.raw`((?:\d[\d,]*(?:\.\d+)?|\([^()]{1,60}\))%?)`;
const rule = (pattern: string, expression: string): readonly [RegExp, string] => [new RegExp(pattern, 'g'), expression];

/** In this order, each once over the text. */
const CHINESE: readonly (readonly [RegExp, string])[] = [
  rule(String.raw`§\s*(\d[\d,]*(?:\.\d+)?)`, '$1%'),
  rule(String.raw`(\d+)\s*分之\s*(\d+)`, '($2/$1)'),
  rule(String.raw`${N}\s*打\s*([1-9])\s*折`, '$1*0.$2'),
  rule(String.raw`${N}\s*打\s*([1-9])([1-9])\s*折`, '$1*0.$2$3'),
  rule(String.raw`${N}\s*的\s*${N}\s*(?:次方|次幂)`, '$1^$2'),
  rule(String.raw`${N}\s*的\s*平方根`, 'sqrt($1)'),
  rule(String.raw`${N}\s*的\s*(?:立方根|三次方根)`, '$1^(1/3)'),
  rule(String.raw`${N}\s*(?:开平方|开方|开根号)`, 'sqrt($1)'),
  rule(String.raw`根号\s*${N}`, 'sqrt($1)'),
  rule(String.raw`${N}\s*的?\s*平方`, '$1^2'),
  rule(String.raw`${N}\s*的?\s*立方`, '$1^3'),
  rule(String.raw`${N}\s*的\s*绝对值`, 'abs($1)'),
  rule(String.raw`${N}\s*的\s*一半`, '$1/2'),
  rule(String.raw`${N}\s*的\s*(\d[\d,]*(?:\.\d+)?%)`, '$2*$1'),
  rule(String.raw`${N}\s*的\s*(\(\d+/\d+\))`, '$2*$1'),
  rule(String.raw`${N}\s*的\s*(\d+(?:\.\d+)?)\s*倍`, '$1*$2'),
  rule(String.raw`${N}\s*(?:和|与|跟)\s*${N}\s*(?:的|相加)?(?:和|之和|总和)?(?:相加)`, '$1+$2'),
  rule(String.raw`${N}\s*(?:和|与|跟)\s*${N}\s*(?:的|之)(?:总?和)`, '$1+$2'),
  rule(String.raw`${N}\s*(?:和|与|跟)\s*${N}\s*(?:的|之)差`, '$1-$2'),
  rule(String.raw`${N}\s*(?:和|与|跟)\s*${N}\s*(?:的|之)(?:乘?积)|${N}\s*(?:和|与|跟)\s*${N}\s*相乘`, '$1$3*$2$4'),
  rule(String.raw`${N}\s*(?:和|与|跟)\s*${N}\s*(?:的|之)商`, '$1/$2'),
  rule('再?加上|再?加', '+'),
  rule('再?减去|再?减掉|再?减', '-'),
  rule('再?乘以|再?乘上|再?乘', '*'),
  rule('再?除以', '/'),
  rule('取余|求余', '%'),
];

const ENGLISH: readonly (readonly [RegExp, string])[] = [
  rule(String.raw`(\d)\s*(?:percent|per cent|pct)\b`, '$1%'),
  rule(String.raw`(\d[\d,]*(?:\.\d+)?%)\s*off(?: of)?\s*${N}`, '$2*(1-$1)'),
  rule(String.raw`(\d[\d,]*(?:\.\d+)?%)\s*of\s*(?:the )?${N}`, '$1*$2'),
  rule(String.raw`\bhalf of\s*${N}`, '$1/2'),
  rule(String.raw`\b(?:a |one )?third of\s*${N}`, '$1/3'),
  rule(String.raw`\b(?:a |one )?quarter of\s*${N}`, '$1/4'),
  rule(String.raw`\b(?:twice|double)\s*${N}`, '2*$1'),
  rule(String.raw`\bsum of\s*${N}\s*and\s*${N}`, '$1+$2'),
  rule(String.raw`\bproduct of\s*${N}\s*and\s*${N}`, '$1*$2'),
  rule(String.raw`\bdifference (?:between|of)\s*${N}\s*and\s*${N}`, '$1-$2'),
  rule(String.raw`\bsquare root of\s*(?:the )?${N}`, 'sqrt($1)'),
  rule(String.raw`\bcube root of\s*${N}`, '$1^(1/3)'),
  rule(String.raw`\b(?:natural log(?:arithm)?) of\s*${N}`, 'ln($1)'),
  rule(String.raw`\b(?:log(?:arithm)?|log10) of\s*${N}`, 'log($1)'),
  rule(String.raw`\bsine? of\s*${N}`, 'sin($1)'),
  rule(String.raw`\bcos(?:ine)? of\s*${N}`, 'cos($1)'),
  rule(String.raw`\btan(?:gent)? of\s*${N}`, 'tan($1)'),
  rule(String.raw`\babsolute value of\s*(-?\d[\d,.]*)`, 'abs($1)'),
  rule(String.raw`\b(sqrt|abs|exp|ln|floor|ceil|round) of\s*${N}`, '$1($2)'),
  rule(String.raw`\b(sqrt|ln|log|exp|abs) (\d[\d,]*(?:\.\d+)?)`, '$1($2)'),
  rule(String.raw`\b(?:raised )?to the power (?:of )?|\braised to\b`, '^'),
  rule(String.raw`\bto the (\d+)(?:st|nd|rd|th)(?: power)?`, '^$1'),
  rule(String.raw`\s*\bsquared\b`, '^2'),
  rule(String.raw`\s*\bcubed\b`, '^3'),
  rule(String.raw`\bdivided by\b|\bover\b`, '/'),
  rule(String.raw`\bmultiplied by\b|\btimes\b`, '*'),
  rule(String.raw`\bplus\b|\badded to\b`, '+'),
  rule(String.raw`\bminus\b|\bless\b`, '-'),
  rule(String.raw`\b(?:modulo|mod)\b`, '%'),
];

/** Numerals that are not part of a word such as 一下 or 万一. */
const NUMERALS = new RegExp(`[${NUMERAL_SIGNS}]+`, 'g');
const DIGITS_AND_UNIT = /(\d[\d,]*(?:\.\d+)?)\s*([百千万亿]+)/g;
const UNITS: Readonly<Record<string, number>> = { 百: 100, 千: 1_000, 万: 10_000, 亿: 100_000_000 };

/** Signs between digits that are not letters there: 3 x 5. */
const CROSS = /(?<=[\d)])\s*x\s*(?=[\d(])/g;

/** Words of an expression in our signs; what is no part of one is left as it is. */
export function withSigns(lower: string): string {
  // The 百 of a percentage is no hundred.
  const numbers = withNumbers(plainSigns(lower).replaceAll('百分之', '§'));
  const signs = [...CHINESE, ...ENGLISH].reduce(
    (left, [pattern, expression]) => left.replaceAll(pattern, expression),
    numbers,
  );
  return signs.replaceAll(CROSS, '*');
}

/** Numbers in words as digits. */
export function withNumbers(lower: string): string {
  const units = lower.replaceAll(DIGITS_AND_UNIT, (all, digits: string, signs: string) => {
    const scale = [...signs].reduce((product, sign) => product * (UNITS[sign] ?? Number.NaN), 1);
    const value = Number(digits.replaceAll(',', '')) * scale;
    return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : all;
  });
  const chinese = units.replaceAll(NUMERALS, (signs) => String(chineseNumber(signs) ?? signs));
  return /[a-z]/.test(chinese) ? withEnglishNumbers(chinese) : chinese;
}
