import { expect, it } from 'vitest';
import { startServer } from '../support/server.js';

const ADMIN_KEY = 'a-key-for-the-administrator';
const admin = { authorization: `Bearer ${ADMIN_KEY}` };
const tenant = { authorization: 'Bearer one-of-acme-long-key' };
const ENV = { RUNNEL_ADMIN_KEY: ADMIN_KEY, RUNNEL_API_KEYS: 'acme=one-of-acme-long-key' };
const PATH = '/api/v1/chat/router';

it('shows the targets of routes to every key, and lets the administrator open and close them', async () => {
  const { call } = await startServer({ env: ENV, models: JSON.stringify({ routes: { chat: ['a', 'b'] } }) });
  expect((await call('GET', PATH)).status).toBe(401);
  const shown = await call('GET', PATH, undefined, tenant);
  expect(shown.body.data.targets).toEqual(
    ['a', 'b'].map((target) => ({
      target,
      model: target,
      provider: 'scripted',
      routes: ['chat'],
      state: 'closed',
      succeeded: 0,
      failed: 0,
    })),
  );
  expect((await call('POST', PATH, { target: 'a', state: 'open' }, tenant)).status).toBe(403);
  const forced = await call('POST', PATH, { target: 'a', state: 'open' }, admin);
  expect(forced.body.data).toMatchObject({ target: 'a', state: 'open', reason: 'opened by an administrator' });
  expect((await call('GET', PATH, undefined, tenant)).body.data.targets[0]).toMatchObject({ state: 'open' });
  expect((await call('POST', PATH, { target: 'a', state: 'closed' }, admin)).body.data.state).toBe('closed');
  expect((await call('POST', PATH, { target: 'z', state: 'open' }, admin)).body.code).toBe(102);
  expect((await call('POST', PATH, { target: 'a', state: 'ajar' }, admin)).body.code).toBe(101);
});
