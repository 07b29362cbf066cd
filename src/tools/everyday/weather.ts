import { concatMap, map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../../adapters/failures.js';
import { ownObject, ownValue } from '../../dsl/json-copy.js';
import type { Json, JsonObject } from '../../json.js';
import { entered } from '../fields.js';
import { pairsTable } from '../results.js';
import { defineTool, type ToolCall, type ToolEvent, toolResult } from '../tool.js';
import { askJson, baseUrlOf, listAt, numberAt, objectOf, textAt } from '../upstream.js';

const GEOCODING_URL = 'https://geocoding-api.open-meteo.com';
const FORECAST_URL = 'https://api.open-meteo.com';

/** Days that Open-Meteo knows, before and after today. */
const PAST_DAYS = 92;
const FUTURE_DAYS = 15;
const DAY_MS = 86_400_000;

/** Where a city is. */
interface Place {
  readonly name: string;
  readonly country: string;
  readonly latitude: number;
  readonly longitude: number;
}

/** Cities that need no look-up, by their names in English and in Chinese. */
const CITIES: readonly (readonly [english: string, chinese: string, latitude: number, longitude: number])[] = [
  ['Beijing', '北京', 39.9042, 116.4074],
  ['Shanghai', '上海', 31.2304, 121.4737],
  ['Guangzhou', '广州', 23.1291, 113.2644],
  ['Shenzhen', '深圳', 22.5431, 114.0579],
  ['Hangzhou', '杭州', 30.2741, 120.1551],
  ['Chengdu', '成都', 30.5728, 104.0668],
  ['Wuhan', '武汉', 30.5928, 114.3055],
  ["Xi'an", '西安', 34.3416, 108.9398],
  ['Nanjing', '南京', 32.0603, 118.7969],
  ['Chongqing', '重庆', 29.563, 106.5516],
  ['Tianjin', '天津', 39.3434, 117.3616],
  ['Suzhou', '苏州', 31.2989, 120.5853],
  ['Changsha', '长沙', 28.2282, 112.9388],
  ['Qingdao', '青岛', 36.0671, 120.3826],
  ['Xiamen', '厦门', 24.4798, 118.0894],
];

/** What the codes of the WMO mean, as Open-Meteo uses them. */
const SKIES: Readonly<Record<number, string>> = {
  0: 'clear sky',
  1: 'mainly clear',
  2: 'partly cloudy',
  3: 'overcast',
  45: 'fog',
  48: 'fog with rime',
  51: 'light drizzle',
  53: 'drizzle',
  55: 'dense drizzle',
  56: 'light freezing drizzle',
  57: 'freezing drizzle',
  61: 'slight rain',
  63: 'rain',
  65: 'heavy rain',
  66: 'light freezing rain',
  67: 'freezing rain',
  71: 'slight snow',
  73: 'snow',
  75: 'heavy snow',
  77: 'snow grains',
  80: 'slight showers',
  81: 'showers',
  82: 'violent showers',
  85: 'slight snow showers',
  86: 'snow showers',
  95: 'thunderstorm',
  96: 'thunderstorm with hail',
  99: 'thunderstorm with heavy hail',
};

const CURRENT = 'temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m';
const DAILY =
  'weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Gives the weather of a city through Open-Meteo, which needs no key. Errors: `TOOL_FAILED` for a city that is not known, for a
 * date that is none or that Open-Meteo does not cover, and when it cannot be asked.
 */
export const weather = defineTool({
  component: 'Weather',
  name: 'weather',
  summary: 'Gives the weather in a city, now or on a day within the next two weeks.',
  advice: 'Give the city alone, without its country. Leave out the date for the weather now.',
  arguments: {
    city: z.string().trim().min(1).describe('Name of the city, in any language.'),
    date: z
      .preprocess(entered, z.string().trim().optional())
      .describe(
        'The day: today, tomorrow, day_after_tomorrow, yesterday, a weekday such as monday, weekend, or YYYY-MM-DD; default now.',
      ),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'The weather, as a table in Markdown.' },
    json: {
      type: 'object',
      description:
        '`city`, `country`, `date` or `time`, `sky`, temperatures in °C, precipitation in mm, wind in km/h; a weekend has `days`.',
    },
  },
  timeoutSeconds: 12,
  call({ city, date }, call): Observable<ToolEvent> {
    return findPlace(city, call).pipe(concatMap((place) => weatherAt(place, date, call)));
  },
});

