import { expect, it } from 'vitest';
import { warnOfBrowsers } from '../../src/cli/browser-warning.js';
import { SILENT_LOG } from '../../src/logger.js';

const one = { tenant: 'a', key: 'k' };
const other = { tenant: 'b', key: 'l' };
/** Any program: the warning asks only whether there is one. */
const chromium = process.execPath;

it.each([
  ['several tenants', { apiKeys: [one, other], chromium, isSandboxed: false }, 1],
  ['several tenants with the sandbox', { apiKeys: [one, other], chromium, isSandboxed: true }, 0],
  ['one tenant with two keys', { apiKeys: [one, { ...one, key: 'm' }], chromium, isSandboxed: false }, 0],
  ['no keys', { apiKeys: [], chromium, isSandboxed: false }, 0],
  ['no browser', { apiKeys: [one, other], chromium: '/nowhere/chromium', isSandboxed: false }, 0],
])('warns once of browsers without a sandbox: %s', async (_, options, count) => {
  const warned: unknown[] = [];
  await warnOfBrowsers(options, { ...SILENT_LOG, warn: (...parts: unknown[]) => void warned.push(parts) });
  expect(warned).toHaveLength(count);
});
