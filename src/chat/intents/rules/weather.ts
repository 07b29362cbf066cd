import { NOTHING, type ToolRule, type Wanted } from '../rule.js';
import type { Utterance } from '../utterance.js';
import { findDay } from '../words/days.js';
import { findPlaces } from '../words/places.js';

/** Words that only weather is asked with. */
const CERTAIN =
  /天气|气象|下雨|有雨|降雨|下雪|降雪|有雪|刮风|雷阵雨|气温|带伞|打伞|晴天|阴天|雾霾|冷不冷|热不热|穿什么|天冷|天热|\bweather\b|\bforecast\b|\b(?:rain|raining|rainy|snow|snowing|snowy|sunny|cloudy|foggy|windy|humid|umbrella|drizzle|stormy)\b/;

/** Words of weather beside a place, and of other things elsewhere. */
const LIKELY =
  /温度|多少度|几度|几摄氏度|湿度|风力|风大|冷吗|热吗|很冷|很热|冷么|热么|有多冷|有多热|晴|有风|\btemperature\b|\bdegrees\b|\bhumidity\b|\bhow (?:hot|cold|warm|wet)\b|\b(?:hot|cold|warm|chilly|freezing)\b/;

/** What has a temperature beside the air. */
const OTHER =
  /模型|采样|参数|显卡|芯片|主板|cpu|gpu|机房|水温|体温|硬盘|\bmodel\b|\bllm\b|\bsampling\b|\bcpu\b|\bgpu\b|\bdisk\b|\bbrain\b|\bcloud\b|snowflake|rain ?bow|\b(?:sales|revenue|demand|budget) forecast|\bforecast (?:sales|revenue|demand)|\bweather the\b|天气预报员/;

/** Where the place stands in an English question, up to what cannot be one. */
const PLACE_EN = /\b(?:in|at|for|near|around|over|like in) ((?:[a-z\u00c0-\u024f][a-z\u00c0-\u024f.'-]{0,30} ?){1,4})/g;
const NO_PLACE_EN =
  /^(?:the|a|an|my|our|your|here|there|this|that|next|today|tonight|tomorrow|now|celsius|fahrenheit|degrees|me|us|it|general|town|city|area|outside|case|morning|afternoon|evening|night|weekend|week|coming|about|\d)\b/;
const TAIL_EN =
  /\s+(?:today|tonight|tomorrow|now|right|this|next|on|at|in|please|pls|be|going|looking|like|currently|weather|forecast|yesterday|during|over|the|for|and|or|later|again|thanks|thank|is|will|weekend|morning|afternoon|evening|day|when|if).*$/;

/** What stands around a place in Chinese. */
const AROUND_ZH =
  /天气预报|天气情况|天气|气象|气温|温度|湿度|风力|会不会|是不是|有没有|要不要|需不需要|会|要|是|有|下雨|降雨|下雪|雨|雪|雾霾|多少度|多少|几度|度|冷不冷|热不热|冷|热|晴|阴|怎么样|怎样|如何|什么样|咋样|好不好|好吗|好|带伞|打伞|情况|预报|那边|这边|那里|地区|外面|这里|我们|你们|我|你|他|当地|本地|附近|出门|适合|穿什么|衣服|天|在|去|到|和|跟|与|以及|还有|呢|吗|么|很|比较|更|哪个|哪|上午|下午|早上|中午|晚上|夜里|今|这|个|周|几|查|问|查询|看|告诉|报|市区|请|帮|想|知道|一下|下|的|了|啊|吧|呀|麻烦|再|也|另外|顺便|最近|未来|三|接下来/g;

/** Recognises questions about weather; a known city is given in English, any other as it is written. */
export const weatherRule: ToolRule = {
  tool: 'weather',
  find(utterance) {
    const { lower, isAboutMaking, follows } = utterance;
    const isCertain = CERTAIN.test(lower);
    const isAsked = isCertain || LIKELY.test(lower) || follows === 'weather';
    if (!isAsked || isAboutMaking || OTHER.test(lower)) return NOTHING;
    const { day, rest } = findDay(utterance);
    const cities = citiesIn(utterance, rest);
    const date = day === undefined ? {} : { date: day };
    if (cities.length > 0) return cities.map((city): Wanted => ({ args: { city, ...date } }));
    if (follows === 'weather' && !isCertain) return day === undefined ? NOTHING : [{ args: date, missing: ['city'] }];
    return isAskedAlone(lower) ? [{ args: date, missing: ['city'] }] : NOTHING;
  },
};

/** Without a place it must be weather by its name, or be asked of today or tomorrow. */
function isAskedAlone(lower: string): boolean {
  return /天气|气象|下雨|下雪|带伞|气温|\bweather\b|\bforecast\b|\bumbrella\b|\b(?:outside|today|tonight|tomorrow|weekend)\b|今天|明天|外面|\b(?:is|will) it\b/.test(
    lower,
  );
}

function citiesIn({ text, language, follows }: Utterance, rest: string): readonly string[] {
  const found = findPlaces(rest);
  const cities = found.filter(({ place }) => !place.isCountry);
  if (found.length > 0) return [...new Set((cities.length > 0 ? cities : found).map(({ place }) => place.name))];
  const named = language === 'zh' ? unknownCityZh(rest) : unknownCityEn(rest, follows === 'weather');
  return named === undefined ? [] : [asWritten(named, text)];
}

/** What is left of a short question when everything that is no place is gone. */
function unknownCityZh(rest: string): string | undefined {
  const left = rest
    .replaceAll(AROUND_ZH, ' ')
    .replaceAll(/[^\p{L}\s]/gu, ' ')
    .trim();
  const [only, more] = left.split(/\s+/);
  if (only === undefined || more !== undefined) return undefined;
  return /^(?:\p{Script=Han}{2,8}|[a-z][a-z]{2,20})$/u.test(only) ? only : undefined;
}

function unknownCityEn(rest: string, isFragment: boolean): string | undefined {
  for (const [, words = ''] of rest.matchAll(PLACE_EN)) {
    const name = ` ${words}`
      .replace(TAIL_EN, '')
      .trim()
      .replace(/[.']+$/, '');
    if (name.length > 1 && !NO_PLACE_EN.test(name)) return name;
  }
  const before =
    /^(?:(?:what is|what's|whats|how is|how's|show|get|check|the) )*((?:[a-z][a-z.'-]{2,20} ?){1,2})'?s? (?:weather|forecast|temperature)\b/.exec(
      rest,
    );
  const name = before?.[1]?.trim();
  if (
    name !== undefined &&
    !NO_PLACE_EN.test(name) &&
    !/^(?:what|how|is|will|any|current|local|show|check|get|tell)/.test(name)
  ) {
    return name.replace(/'s$/, '');
  }
  const fragment = isFragment
    ? /^(?:and |how about |what about )?([a-z][a-z '-]{2,30})$/.exec(rest.trim())?.[1]
    : undefined;
  return fragment === undefined || NO_PLACE_EN.test(fragment) ? undefined : fragment;
}

/** As the user wrote it; a name in small letters gets large ones. */
function asWritten(name: string, text: string): string {
  const at = text.toLowerCase().indexOf(name);
  const written = at === -1 ? name : text.slice(at, at + name.length);
  return written === name
    ? name.replaceAll(/(?<![a-z\u00c0-\u024f'])[a-z\u00c0-\u024f]/g, (letter) => letter.toUpperCase())
    : written;
}
