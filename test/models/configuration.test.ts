import { describe, expect, it } from 'vitest';
import type { ModelsConfiguration } from '../../src/models/configuration.js';
import { type Environment, modelsFromEnvironment } from '../../src/settings/read-settings.js';

const read = (env: Environment, file?: unknown): Promise<ModelsConfiguration> =>
  modelsFromEnvironment(env, async (path) => {
    if (path !== 'models.json') throw new Error(`ENOENT: ${path}`);
    return typeof file === 'string' ? file : JSON.stringify(file);
  });

const withFile = (file: unknown, env: Environment = {}) => read({ RUNNEL_MODELS: 'models.json', ...env }, file);

describe('modelsFromEnvironment', () => {
  it('has a default for everything', async () => {
    expect(await read({ OPENAI_BASE_URL: '', OPENAI_API_KEY: undefined })).toEqual({
      providers: [],
      defaultProvider: undefined,
      defaults: {},
      script: undefined,
      visionModels: [],
      contextLengths: {},
      routes: {},
      prices: {},
      maxRetries: 0,
      retryDelayMs: 2_000,
      idleTimeoutMs: 600_000,
      maxConcurrentChats: 10,
    });
  });

  it('reads routes, as lists and with bounds, and prices', async () => {
    const { routes, prices } = await withFile({
      routes: { chat: ['a@X', 'b@Y'], summary: { targets: ['b@Y'], after_tokens: 'fail', attempts: 2, max_cost: 0.5 } },
      prices: { 'a@X': { prompt: 2.5, completion: 10 } },
    });
    expect(routes).toEqual({
      chat: { targets: ['a@X', 'b@Y'] },
      summary: { targets: ['b@Y'], afterTokens: 'fail', attempts: 2, maxCost: 0.5 },
    });
    expect(prices).toEqual({ 'a@X': { prompt: 2.5, completion: 10 } });
  });

  it.each([
    ['no target', { chat: [] }],
    ['a target twice', { chat: ['a', 'a'] }],
    ['another route as a target', { chat: ['route:other'] }],
    ['a name that is no word', { 'My Route': ['a'] }],
    ['an unknown way to go on', { chat: { targets: ['a'], after_tokens: 'again' } }],
    ['no attempt', { chat: { targets: ['a'], attempts: 0 } }],
  ])('refuses a route with %s', async (_, routes) => {
    await expect(withFile({ routes })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('reads the variables, seconds as milliseconds', async () => {
    const env = { LLM_MAX_RETRIES: '3', LLM_BASE_DELAY: '0.5', LLM_TIMEOUT_SECONDS: '30', MAX_CONCURRENT_CHATS: '2' };
    expect(await read(env)).toMatchObject({
      maxRetries: 3,
      retryDelayMs: 500,
      idleTimeoutMs: 30_000,
      maxConcurrentChats: 2,
    });
  });

  it('makes a default provider of a base URL, a key, or both', async () => {
    const provider = async (env: Environment) => (await read(env)).defaultProvider;
    expect(await provider({ OPENAI_BASE_URL: 'http://localhost:1/v1' })).toMatchObject({
      baseUrl: 'http://localhost:1/v1',
      apiKey: undefined,
    });
    expect(await provider({ OPENAI_API_KEY: 'sk' })).toMatchObject({
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'sk',
    });
  });

  it('reads the file', async () => {
    const configuration = await withFile(
      {
        factories: {
          Acme: { base_url: 'https://acme.test/v1', api_key: 'k1', models: ['a1'], headers: { 'x-a': 'b' } },
          'eu@Acme': { base_url: 'https://eu.acme.test/v1', api_key_env: 'ACME_EU', stream_usage: false },
        },
        defaults: { chat: 'a1@Acme' },
        scripted: { rules: [{ reply: 'hi' }] },
        vision_models: ['a1'],
        context_lengths: { a1: 1000 },
      },
      { ACME_EU: 'k2' },
    );
    expect(configuration).toMatchObject({
      providers: [
        { name: 'Acme', baseUrl: 'https://acme.test/v1', apiKey: 'k1', models: ['a1'], streamUsage: true },
        { name: 'eu@Acme', apiKey: 'k2', models: [], headers: {}, streamUsage: false },
      ],
      defaults: { chat: 'a1@Acme' },
      script: { rules: [{ reply: 'hi', when: {} }] },
      visionModels: ['a1'],
      contextLengths: { a1: 1000 },
    });
  });

  it.each([
    [
      'a file that is not there',
      { RUNNEL_MODELS: 'gone.json' },
      undefined,
      'gone.json" of RUNNEL_MODELS cannot be read',
    ],
    ['a file that is no JSON', {}, '{"api_key": "sk-secret", oops', 'is not valid JSON: line 1, column 26.'],
    ['an unknown key', {}, { factory: {} }, 'factory: unknown key'],
    [
      'an unknown key of a factory',
      {},
      { factories: { A: { base_url: 'http://a', url: 'x' } } },
      'factories.A.url: unknown key',
    ],
    ['a factory without a base URL', {}, { factories: { A: { api_key: 'sk-secret' } } }, 'factories.A.base_url'],
    [
      'a base URL that is none',
      {},
      { factories: { A: { base_url: 'ftp://a' } } },
      'factories.A.base_url: must be an http',
    ],
    [
      'two keys',
      {},
      { factories: { A: { base_url: 'http://a', api_key: 'sk-secret', api_key_env: 'B' } } },
      'remove one',
    ],
    [
      'a variable that is not set',
      {},
      { factories: { A: { base_url: 'http://a', api_key_env: 'B' } } },
      'names "B", which is not set',
    ],
    [
      'twins',
      {},
      { factories: { A: { base_url: 'http://a' }, a: { base_url: 'http://a' } } },
      'two factories named "a"',
    ],
    ['a bad rule', {}, { scripted: { rules: [{ times: 'x' }] } }, 'scripted.rules[0].times'],
    ['a number that is none', { LLM_MAX_RETRIES: 'many' }, {}, 'LLM_MAX_RETRIES'],
    ['a negative number', { MAX_CONCURRENT_CHATS: '0' }, {}, 'MAX_CONCURRENT_CHATS'],
    ['a base URL without a scheme', { OPENAI_BASE_URL: 'localhost:1' }, {}, 'OPENAI_BASE_URL must be an http'],
  ])('refuses %s and shows no key', async (_, env: Environment, file, fragment) => {
    const error: Error = await withFile(file, env).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(fragment) });
    expect(error.message).not.toContain('sk-secret');
  });

  it('lists every problem at once', async () => {
    const failed = withFile({ a: 1, defaults: { chat: '' } });
    await expect(failed).rejects.toMatchObject({ details: { issues: [expect.any(String), 'a: unknown key'] } });
  });
});
