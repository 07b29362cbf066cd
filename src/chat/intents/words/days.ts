/** Days and years in what users write. */
import type { Utterance } from '../utterance.js';

const DAY_MS = 86_400_000;

/** Words for a day, the longer ones first, and what they mean; undefined for now. */
const WORDS: readonly (readonly [pattern: RegExp, day: string | undefined | ((now: number) => string)])[] = [
  [/大后天/, (now) => isoOf(now + 3 * DAY_MS)],
  [/大前天/, (now) => isoOf(now - 3 * DAY_MS)],
  [/后天|\bday after tomorrow\b|\bin two days\b/, 'day_after_tomorrow'],
  [/前天|\bday before yesterday\b/, (now) => isoOf(now - 2 * DAY_MS)],
  [/明天|明日|明早|明晚|明儿|翌日|\btomorrow\b|\btmrw\b|\btmr\b/, 'tomorrow'],
  [/昨天|昨日|昨晚|\byesterday\b|\blast night\b/, 'yesterday'],
  [/今天|今日|今晚|今儿|此刻|现在|当前|\btoday\b|\btonight\b|\bright now\b|\bcurrently\b|\bnow\b/, undefined],
  [/周末|\bweekend\b/, 'weekend'],
];

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const ENGLISH_WEEKDAY =
  /\b(next )?(?:(sun)(?:day)?|(mon)(?:day)?|(tue)(?:s|sday)?|(wed)(?:s|nesday)?|(thu)(?:r|rs|rsday)?|(fri)(?:day)?|(sat)(?:urday)?)\b/;
const CHINESE_WEEKDAY = /(下下?)?(?:个)?(?:周|星期|礼拜)([日天一二三四五六])/;
const ISO_DATE = /\b(\d{4})[-/年.](\d{1,2})[-/月.](\d{1,2})日?/;
const CHINESE_DATE = /(\d{1,2}|[一二三四五六七八九十]{1,3})月(\d{1,2}|[一二三四五六七八九十]{1,3})[日号]/;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const ENGLISH_DATE =
  /\b(?:(\d{1,2})(?:st|nd|rd|th)? (?:of )?)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?(?!\w)/;

/** A day in a text, and the text without its words. */
export interface DayFound {
  /** As the tool `weather` takes it; undefined for now, or when there is none. */
  readonly day?: string;
  readonly rest: string;
}

/** The day that words name. */
export function findDay({ lower, now }: Pick<Utterance, 'lower' | 'now'>): DayFound {
  const iso = ISO_DATE.exec(lower);
  if (iso !== null) return found(lower, iso[0], dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3])));
  const chinese = CHINESE_DATE.exec(lower);
  if (chinese !== null)
    return found(lower, chinese[0], dateOf(yearOf(now), toNumber(chinese[1]), toNumber(chinese[2])));
  const english = ENGLISH_DATE.exec(lower);
  const dayOfMonth = english?.[1] ?? english?.[3];
  if (english !== null && dayOfMonth !== undefined) {
    return found(lower, english[0], dateOf(yearOf(now), MONTHS.indexOf(english[2] ?? '') + 1, Number(dayOfMonth)));
  }
  const weekday = findWeekday(lower, now);
  if (weekday !== undefined) return weekday;
  for (const [pattern, meaning] of WORDS) {
    const word = pattern.exec(lower);
    if (word === null) continue;
    return found(lower, word[0], typeof meaning === 'function' ? meaning(now) : meaning);
  }
  return { rest: lower };
}

function findWeekday(lower: string, now: number): DayFound | undefined {
  const chinese = CHINESE_WEEKDAY.exec(lower);
  if (chinese !== null) {
    const weekday = '日一二三四五六'.indexOf((chinese[2] ?? '').replace('天', '日'));
    return found(lower, chinese[0], chinese[1] === undefined ? WEEKDAYS[weekday] : ofNextWeek(weekday, now));
  }
  const english = ENGLISH_WEEKDAY.exec(lower);
  if (english === null) return undefined;
  const weekday = english.slice(2).findIndex((name) => name !== undefined);
  return found(lower, english[0], english[1] === undefined ? WEEKDAYS[weekday] : ofNextWeek(weekday, now));
}

/** Weeks begin on Monday. */
function ofNextWeek(weekday: number, now: number): string {
  const today = (new Date(now).getUTCDay() + 6) % 7;
  return isoOf(now + (7 - today + ((weekday + 6) % 7)) * DAY_MS);
}

function found(lower: string, words: string, day: string | undefined): DayFound {
  const rest = lower.replace(words, ' ');
  return day === undefined ? { rest } : { day, rest };
}

function dateOf(year: number, month: number, day: number): string | undefined {
  const time = Date.UTC(year, month - 1, day);
  return Number.isFinite(time) && new Date(time).getUTCDate() === day ? isoOf(time) : undefined;
}

function toNumber(text = ''): number {
  const direct = Number(text);
  if (Number.isFinite(direct)) return direct;
  const digits = '一二三四五六七八九';
  const [tens, ones] = text.split('十');
  if (ones === undefined) return digits.indexOf(text) + 1;
  return (tens === '' ? 1 : digits.indexOf(tens ?? '') + 1) * 10 + (ones === '' ? 0 : digits.indexOf(ones) + 1);
}

function yearOf(now: number): number {
  return new Date(now).getUTCFullYear();
}

function isoOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
