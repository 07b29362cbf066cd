import { COURTESY, NOTHING, type ToolRule, without } from '../rule.js';
import type { Utterance } from '../utterance.js';
import { findPlaces } from '../words/places.js';

const ASKED_ZH =
  /几点钟?|什么时间|什么时候了|什么时辰|时间是?多少|报时|几月几[号日]|多少[号日]|几[号日](?!线|楼|店)|(?:今天|今日|当前|现在|当地)的?(?:日期|时间)|日期|星期几|周几|礼拜几|(?:现在|当前|当地|目前)时间|时间(?=$|呢)|什么日子|哪天|哪一天|几年几月/;
const ASKED_EN =
  /\bwhat time (?:is it|it is|would it be|is)\b|\bwhat's the (?:current |local |exact )?time\b|\bwhats the time\b|\bwhat is the (?:current |local |exact )?time\b|\bwhat time\b|\b(?:current|local|exact) (?:date and )?(?:time|date)\b|\btime (?:is it|now|right now)\b|\btime (?:in|at)\b|\b(?:date|day) (?:is it|today|is today)\b|\btoday's (?:date|day)\b|\bwhat (?:date|day|weekday|year|month)\b|\bwhat's the date\b|\bwhats the date\b|\bwhat is the date\b|\bdate (?:and time )?in\b|\bday of the week\b|\bthe time\b|\btell (?:me )?the time\b|\bclock\b|\bdate and time\b|\bdate today\b|\btime$|^date$|\bo'clock\b/;

/** Times of something else than the clock. */
const OTHER =
  /时间(?:复杂度|戳|轴|线|序列|片|限制|窗口|范围|格式|管理|安排|表)|超时|多长时间|多久|花.{0,4}时间|响应时间|(?:开始|结束|开会|上班|下班|开门|关门|营业|出发|到达|起飞|发车|截止|发布|更新|上线|创建|修改|完成|举行|放假|睡觉|起床|吃饭|见面|集合|运行|执行|备份)|\btime (?:complexity|zone ?s? work|limit|series|stamp|out|travel|budget|window)|\btimeout|\btimestamps?\b|\b(?:start|starts|begin|begins|end|ends|open|opens|close|closes|arrive|leave|leaves|depart|meeting|flight|train|backup|deadline|release|released|due|scheduled|schedule|run|runs|expire|expires|birthday|event|happen|happened|born|founded|created|updated)\b|\bhow (?:long|much time|many)\b|\btime (?:does|do|did|will|should)\b|\bfirst time\b|\bclock (?:speed|rate|injected)|\bthe time (?:to|that|when|of)\b|\bwhat (?:day|date|year|month) (?:was|were|did|does|do|will)\b|\bthe date (?:of|when|that)\b/;

/** Zones by abbreviation; CST is China's where Chinese is spoken. */
const ZONES: ReadonlyMap<string, string> = new Map([
  ['utc', 'UTC'],
  ['gmt', 'UTC'],
  ['格林威治', 'UTC'],
  ['格林尼治', 'UTC'],
  ['协调世界时', 'UTC'],
  ['pst', 'America/Los_Angeles'],
  ['pdt', 'America/Los_Angeles'],
  ['美西', 'America/Los_Angeles'],
  ['est', 'America/New_York'],
  ['edt', 'America/New_York'],
  ['美东', 'America/New_York'],
  ['jst', 'Asia/Tokyo'],
  ['kst', 'Asia/Seoul'],
  ['ist', 'Asia/Kolkata'],
  ['cet', 'Europe/Paris'],
  ['cest', 'Europe/Paris'],
  ['bst', 'Europe/London'],
  ['msk', 'Europe/Moscow'],
  ['aest', 'Australia/Sydney'],
  ['hkt', 'Asia/Hong_Kong'],
  ['sgt', 'Asia/Singapore'],
]);
const ZONE_WORD =
  /(?<![a-z])(?:utc|gmt|pst|pdt|est|edt|jst|kst|ist|cet|cest|bst|msk|aest|hkt|sgt)(?![a-z])|格林威治|格林尼治|协调世界时|美西|美东/;
const OFFSET = /(?:utc|gmt)\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?(?!\d)|(东|西)([一二三四五六七八九十]{1,2})区/;
const IANA =
  /\b(?:africa|america|antarctica|asia|atlantic|australia|europe|indian|pacific)\/[a-z_]{2,30}(?:\/[a-z_]{2,30})?/;

/** What else stands in such a question. */
const AROUND =
  /几点钟?|什么时间|什么时候|什么时辰|时间|日期|几月|几[号日]|星期几|周几|礼拜几|今天|今日|今年|当地|当前|多少|什么|日子|是|号|年|月|日|哪|天|时区|那边|那里|这边|这里|我们|你们|那儿|这会儿|钟|点|在|和|与|现|报时|我|你|们|\b(?:what's|whats|what|time|date|day|weekday|week|year|month|is|it|in|at|the|local|current|of|today|today's|there|here|over|for|to|clock|o'clock|and|tell|know|exact|zone|timezone|place|city|do|you|have|got|would|be|by|any|idea|a|an|'s|s)\b/g;

/** Recognises questions about the time and the date; places are given as time zones. */
export const datetimeRule: ToolRule = {
  tool: 'datetime',
  find(utterance) {
    const { lower, isAboutMaking, follows } = utterance;
    const isAsked = ASKED_ZH.test(lower) || ASKED_EN.test(lower);
    if ((!isAsked && follows !== 'datetime') || isAboutMaking || OTHER.test(lower)) return NOTHING;
    const places = findPlaces(lower);
    const zone = zoneIn(lower);
    const rest = places.reduceRight((left, { start, end }) => `${left.slice(0, start)} ${left.slice(end)}`, lower);
    // Without the words of the question nothing may be left: then it is about something else.
    const left = without(rest, OFFSET_ALL, ZONE_WORD_ALL, IANA_ALL, ...COURTESY, AROUND);
    if (left.replaceAll(/[^\p{L}\p{N}]/gu, '').length > 2) return NOTHING;
    if (zone !== undefined) return [{ args: { timezone: zone } }];
    const zones = [...new Set(places.map(({ place }) => place.timezone))];
    if (zones.length > 0) return zones.map((timezone) => ({ args: { timezone } }));
    return isAsked ? [{ args: { timezone: usualZone(utterance) } }] : NOTHING;
  },
};

const OFFSET_ALL = new RegExp(OFFSET, 'g');
const ZONE_WORD_ALL = new RegExp(ZONE_WORD, 'g');
const IANA_ALL = new RegExp(IANA, 'g');

/** The user's own, else that of the language. */
function usualZone({ timezone, language }: Utterance): string {
  return timezone ?? (language === 'zh' ? 'Asia/Shanghai' : 'UTC');
}

function zoneIn(lower: string): string | undefined {
  const offset = OFFSET.exec(lower);
  if (offset !== null) return offsetOf(offset);
  const iana = IANA.exec(lower)?.[0];
  if (iana !== undefined) return iana.replaceAll(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
  const word = ZONE_WORD.exec(lower)?.[0];
  return word === undefined ? undefined : ZONES.get(word);
}

function offsetOf([, sign, hours, minutes, side, ordinal = '']: RegExpExecArray): string {
  if (side === undefined) return `UTC${sign}${hours}${minutes === undefined ? '' : `:${minutes}`}`;
  const [tens, ones] = [ordinal.includes('十') ? 10 : 0, '一二三四五六七八九'.indexOf(ordinal.at(-1) ?? '') + 1];
  return `UTC${side === '东' ? '+' : '-'}${tens + ones}`;
}
