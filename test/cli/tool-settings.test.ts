import { describe, expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { openServices, toolSettingsOf } from '../../src/cli/open-services.js';
import { describeSettings, type Environment, readSettings } from '../../src/settings/read-settings.js';
import { currency } from '../../src/tools/everyday/currency.js';
import { weather } from '../../src/tools/everyday/weather.js';
import { tavilySearch } from '../../src/tools/tavily-search.js';
import { resultOf, startUpstream } from '../tools/support/upstream.js';

const VARIABLES = describeSettings('tools').map(({ name }) => name);

const settingsOf = (env: Environment) => readSettings(env, 'stores', 'models', 'nodes', 'tools');

const readToolSettings = (env: Environment) => toolSettingsOf(settingsOf(env));

describe('settings of tools', () => {
  it('point tools elsewhere, by any of their names', () => {
    const urls = {
      TavilySearch: 'http://127.0.0.1:8080/',
      ' WIKIPEDIA ': 'https://wiki.example/base//',
      searxng: 'http://searx:4000',
      unknown: 'https://other.example',
    };
    expect(readToolSettings({ RUNNEL_TOOL_BASE_URLS: JSON.stringify(urls) }).baseUrls).toEqual({
      tavily_search: 'http://127.0.0.1:8080',
      wikipedia_search: 'https://wiki.example/base',
      searxng_search: 'http://searx:4000',
      unknown: 'https://other.example',
    });
  });

  it.each([undefined, '', '  ', '{}'])('point nowhere with %j', (text) => {
    expect(readToolSettings({ RUNNEL_TOOL_BASE_URLS: text }).baseUrls).toEqual({});
  });

  it.each([
    ['{"tavily_search": secret}', 'it is not valid JSON'],
    ['["https://a.example"]', 'it is not a JSON object'],
    ['{"tavily_search": 8080}', 'the value of "tavily_search" is not a text'],
    ['{"tavily_search": "tavily.example"}', 'the URL of "tavily_search"'],
    ['{"tavily_search": "ftp://tavily.example"}', 'its scheme is not http or https'],
    ['{"tavily_search": "https://me:secret@tavily.example"}', 'it has a user name or password in it'],
    ['{"tavily_search": "https://tavily.example/?secret=1"}', 'has a "?" or "#" in it'],
  ])('are refused at the start: %s', (text, problem) => {
    const read = () => settingsOf({ RUNNEL_TOOL_BASE_URLS: text });
    expect(read).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/^RUNNEL_TOOL_BASE_URLS must be a JSON object /),
      }),
    );
    expect(read).toThrow(problem);
    expect(read).not.toThrow('secret');
  });

  it.each([
    [weather, { city: 'Oslo' }, ['/v1/search', '/v1/forecast']],
    [currency, { from: 'USD', to: 'CNY' }, ['/v1/latest']],
  ] as const)('point the whole of an everyday tool elsewhere: $0.name', async (tool, args, paths) => {
    const upstream = await startUpstream({
      'GET /v1/search': { json: { results: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }] } },
      'GET /v1/forecast': { json: { current: { weather_code: 0 } } },
      'GET /v1/latest': { json: { rates: { CNY: 7 } } },
    });
    const settings = readToolSettings({ RUNNEL_TOOL_BASE_URLS: JSON.stringify({ [tool.component]: upstream.origin }) });
    await resultOf(tool, 'http://127.0.0.1:1', {
      args,
      services: { http: createEgressClient({ allowPrivateNetwork: false }), tools: settings },
    });
    expect(upstream.asked.map(({ path }) => path)).toEqual(paths);
  });

  it('give tools the variables that are listed, and no others', () => {
    const env = { ...Object.fromEntries(VARIABLES.map((name) => [name, `value of ${name}`])), OPENAI_API_KEY: 'no' };
    const { OPENAI_API_KEY: _, ...listed } = env;
    expect(readToolSettings(env).environment).toEqual(listed);
  });

  it('list every variable that a tool reads', () => {
    const read = readFiles('src/tools', '.ts').flatMap(({ text }) =>
      [...text.matchAll(/'([A-Z][A-Z0-9]*_[A-Z0-9_]*(?:KEY|URL|TOKEN))'/g)].map((match) => match[1] as string),
    );
    expect(read).toContain('TAVILY_API_KEY');
    expect(read.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });

  it('reach the tools of a run', async () => {
    const { origin, asked } = await startUpstream({ 'POST /search': { json: { results: [] } } });
    const env = { RUNNEL_TOOL_BASE_URLS: JSON.stringify({ tavily: origin }), TAVILY_API_KEY: 'from-env' };
    const { models, ...services } = await openServices(settingsOf(env));
    await resultOf(tavilySearch, '', { args: { query: 'x' }, services });
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer from-env']);
    await models.close();
  });
});