type Call = ToolCall<object>;

function findPlace(city: string, call: Call): Observable<Place> {
  const wanted = foldName(city);
  const known = CITIES.find(([english, chinese]) => foldName(english) === wanted || foldName(chinese) === wanted);
  if (known !== undefined) {
    const [name, , latitude, longitude] = known;
    return of({ name, country: 'China', latitude, longitude });
  }
  const language = /\p{Script=Han}/u.test(city) ? 'zh' : 'en';
  return askJson(weather, call, {
    url: `${baseUrlOf(weather, call.services, GEOCODING_URL)}/v1/search`,
    query: { name: city, count: 1, language, format: 'json' },
    timeoutSeconds: 6,
    attempts: 2,
  }).pipe(map((answer) => placeIn(objectOf(answer), city)));
}

/** Without blanks, marks and the character for "city". */
function foldName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s'’-]/g, '');
  return plain.length > 2 && plain.endsWith('市') ? plain.slice(0, -1) : plain;
}

function placeIn(answer: JsonObject, city: string): Place {
  const [first] = listAt(answer, 'results') ?? [];
  const [latitude, longitude] = [numberAt(first, 'latitude'), numberAt(first, 'longitude')];
  if (latitude === undefined || longitude === undefined) {
    throw toolFailed(`no place is called ${JSON.stringify(city.slice(0, 100))}`);
  }
  return { name: textAt(first, 'name') || city, country: textAt(first, 'country'), latitude, longitude };
}

function weatherAt(place: Place, date: string | undefined, call: Call): Observable<ToolEvent> {
  const { latitude, longitude } = place;
  const days = date === undefined ? undefined : readDate(date);
  return askJson(weather, call, {
    url: `${baseUrlOf(weather, call.services, FORECAST_URL)}/v1/forecast`,
    query: {
      latitude,
      longitude,
      timezone: 'auto',
      ...(days === undefined ? { current: CURRENT } : { daily: DAILY, ...rangeOf(days, call.now()) }),
    },
    timeoutSeconds: 6,
    attempts: 2,
  }).pipe(
    map((answer) => {
      const found = objectOf(answer);
      return days === undefined ? nowResult(place, found) : dayResult(place, found, days, call.now());
    }),
  );
}

/** Which days are meant, seen from the day at the place: by distance, by weekday, or by date. */
type Days =
  | { readonly type: 'offset'; readonly days: number }
  | { readonly type: 'weekday'; readonly weekdays: readonly number[] }
  | { readonly type: 'date'; readonly iso: string };

const OFFSETS: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['tonight', 0],
  ['今天', 0],
  ['tomorrow', 1],
  ['明天', 1],
  ['day_after_tomorrow', 2],
  ['后天', 2],
  ['yesterday', -1],
  ['昨天', -1],
]);

function readDate(given: string): Days {
  const word = given.toLowerCase().replaceAll(' ', '_');
  const days = OFFSETS.get(word);
  if (days !== undefined) return { type: 'offset', days };
  if (word === 'weekend') return { type: 'weekday', weekdays: [6, 0] };
  const weekday = WEEKDAYS.indexOf(word);
  if (weekday !== -1) return { type: 'weekday', weekdays: [weekday] };
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(word) && dateOf(Date.parse(`${word}T00:00:00Z`)) === word;
  if (isDate) return { type: 'date', iso: word };
  throw toolFailed(
    `${JSON.stringify(given.slice(0, 40))} is no day; write today, tomorrow, day_after_tomorrow, yesterday, a weekday, weekend or YYYY-MM-DD`,
  );
}

