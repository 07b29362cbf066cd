import { describe, expect, it } from 'vitest';
import { weather } from '../../src/tools/everyday/weather.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const CURRENT = {
  utc_offset_seconds: 28_800,
  current: {
    time: '2026-11-21T20:00',
    temperature_2m: 7.5,
    apparent_temperature: 5.1,
    relative_humidity_2m: 40,
    precipitation: 0,
    weather_code: 2,
    wind_speed_10m: 9.3,
  },
};
// The clock of the calls stands at Saturday, 2026-11-21, 12:00 UTC.
const DATES = [20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map((day) => `2026-11-${day}`);
const DAILY = {
  utc_offset_seconds: 28_800,
  daily: {
    time: DATES,
    weather_code: DATES.map((_, index) => (index === 2 ? 61 : 3)),
    temperature_2m_max: DATES.map((_, index) => 10 + index),
    temperature_2m_min: DATES.map((_, index) => index),
    precipitation_sum: DATES.map((_, index) => index / 10),
    precipitation_probability_max: DATES.map((_, index) => index * 10),
    wind_speed_10m_max: DATES.map(() => 20),
  },
};
const OSLO = { results: [{ name: 'Oslo', country: 'Norway', latitude: 59.91, longitude: 10.75 }] };
const routes: Routes = {
  'GET /v1/forecast': ({ query }) => ({ json: query.current === undefined ? DAILY : CURRENT }),
  'GET /v1/search': { json: OSLO },
};

itBehavesAsUpstreamTool({ tool: weather, calling: { args: { city: 'Beijing' } }, routes, attempts: 2 });

const askFor = async (args: { city: string; date?: string | null }, with_: Routes = routes) => {
  const upstream = await startUpstream(with_);
  const { outputs, text } = await resultOf(weather, upstream.origin, { args });
  return { json: outputs.json, text, asked: upstream.asked };
};

describe('weather', () => {
  it('gives the weather now in a city that is built in, by one request', async () => {
    const { json, text, asked } = await askFor({ city: '北京市' });
    expect(asked.map(({ path, query }) => [path, query.latitude, query.longitude])).toEqual([
      ['/v1/forecast', '39.9042', '116.4074'],
    ]);
    expect(json).toEqual({
      city: 'Beijing',
      country: 'China',
      time: '2026-11-21T20:00',
      sky: 'partly cloudy',
      temperature: 7.5,
      feels_like: 5.1,
      humidity: 40,
      precipitation: 0,
      wind: 9.3,
    });
    expect(text).toContain('| sky | partly cloudy |');
  });

  it.each([
    ["Xi'an", "Xi'an"],
    ['XIAN', "Xi'an"],
    ['西安', "Xi'an"],
    ['chong qing', 'Chongqing'],
  ])('knows %s without a look-up', async (city, name) => {
    const { json, asked } = await askFor({ city });
    expect(json).toMatchObject({ city: name });
    expect(asked).toHaveLength(1);
  });

  it('looks other cities up, Chinese names in Chinese', async () => {
    const { json, asked } = await askFor({ city: 'Oslo' });
    expect(asked[0]?.query).toEqual({ name: 'Oslo', count: '1', language: 'en', format: 'json' });
    expect(asked[1]?.query).toMatchObject({ latitude: '59.91', longitude: '10.75', timezone: 'auto' });
    expect(json).toMatchObject({ city: 'Oslo', country: 'Norway' });
    expect((await askFor({ city: '奥斯陆' })).asked[0]?.query.language).toBe('zh');
  });

  it.each([
    ['today', '2026-11-21'],
    ['tomorrow', '2026-11-22'],
    ['day_after_tomorrow', '2026-11-23'],
    ['Day after tomorrow', '2026-11-23'],
    ['yesterday', '2026-11-20'],
    ['monday', '2026-11-23'],
    ['saturday', '2026-11-21'],
    ['明天', '2026-11-22'],
  ])('takes %s for the day at the place', async (date, day) => {
    const { json } = await askFor({ city: 'Beijing', date });
    const index = DATES.indexOf(day);
    expect(json).toMatchObject({ city: 'Beijing', date: day, temperature_max: 10 + index, temperature_min: index });
  });

  it('counts days by the clock of the place, where another day has begun', async () => {
    const late = { ...DAILY, utc_offset_seconds: 13 * 3_600 };
    const { json } = await askFor({ city: 'Beijing', date: 'today' }, { 'GET /v1/forecast': { json: late } });
    expect(json).toMatchObject({ date: '2026-11-22', sky: 'slight rain' });
  });

  it('gives both days of a weekend', async () => {
    const { json } = await askFor({ city: 'Beijing', date: 'weekend' });
    expect(json).toMatchObject({ days: [{ date: '2026-11-21' }, { date: '2026-11-22' }] });
  });

  it('asks for one date alone', async () => {
    const { asked, json } = await askFor({ city: 'Beijing', date: '2026-11-25' });
    expect(asked[0]?.query).toMatchObject({ start_date: '2026-11-25', end_date: '2026-11-25' });
    expect(json).toMatchObject({ date: '2026-11-25' });
  });

  it('gives the weather now when the date is empty', async () => {
    expect((await askFor({ city: 'Beijing', date: null })).json).toMatchObject({ time: '2026-11-21T20:00' });
  });

  it.each<[string, { city: string; date?: string }, Routes, string]>([
    [
      'a place that there is not',
      { city: 'Nowhereville' },
      { 'GET /v1/search': { json: {} } },
      'no place is called "Nowhereville"',
    ],
    ['a day that is none', { city: 'Beijing', date: 'someday' }, routes, '"someday" is no day'],
    ['a date that is none', { city: 'Beijing', date: '2026-02-30' }, routes, '"2026-02-30" is no day'],
    ['a date too far ahead', { city: 'Beijing', date: '2027-06-01' }, routes, 'is not known; dates go from'],
    ['an answer without weather', { city: 'Beijing' }, { 'GET /v1/forecast': { json: {} } }, 'holds no weather'],
  ])('says so for %s', async (_what, args, with_, message) => {
    const upstream = await startUpstream(with_);
    const error = await errorOf(weather, upstream.origin, { args });
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining(message) });
  });

  it('needs a city', async () => {
    expect(await errorOf(weather, '', { args: { city: ' ' } })).toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });
});
