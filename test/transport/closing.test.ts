/** A server whose closing fails leaves no timer behind: a process that embeds it can end. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SessionLeases } from '../../src/hosting/leases.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment, readConfig } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { LiveServer } from '../../src/transport/live/live-server.js';
import { createServer } from '../../src/transport/server.js';

const failure = new Error('it does not close');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each([
  ['its runs', () => vi.spyOn(SessionLeases.prototype, 'whenEmpty').mockRejectedValue(failure)],
  ['its WebSockets', () => vi.spyOn(LiveServer.prototype, 'close').mockRejectedValue(failure)],
])('clears its timers when %s cannot be ended', async (_, fail) => {
  fail();
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  const config = readConfig({ RUNNEL_SHUTDOWN_GRACE_MS: '0' });
  const server = createServer({ config, stores: createMemoryStores(), services: { models } });
  const before = vi.getTimerCount();
  await expect(server.close()).rejects.toBe(failure);
  expect(vi.getTimerCount()).toBe(before);
  await models.close();
});