function dateOf(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? new Date(milliseconds).toISOString().slice(0, 10) : '';
}

/** The part of the forecast to ask for; the zone of the place is not known yet, so there is a day more on both sides. */
function rangeOf(days: Days, now: number): Record<string, string | number> {
  if (days.type === 'date') {
    const distance = (Date.parse(`${days.iso}T00:00:00Z`) - now) / DAY_MS;
    if (distance < -PAST_DAYS || distance > FUTURE_DAYS) {
      throw toolFailed(
        `the weather of ${days.iso} is not known; dates go from ${PAST_DAYS} days ago to ${FUTURE_DAYS} days ahead`,
      );
    }
    return { start_date: days.iso, end_date: days.iso };
  }
  return { past_days: days.type === 'offset' && days.days < 0 ? 1 : 0, forecast_days: 9 };
}

function nowResult({ name, country }: Place, answer: JsonObject) {
  const current = ownObject(answer, 'current');
  if (current === undefined) throw toolFailed('the answer holds no weather');
  const json: JsonObject = {
    city: name,
    country,
    time: textAt(current, 'time'),
    sky: skyOf(numberAt(current, 'weather_code')),
    temperature: numberAt(current, 'temperature_2m') ?? null,
    feels_like: numberAt(current, 'apparent_temperature') ?? null,
    humidity: numberAt(current, 'relative_humidity_2m') ?? null,
    precipitation: numberAt(current, 'precipitation') ?? null,
    wind: numberAt(current, 'wind_speed_10m') ?? null,
  };
  return resultOf(pairsTable(json), json);
}

function dayResult({ name, country }: Place, answer: JsonObject, wanted: Days, now: number) {
  const daily = ownObject(answer, 'daily');
  const dates = (listAt(daily, 'time') ?? []).map(String);
  const localToday = dateOf(now + (numberAt(answer, 'utc_offset_seconds') ?? 0) * 1_000);
  const found = dates.flatMap((date, index) => (isWanted(wanted, date, localToday, dates) ? [index] : []));
  const days = found.map((index): JsonObject => {
    const at = (field: string): Json => (ownValue(daily, field) as readonly Json[] | undefined)?.[index] ?? null;
    const code = at('weather_code');
    return {
      date: dates[index] ?? '',
      sky: skyOf(typeof code === 'number' ? code : undefined),
      temperature_max: at('temperature_2m_max'),
      temperature_min: at('temperature_2m_min'),
      precipitation: at('precipitation_sum'),
      precipitation_probability: at('precipitation_probability_max'),
      wind: at('wind_speed_10m_max'),
    };
  });
  const [first] = days;
  if (first === undefined) throw toolFailed('the answer holds no weather of that day');
  const place = { city: name, country };
  if (days.length === 1) return resultOf(pairsTable({ ...place, ...first }), { ...place, ...first });
  const tables = days.map((day) => pairsTable({ ...place, ...day }));
  return resultOf(tables.join('\n\n'), { ...place, days });
}

/** A weekday is the next one of its name, today included. */
function isWanted(wanted: Days, date: string, today: string, dates: readonly string[]): boolean {
  if (wanted.type === 'date') return date === wanted.iso;
  const distance = Math.round((Date.parse(date) - Date.parse(today)) / DAY_MS);
  if (wanted.type === 'offset') return distance === wanted.days;
  if (distance < 0) return false;
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay();
  if (!wanted.weekdays.includes(weekday)) return false;
  // On the Sunday of a weekend its Saturday is over; of two of a name the nearer is meant.
  const isSunday = new Date(`${today}T00:00:00Z`).getUTCDay() === 0;
  if (wanted.weekdays.length > 1 && isSunday) return distance === 0;
  return distance < 7 && dates.includes(date);
}

function skyOf(code: number | undefined): string {
  return (code === undefined ? undefined : SKIES[code]) ?? 'unknown';
}

function resultOf(text: string, json: JsonObject) {
  return toolResult(text, { formalized_content: text, json });
}
