import { describe, expect, it } from 'vitest';
import { describeGroups, readConfig, readSettings } from '../../src/settings/read-settings.js';

describe('readConfig', () => {
  it('has a default for everything; an empty variable counts as unset', () => {
    expect(readConfig({ RUNNEL_PORT: '', RUNNEL_API_KEYS: ' ' })).toMatchObject({
      host: 'localhost',
      port: 9380,
      apiKeys: [],
      corsOrigins: [],
      detachGraceMs: 30_000,
      runTimeoutMs: 3_600_000,
      runLogBytes: 268_435_456,
      jsonBytes: 16_777_216,
      uploadBytes: 67_108_864,
      frameBytes: 1_048_576,
    });
  });

  it('reads keys with and without a tenant, and keys that end in padding', () => {
    const { apiKeys } = readConfig({
      RUNNEL_API_KEYS: 'plain-and-long-key, acme=s3cret-of-16-more ,cGFkZGVkIGtleQ==,b=cGFkZGVkIGtleTI=',
    });
    expect(apiKeys).toEqual([
      { tenant: 'local', key: 'plain-and-long-key' },
      { tenant: 'acme', key: 's3cret-of-16-more' },
      { tenant: 'local', key: 'cGFkZGVkIGtleQ==' },
      { tenant: 'b', key: 'cGFkZGVkIGtleTI=' },
    ]);
  });

  it.each([
    [{ RUNNEL_PORT: '99999' }, 'RUNNEL_PORT must be a whole number from 0 to 65535; received "99999"'],
    [{ RUNNEL_PORT: '1e3' }, 'received "1e3"'],
    [{ RUNNEL_RUN_TIMEOUT_MS: '0' }, 'RUNNEL_RUN_TIMEOUT_MS must be a whole number from 1'],
    [{ RUNNEL_HOST: '0.0.0.0' }, 'there are no keys; set RUNNEL_API_KEYS'],
    [{ RUNNEL_CORS_ORIGINS: '*' }, 'set RUNNEL_API_KEYS, or name the origins'],
    [{ RUNNEL_CORS_ORIGINS: 'app.example' }, 'must name origins'],
    [{ RUNNEL_CORS_ORIGINS: 'https://app.example/path' }, 'must name origins'],
    [{ RUNNEL_API_KEYS: 'a-key-of-16-or-more,,b' }, 'entry 2 is empty'],
    [{ RUNNEL_API_KEYS: 'x=a-key-of-16-or-more,y=a-key-of-16-or-more' }, 'entry 2 repeats a key'],
    [
      { RUNNEL_API_KEYS: 'x=a-key-of-16-or-more,y=fifteen-letters' },
      'RUNNEL_API_KEYS is not valid: entry 2 has a key of 15 characters; keys have at least 16',
    ],
    [{ RUNNEL_API_KEYS: '../x=key' }, 'entry 1 has a tenant'],
  ])('refuses %o', (env, message) => {
    expect(() => readConfig(env)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(() => readConfig(env)).toThrow(message);
  });

  it('names every problem at once, and shows no key', () => {
    const env = { RUNNEL_PORT: 'x', RUNNEL_API_KEYS: 'sec ret', RUNNEL_MAX_RUNS: '0' };
    expect(() => readConfig(env)).toThrow(/RUNNEL_PORT[\s\S]*RUNNEL_API_KEYS[\s\S]*RUNNEL_MAX_RUNS/);
    expect(() => readConfig(env)).not.toThrow(/sec ret/);
    expect(() => readConfig({ RUNNEL_API_KEYS: 'acme=sh0rt' })).not.toThrow(/sh0rt/);
  });

  it('listens elsewhere than on loopback with keys', () => {
    const env = { RUNNEL_HOST: '0.0.0.0', RUNNEL_API_KEYS: 'a-key-of-16-or-more', RUNNEL_CORS_ORIGINS: '*' };
    expect(readConfig(env).host).toBe('0.0.0.0');
  });

  it('names the problems of all groups at once, with what was received unless it is secret', () => {
    const env = {
      RUNNEL_PORT: 'x',
      RUNNEL_KEEP_RUNS_DAYS: 'some',
      LLM_BASE_DELAY: 'long',
      OPENAI_BASE_URL: 'secret.example',
      SANDBOX_TIMEOUT: 'soon',
      RUNNEL_ALLOW_PRIVATE_NETWORK: 'maybe',
    };
    const read = () => readSettings(env, 'server', 'stores', 'models', 'nodes');
    for (const [name, value] of Object.entries(env)) {
      const message = name === 'OPENAI_BASE_URL' ? 'must be an http or https URL\\.' : `; received "${value}"`;
      expect(read).toThrow(new RegExp(`${name} .*${message}`));
    }
    expect(read).not.toThrow('secret');
    expect(() => readSettings(env, 'tools')).not.toThrow();
  });

  it('refuses a RAGFlow server without its key', () => {
    const env = { RAGFLOW_BASE_URL: 'http://ragflow.test' };
    expect(() => readSettings(env, 'nodes')).toThrow('RAGFLOW_BASE_URL is set, but RAGFLOW_API_KEY is not');
    expect(readSettings({ ...env, RAGFLOW_API_KEY: 'k' }, 'nodes').nodes.ragflowApiKey).toBe('k');
  });

  it('collects a family of variables by what their names end with', () => {
    const env = { COMPONENT_EXEC_TIMEOUT_LLM: '5', COMPONENT_EXEC_TIMEOUT_AGENT: 'x', COMPONENT_EXEC_TIMEOUT: '9' };
    const { timeoutSeconds, timeoutSecondsByType } = readSettings(env, 'nodes').nodes;
    expect([timeoutSeconds, timeoutSecondsByType]).toEqual([9, { LLM: 5 }]);
  });

  it.each<readonly [text: string, expected: number | undefined]>([
    [' 30 ', 30],
    ...['', '0', '-5', '1.5', '1e3', 'soon', '0x10', 'Infinity'].map((text) => [text, undefined] as const),
  ])('takes COMPONENT_EXEC_TIMEOUT %j as %s, so that bad input widens no limit', (text, expected) => {
    const env = { COMPONENT_EXEC_TIMEOUT: text, COMPONENT_EXEC_TIMEOUT_LLM: text };
    const { timeoutSeconds, timeoutSecondsByType } = readSettings(env, 'nodes').nodes;
    expect([timeoutSeconds, timeoutSecondsByType.LLM]).toEqual([expected, expected]);
  });

  it('describes each setting once', () => {
    const settings = describeGroups().flatMap(([, group]) => group);
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    for (const { name, shown, meaning } of settings) {
      expect([name, shown, meaning].every((text) => text !== '')).toBe(true);
    }
  });
});
