/** The live connection for the list of runs: it says when the list may have changed, also for what other processes do. */
import { describe, expect, it } from 'vitest';
import { ECHO, PROBE } from '../support/documents.js';
import { durableStores } from '../support/durable-stores.js';
import { openStream } from '../support/event-stream.js';
import { connectTo, type LiveClient, refused } from '../support/live-client.js';
import { startServer, type TestServer } from '../support/server.js';

const PATH = '/api/v1/runs/live';
const KEYS = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' };
const [ACME, OTHER] = ['one-of-acme-long-key', 'two-of-others-long-key'];
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const isRuns = ({ type }: { readonly type: string }): boolean => type === 'runs';

/** Waits until the list of a server is as it should be; it is read when the connection says that it may have changed, and never else. */
async function listedAs(client: LiveClient, server: TestServer, expected: readonly string[]): Promise<void> {
  for (;;) {
    const { data } = (await server.call('GET', '/api/v1/runs')).body;
    if (JSON.stringify(data.map(({ status }: { status: string }) => status)) === JSON.stringify(expected)) return;
    await client.until(isRuns);
  }
}

/** A connection that has said all that it says in the beginning. */
async function watching(server: TestServer, options: Parameters<typeof connectTo>[2] = {}): Promise<LiveClient> {
  const client = await connectTo(server.url, PATH, options);
  const [ready] = await client.until(isRuns);
  expect(ready).toMatchObject({ type: 'ready', heartbeat_s: 20 });
  expect(ready).not.toHaveProperty('agent_id');
  return client;
}

describe('a live connection for the list of runs', () => {
  it('says that a run has begun, ended, and was deleted', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const client = await watching(server);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: {} });
    await listedAs(client, server, ['running']);
    (await server.probes.next()).settle();
    await listedAs(client, server, ['succeeded']);
    await stream.rest();
    await server.call('DELETE', `/api/v1/agents/${agent}/runs/${stream.headers.get('x-run-id')}`);
    await listedAs(client, server, []);
    expect(server.errors).toEqual([]);
  });

  it('says so of runs of another process', async () => {
    const stores = durableStores();
    const [here, there] = [await startServer({ stores }), await startServer({ stores })];
    const agent = await here.agent(PROBE);
    const client = await watching(here);
    const stream = await openStream(`${there.url}/api/v1/agents/${agent}/stream`, { body: {} });
    await listedAs(client, here, ['running']);
    (await there.probes.next()).settle();
    await listedAs(client, here, ['succeeded']);
    await stream.rest();
  });

  it('is for runs of one tenant', async () => {
    const server = await startServer({ env: KEYS });
    const [mine, other] = [await server.agent(ECHO, bearer(ACME)), await server.agent(ECHO, bearer(OTHER))];
    const client = await connectTo(server.url, PATH);
    client.send({ type: 'auth', token: ACME });
    await client.until(isRuns);
    const theirs = await watching(server, { headers: bearer(OTHER) });
    const run = (agent: string, key: string) =>
      server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' }, bearer(key));
    await run(other, OTHER);
    await theirs.until(isRuns);
    client.send({ type: 'ping', t: 1 });
    // The other connection was told, and this one, which began before it, would have been by now.
    expect(await client.next()).toMatchObject({ type: 'pong', t: 1 });
    await run(mine, ACME);
    expect(await client.next()).toEqual({ type: 'runs' });
  });

  it('takes no frames that are for runs, and is closed without a key', async () => {
    const server = await startServer({ env: KEYS });
    const client = await connectTo(server.url, PATH, { headers: bearer(ACME) });
    await client.until(isRuns);
    client.send({ type: 'cancel', req: 1, run_id: 'r' });
    const [refusal] = (await client.until(({ type }) => type === 'error')).slice(-1);
    expect(refusal).toMatchObject({ req: 1, code: 101, message: expect.stringMatching(/one of auth, ping, close/) });
    expect(await refused(server.url, PATH, { headers: bearer('wrong') })).toMatchObject({ status: 401 });
    const stranger = await connectTo(server.url, PATH);
    stranger.send({ type: 'ping' });
    expect(await stranger.closed).toMatchObject({ code: 4401 });
  });

  it('stays open when nothing happens, and is closed with its server', async () => {
    const server = await startServer({ env: { RUNNEL_WS_IDLE_MS: '1' } });
    const client = await watching(server);
    await server.call('POST', `/api/v1/agents/${await server.agent(ECHO)}/run`, { query: 'x' });
    await client.until(isRuns);
    const { closed } = client;
    await server.stop();
    expect(await closed).toMatchObject({ code: 1012 });
  });
});
