import type { JsonObject } from '../../../json.js';
import { NOTHING, type ToolRule } from '../rule.js';
import type { Utterance } from '../utterance.js';
import { chineseNumber } from '../words/numerals.js';

const ASKED =
  /销售额|销售量|销售|销量|营业额|营业收入|营收|业绩|卖了|卖出|卖得|卖的|流水|\bsales\b|\brevenue\b|\bturnover\b|\b(?:did|do|have) we (?:sell|sold|made?)\b|\bsold\b|\bhow much (?:money )?(?:did|have|has|do) .{0,20}\b(?:sell|sold|earn|made?|make|took in|take in)\b/;

/** Sales as a word of other things. */
const OTHER =
  /销售(?:合同|人员|部门|经理|漏斗|话术|团队|策略|技巧|管理|流程|代表|渠道)|\bsales (?:pitch|funnel|force|team|manager|people|person|rep|process|strategy|tax|contract)|salesforce|营业(?:执照|时间)|employee turnover|staff turnover/;

const ORDINALS = '一二三四';
const QUARTER =
  /\bq([1-4])\b|(?:^|[^a-z])q([1-4])(?!\d)|第?([一二三四1-4])季度?|([一二三四1-4])季度|\b(first|second|third|fourth|1st|2nd|3rd|4th) quarter\b|\bquarter (?:number )?([1-4]|one|two|three|four)\b|首季/;
const QUARTER_WORDS: Readonly<Record<string, number>> = {
  first: 1,
  second: 2,
  third: 3,
  fourth: 4,
  '1st': 1,
  '2nd': 2,
  '3rd': 3,
  '4th': 4,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
};

const PERIODS: readonly (readonly [RegExp, string])[] = [
  [/上个?月|上月|前一个月|\b(?:last|previous|prior|past) month/, 'last_month'],
  [/本月|这个?月|当月|\b(?:this|current) month|\bmonth to date\b|\bmtd\b/, 'this_month'],
  [/去年|上一?年度?|上年|\b(?:last|previous|prior|past) year/, 'last_year'],
  [/今年|本年度?|当年|\b(?:this|current) year|\byear to date\b|\bytd\b/, 'this_year'],
];
const THIS_QUARTER = /本季度?|这个?季度|当季|\b(?:this|current) quarter/;
const LAST_QUARTER = /上一?个?季度|上季(?!度)|\b(?:last|previous|prior|past) quarter/;

/** Regions in Chinese stay Chinese; the others are named as the tool does. */
const REGIONS_ZH = /华北|华东|华南|华中|东北|西南|西北|西部|北方|南方/;
const REGIONS_EN =
  /\b(north[- ]?east|north[- ]?west|south[- ]?west|north|south|east|west|central)(?:ern)?\b(?! (?:korea|america|africa|pole))/;

/** Recognises questions about sales, by quarter, month or year, and region. */
export const salesRule: ToolRule = {
  tool: 'sales',
  find(utterance) {
    const { lower, isAboutMaking, follows } = utterance;
    const isAsked = ASKED.test(lower) || isPeriodAlone(utterance);
    if ((!isAsked && follows !== 'sales') || isAboutMaking || OTHER.test(lower)) return NOTHING;
    const period = periodIn(utterance);
    const region = regionIn(lower);
    if (period !== undefined) return [{ args: { ...period, ...region } }];
    const isQuestion =
      follows === 'sales' ? region.region !== undefined : isFigureAsked(lower) || region.region !== undefined;
    return isQuestion ? [{ args: region, missing: ['period'] }] : NOTHING;
  },
};

/** Without a period it must be clear that numbers are wanted. */
function isFigureAsked(lower: string): boolean {
  return /多少|怎么样|如何|情况|数据|查|看|统计|总额|报表|\bhow (?:much|many|are|is|were|was)\b|\bwhat (?:is|are|was|were)\b|\bwhat's\b|\bshow\b|\bfigures\b|\bnumbers\b|\breport\b|\btotal\b/.test(
    lower,
  );
}

/** "Q2 怎么样": a quarter and nothing else. */
function isPeriodAlone({ lower }: Utterance): boolean {
  return /^(?:\d{4}年?)?\s*q[1-4]\s*(?:怎么样|如何|情况|的情况|多少|呢)?$|^how (?:was|is|did) q[1-4](?: \d{4})?(?: go)?$/.test(
    lower,
  );
}

function periodIn({ lower, now }: Utterance): JsonObject | undefined {
  const thisYear = new Date(now).getUTCFullYear();
  const year = yearIn(lower, thisYear);
  const quarter = relativeQuarter(lower, now) ?? quarterIn(lower);
  if (typeof quarter === 'number') return { period: `Q${quarter}`, ...(year !== undefined && { year }) };
  if (quarter !== undefined) return quarter;
  const named = PERIODS.find(([pattern]) => pattern.test(lower))?.[1];
  if (named !== undefined) return { period: named };
  if (year === undefined) return undefined;
  return year === thisYear ? { period: 'this_year' } : { period: 'last_year', ...(year !== thisYear - 1 && { year }) };
}

function quarterIn(lower: string): number | undefined {
  const found = QUARTER.exec(lower);
  if (found === null) return undefined;
  if (found[0] === '首季') return 1;
  const word = found.slice(1).find((one) => one !== undefined) ?? '';
  if (Object.hasOwn(QUARTER_WORDS, word)) return QUARTER_WORDS[word];
  return ORDINALS.includes(word) ? ORDINALS.indexOf(word) + 1 : Number(word);
}

/** This quarter and the last have no word of their own in the tool. */
function relativeQuarter(lower: string, now: number): JsonObject | undefined {
  const today = new Date(now);
  const [year, quarter] = [today.getUTCFullYear(), Math.floor(today.getUTCMonth() / 3) + 1];
  if (THIS_QUARTER.test(lower)) return { period: `Q${quarter}` };
  if (!LAST_QUARTER.test(lower)) return undefined;
  return quarter === 1 ? { period: 'Q4', year: year - 1 } : { period: `Q${quarter - 1}` };
}

/** A year in digits, or beside a quarter in words. */
function yearIn(lower: string, thisYear: number): number | undefined {
  const digits = /(?<!\d)((?:19|20)\d\d)(?!\d)/.exec(lower)?.[1];
  if (digits !== undefined) return Number(digits);
  const inWords = /(?:一九|二[零〇○])[零〇○一二三四五六七八九]{2}(?=年)/.exec(lower)?.[0];
  if (inWords !== undefined) return chineseNumber(inWords.replaceAll('○', '〇'));
  const short = /(?<!\d)(\d\d)年/.exec(lower)?.[1];
  if (short !== undefined) return 2_000 + Number(short);
  const hasQuarter = QUARTER.test(lower);
  if (hasQuarter && /去年|上一?年|\b(?:last|previous) year/.test(lower)) return thisYear - 1;
  if (hasQuarter && /前年/.test(lower)) return thisYear - 2;
  return undefined;
}

function regionIn(lower: string): { readonly region?: string } {
  const chinese = REGIONS_ZH.exec(lower)?.[0];
  if (chinese !== undefined) return { region: chinese };
  const english = REGIONS_EN.exec(lower)?.[1];
  return english === undefined ? {} : { region: english.replaceAll(/[- ]/g, '') };
}
