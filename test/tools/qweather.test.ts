import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { qweather } from '../../src/tools/qweather.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const NOW = { obsTime: '2025-11-20T09:56+08:00', temp: '8', text: '晴' };
const DAYS = [
  { fxDate: '2025-11-20', tempMax: '10' },
  { fxDate: '2025-11-21', tempMax: '11' },
];
const ADVICE = [{ date: '2025-11-20', type: '1', name: '运动指数', category: '较适宜', text: '风力较大' }];
const routes: Routes = {
  'GET /v2/city/lookup': { json: { code: '200', location: [{ name: '北京', id: '101010100' }] } },
  'GET /v7/weather/now': { json: { code: '200', now: NOW } },
  'GET /v7/weather/3d': { json: { code: '200', daily: DAYS } },
  'GET /v7/indices/1d': { json: { code: '200', daily: ADVICE } },
  'GET /v7/air/now': { json: { code: '200', now: { aqi: '46' } } },
};
const key = { web_apikey: 'weather-secret' };
const calling = { args: { query: '北京' }, params: key };

itBehavesAsUpstreamTool({ tool: qweather, calling, routes, attempts: 2 });

describe('qweather', () => {
  it.each([
    ['weather now', {}, '/v7/weather/now', {}, JSON.stringify(NOW), NOW],
    [
      'a forecast',
      { time_period: '3d' },
      '/v7/weather/3d',
      {},
      DAYS.map((day) => JSON.stringify(day)).join('\n'),
      DAYS,
    ],
    ['indices', { type: 'indices' }, '/v7/indices/1d', { type: '0' }, '2025-11-20\n运动指数: 较适宜, 风力较大', ADVICE],
    ['air', { type: 'airquality', time_period: '7d' }, '/v7/air/now', {}, '{"aqi":"46"}', { aqi: '46' }],
  ])('looks the place up and gives %s', async (_what, params, path, more, text, json) => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(qweather, upstream.origin, { ...calling, params: { ...key, lang: 'en', ...params } });
    expect(upstream.asked.map((one) => [one.path, one.query])).toEqual([
      ['/v2/city/lookup', { location: '北京', key: 'weather-secret', lang: 'en' }],
      [path, { location: '101010100', key: 'weather-secret', lang: 'en', ...more }],
    ]);
    expect(found).toMatchObject({ text, outputs: { formalized_content: text, json } });
    expect(found.outputs).not.toHaveProperty('_ERROR');
  });

  it.each([
    ['a place that is unknown', 'GET /v2/city/lookup', { code: '404' }, 'does not know this place'],
    ['an empty list of places', 'GET /v2/city/lookup', { code: '200', location: [] }, 'does not know this place'],
    ['a key that is refused', 'GET /v7/weather/now', { code: '401' }, 'refused the key'],
    ['a code without a meaning', 'GET /v7/weather/now', { code: '999' }, 'the code "999"'],
    ['no code at all', 'GET /v7/weather/now', {}, 'the code ""'],
  ])('answers with the problem: %s', async (_what, route, json, why) => {
    const upstream = await startUpstream({ ...routes, [route]: { json } });
    const { outputs, text } = await resultOf(qweather, upstream.origin, calling);
    expect(text).toMatch(/^\*\*Error\*\* /);
    expect(outputs).toMatchObject({ formalized_content: text, _ERROR: expect.stringContaining(why) });
  });

  it('judges the host of an account like every URL of a document', async () => {
    const params = { ...key, api_host: '127.0.0.1:8443' };
    const services = { http: createEgressClient() };
    expect(await errorOf(qweather, '', { ...calling, params, services })).toMatchObject({ code: 'URL_BLOCKED' });
  });

  it('needs a key, and nothing when it is asked nothing', async () => {
    const { message } = await errorOf(qweather, 'http://weather.invalid', { args: calling.args });
    expect(message).toBe('QWeather error: there is no key; set "web_apikey"');
    expect(await resultOf(qweather, 'http://weather.invalid', { args: { query: '' } })).toMatchObject({ text: '' });
  });
});
