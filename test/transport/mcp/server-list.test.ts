import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { ECHO, startMcpServer } from '../../adapters/mcp/support/mcp-server.js';
import { declare } from '../../adapters/mcp/support/using.js';
import { startServer } from '../support/server.js';

const SERVERS = '/api/v1/mcp/servers';
const KEYS = { RUNNEL_API_KEYS: 'acme=the-key-of-acme-1234,other=the-key-of-others-1' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function start(more: (url: string) => JsonObject = () => ({}), env: Record<string, string> = {}) {
  const remote = await startMcpServer({ echo: ECHO });
  const clock = { now: 1_000_000 };
  const own = { type: 'streamable-http', url: remote.url };
  const mcp = declare({ good: { ...own, headers: { 'x-key': 'secret-header' } }, ...more(remote.url) });
  const server = await startServer({ services: { mcp }, env, now: () => clock.now });
  return { ...server, remote, clock };
}

describe('GET /mcp/servers', () => {
  it('lists servers with their tools, without addresses and headers', async () => {
    const { call, remote } = await start();
    const { body } = await call('GET', SERVERS);
    expect(body.data).toEqual([
      {
        id: 'good',
        status: 'ok',
        tools: [{ name: 'echo', description: 'Says it again.', parameters: ECHO.inputSchema }],
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/secret|127\.0\.0\.1/);
    expect(remote.asked.filter((method) => method === 'tools/call')).toEqual([]);
  });

  it('says which server failed and why, beside those that did not, and asks it again later', async () => {
    const broken = await startMcpServer({}, (_, response) => {
      response.writeHead(500).end();
      return true;
    });
    const { call, clock, remote } = await start(() => ({ gone: { type: 'streamable-http', url: broken.url } }));
    const both = (await call('GET', SERVERS)).body.data;
    expect(both).toMatchObject([
      { id: 'good', status: 'ok' },
      { id: 'gone', status: 'failed', tools: [] },
    ]);
    expect(both[1].error).toMatch(/gone/);
    const opened = [remote.opened(), broken.headers.length];
    expect((await call('GET', `${SERVERS}?id=good`)).body.data).toHaveLength(1);
    expect((await call('GET', `${SERVERS}?id=none`)).body.data).toEqual([]);
    expect((await call('GET', SERVERS)).body.data).toEqual(both);
    expect([remote.opened(), broken.headers.length]).toEqual(opened);
    clock.now += 31_000;
    expect((await call('GET', SERVERS)).body.data).toEqual(both);
    expect(broken.headers.length).toBeGreaterThan(opened[1] as number);
  });

  it('lists to a tenant what it may use, and nothing without a key', async () => {
    const { call } = await start((url) => ({ own: { type: 'streamable-http', url, tenants: ['acme'] } }), KEYS);
    const ids = async (key: string) =>
      (await call('GET', SERVERS, undefined, bearer(key))).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('the-key-of-acme-1234')).toEqual(['good', 'own']);
    expect(await ids('the-key-of-others-1')).toEqual(['good']);
    expect((await call('GET', SERVERS)).status).toBe(401);
  });

  it('is empty where there are none', async () => {
    const { call } = await startServer();
    expect((await call('GET', SERVERS)).body.data).toEqual([]);
  });
});
