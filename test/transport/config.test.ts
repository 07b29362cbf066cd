import { describe, expect, it } from 'vitest';
import { describeSettings, readConfig } from '../../src/transport/index.js';

describe('readConfig', () => {
  it('has a default for everything; an empty variable counts as unset', () => {
    expect(readConfig({ RUNNEL_PORT: '', RUNNEL_API_KEYS: ' ' })).toMatchObject({
      host: '127.0.0.1',
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
    const { apiKeys } = readConfig({ RUNNEL_API_KEYS: 'plain, acme=s3cret ,cGFkZGVk==,b=cGFk=' });
    expect(apiKeys).toEqual([
      { tenant: 'local', key: 'plain' },
      { tenant: 'acme', key: 's3cret' },
      { tenant: 'local', key: 'cGFkZGVk==' },
      { tenant: 'b', key: 'cGFk=' },
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
    [{ RUNNEL_API_KEYS: 'a,,b' }, 'entry 2 is empty'],
    [{ RUNNEL_API_KEYS: 'x=k,y=k' }, 'entry 2 repeats a key'],
    [{ RUNNEL_API_KEYS: '../x=key' }, 'entry 1 has a tenant'],
  ])('refuses %o', (env, message) => {
    expect(() => readConfig(env)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(() => readConfig(env)).toThrow(message);
  });

  it('names every problem at once, and shows no key', () => {
    const env = { RUNNEL_PORT: 'x', RUNNEL_API_KEYS: 'sec ret', RUNNEL_MAX_RUNS: '0' };
    expect(() => readConfig(env)).toThrow(/RUNNEL_PORT[\s\S]*RUNNEL_API_KEYS[\s\S]*RUNNEL_MAX_RUNS/);
    expect(() => readConfig(env)).not.toThrow(/sec ret/);
  });

  it('listens elsewhere than on loopback with keys', () => {
    expect(readConfig({ RUNNEL_HOST: '0.0.0.0', RUNNEL_API_KEYS: 'k', RUNNEL_CORS_ORIGINS: '*' }).host).toBe('0.0.0.0');
  });

  it('describes each setting once', () => {
    const settings = describeSettings();
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    for (const { name, default: shown, meaning } of settings) {
      expect([name, shown, meaning].every((text) => text !== '')).toBe(true);
    }
  });
});
