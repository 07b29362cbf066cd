import { expect, it } from 'vitest';
import { type Environment, readSettings } from '../../src/settings/read-settings.js';

const read = (env: Environment) => readSettings(env, 'nodes').nodes;

it('reads nothing as the sandbox in this process', () => {
  expect(read({})).toMatchObject({
    sandboxProvider: 'embedded',
    sandboxEndpoint: 'http://sandbox-executor-manager:9385',
    scriptTimeoutMs: 10_000,
    scriptMemoryBytes: 256 * 1024 * 1024,
    artifactDays: 7,
  });
});

it.each([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['500ms', 500],
  [' 45 ', 45_000],
  ['', 10_000],
])('reads SANDBOX_TIMEOUT %j', (text, timeoutMs) => {
  expect(read({ SANDBOX_TIMEOUT: text }).scriptTimeoutMs).toBe(timeoutMs);
});

it.each([
  ['256m', 256 * 2 ** 20],
  ['1g', 2 ** 30],
  ['512MB', 512 * 2 ** 20],
  ['65536k', 64 * 2 ** 20],
  ['67108864', 64 * 2 ** 20],
])('reads SANDBOX_MAX_MEMORY %j', (text, bytes) => {
  expect(read({ SANDBOX_MAX_MEMORY: text }).scriptMemoryBytes).toBe(bytes);
});

it.each([
  ['sandbox', 'http://sandbox:9385'],
  ['sandbox:1234', 'http://sandbox:1234'],
  ['https://sandbox.example/run-here', 'https://sandbox.example/run-here'],
])('reads SANDBOX_HOST %j', (text, endpoint) => {
  expect(read({ SANDBOX_HOST: text }).sandboxEndpoint).toBe(endpoint);
});

it.each([
  [{ SANDBOX_TIMEOUT: '0s' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '2h' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '10x' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '-5' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_MAX_MEMORY: '1m' }, 'SANDBOX_MAX_MEMORY'],
  [{ SANDBOX_MAX_MEMORY: 'lots' }, 'SANDBOX_MAX_MEMORY'],
  [{ SANDBOX_HOST: 'a b' }, 'SANDBOX_HOST'],
  [{ SANDBOX_ARTIFACT_EXPIRE_DAYS: 'a week' }, 'SANDBOX_ARTIFACT_EXPIRE_DAYS must be a whole number'],
  [{ SANDBOX_PROVIDER_TYPE: 'ssh' }, '"ssh" is not available in Runnel; use "embedded"'],
  [{ SANDBOX_PROVIDER_TYPE: 'E2B' }, '"E2B" is not available in Runnel; use "embedded"'],
  [{ SANDBOX_PROVIDER_TYPE: 'mine' }, '"mine" is not known; use "embedded"'],
])('refuses %j', (env, message) => {
  expect(() => read(env)).toThrow(message);
});

it.each([
  [undefined, 7],
  ['', 7],
  [' 1 ', 1],
  ['0', 0],
])('reads SANDBOX_ARTIFACT_EXPIRE_DAYS %j', (text, days) => {
  expect(read({ SANDBOX_ARTIFACT_EXPIRE_DAYS: text }).artifactDays).toBe(days);
});
