import { STOP_WORDS } from './stop-words.js';

/** The language that a text is mostly written in, as far as search tells them apart. */
export type Language = 'en' | 'zh' | 'ja' | 'ko' | 'other';

/** UTF-16 units from the beginning of a text that decide. */
const MAX_SAMPLE = 4_000;

/** Least share of Chinese among the letters of a text in Chinese: a page about software has many names in Latin letters. */
const CHINESE_SHARE = 0.2;
/** Least share of Japanese letters among the letters without spaces of a text in Japanese. */
const JAPANESE_SHARE = 0.1;
/** Least share of stop words among the words of an English text; other languages in Latin letters stay below 0.05. */
const ENGLISH_SHARE = 0.08;
/** Fewer words than these prove nothing: a title in plain Latin letters counts as English. */
const FEW_WORDS = 12;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** The language of a text by its letters, and by its short words where these are Latin. Looks at its first 4,000 units. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, MAX_SAMPLE);
  const letters = count(sample, /\p{L}/gu);
  if (letters === 0) return 'other';
  const han = count(sample, /\p{Script=Han}/gu);
  const kana = count(sample, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  if (kana > 0 && kana >= (han + kana) * JAPANESE_SHARE && (han + kana) / letters >= CHINESE_SHARE) return 'ja';
  if (han / letters >= CHINESE_SHARE) return 'zh';
  if (count(sample, /\p{Script=Hangul}/gu) / letters >= CHINESE_SHARE) return 'ko';
  if (count(sample, /\p{Script=Latin}/gu) / letters < 0.5) return 'other';
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < FEW_WORDS) return /[^\0-\x7f]/.test(sample.replace(/[^\p{L}]/gu, '')) ? 'other' : 'en';
  return words.filter((word) => STOP_WORDS.has(word)).length / words.length >= ENGLISH_SHARE ? 'en' : 'other';
}
