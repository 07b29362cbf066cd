import { expect, it } from 'vitest';
import { artifactsKeptMs } from '../../../src/adapters/sandbox/artifacts.js';
import { readCodeSettings } from '../../../src/cli/code-settings.js';

it('reads nothing as the sandbox in this process', () => {
  expect(readCodeSettings({})).toEqual({
    provider: 'embedded',
    endpoint: 'http://sandbox-executor-manager:9385',
    timeoutMs: 10_000,
    maxMemoryBytes: 256 * 1024 * 1024,
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
  expect(readCodeSettings({ SANDBOX_TIMEOUT: text }).timeoutMs).toBe(timeoutMs);
});

it.each([
  ['256m', 256 * 2 ** 20],
  ['1g', 2 ** 30],
  ['512MB', 512 * 2 ** 20],
  ['65536k', 64 * 2 ** 20],
  ['67108864', 64 * 2 ** 20],
])('reads SANDBOX_MAX_MEMORY %j', (text, bytes) => {
  expect(readCodeSettings({ SANDBOX_MAX_MEMORY: text }).maxMemoryBytes).toBe(bytes);
});

it.each([
  ['sandbox', 'http://sandbox:9385'],
  ['sandbox:1234', 'http://sandbox:1234'],
  ['https://sandbox.example/run-here', 'https://sandbox.example/run-here'],
])('reads SANDBOX_HOST %j', (text, endpoint) => {
  expect(readCodeSettings({ SANDBOX_HOST: text }).endpoint).toBe(endpoint);
});

it.each([
  [{ SANDBOX_TIMEOUT: '0s' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '2h' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '10x' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_TIMEOUT: '-5' }, 'SANDBOX_TIMEOUT'],
  [{ SANDBOX_MAX_MEMORY: '1m' }, 'SANDBOX_MAX_MEMORY'],
  [{ SANDBOX_MAX_MEMORY: 'lots' }, 'SANDBOX_MAX_MEMORY'],
  [{ SANDBOX_HOST: 'a b' }, 'SANDBOX_HOST'],
  [{ SANDBOX_ARTIFACT_EXPIRE_DAYS: 'a week' }, 'SANDBOX_ARTIFACT_EXPIRE_DAYS must be a whole number of days'],
  [{ SANDBOX_PROVIDER_TYPE: 'ssh' }, '"ssh" is not available in Runnel; use "embedded"'],
  [{ SANDBOX_PROVIDER_TYPE: 'E2B' }, '"E2B" is not available in Runnel; use "embedded"'],
  [{ SANDBOX_PROVIDER_TYPE: 'mine' }, '"mine" is not known; use "embedded"'],
])('refuses %j', (env, message) => {
  expect(() => readCodeSettings(env)).toThrow(message);
});

it.each([
  [undefined, 7 * 86_400_000],
  ['', 7 * 86_400_000],
  [' 1 ', 86_400_000],
  ['0', undefined],
])('keeps files of scripts for SANDBOX_ARTIFACT_EXPIRE_DAYS %j', (text, keptMs) => {
  expect(artifactsKeptMs(text)).toBe(keptMs);
});
