/** Agents in code beside the server's canvases: its keys, its tenants, its origins. */
import { once } from 'node:events';
import { lastValueFrom } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { agent, createRunner, memorySessions } from '../../src/entries/agents.js';
import { createScriptedModel } from '../../src/index.js';
import { startServer } from './support/server.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=key-of-ann-0000001,bob=key-of-bob-0000001' };

async function serve(env: Readonly<Record<string, string>> = {}) {
  const sessions = memorySessions();
  const model = createScriptedModel({ default: { reply: 'Hello.' } });
  const runner = createRunner({ agent: agent({ name: 'guide', model }), sessions });
  const server = await startServer({ env, runners: { guide: runner } });
  const at = (key: string) => ({ authorization: `Bearer ${key}` });
  const open = (path: string, protocols: string[] = [], headers = {}) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/runners/${path}`, protocols, { headers });
    onTestFinished(() => {
      // One that was refused was never open, which its end reports as an error.
      socket.on('error', () => {});
      socket.terminate();
    });
    return socket;
  };
  return { ...server, runner, sessions, at, open };
}

const TURN = '/api/v1/runners/guide/sessions/s/turns';
const bearer = (key: string) => `bearer.${Buffer.from(key).toString('base64url')}`;

it('serves them below their names, to every caller of a server without keys', async () => {
  const { call, runner } = await serve();
  const turn = await call('POST', TURN, { input: 'Hi.' });
  expect([turn.status, String(turn.body)]).toEqual([200, expect.stringContaining('"text":"Hello."')]);
  const session = await call('GET', '/api/v1/runners/guide/sessions/s');
  expect(session.body).toMatchObject({ messages: [{ content: 'Hi.' }, { content: 'Hello.' }] });
  expect((await runner.session('local/s')).turns).toHaveLength(1);
  for (const path of ['/api/v1/runners/none/sessions/s', '/api/v1/runners', '/api/v1/runnersguide/sessions/s']) {
    expect((await call('GET', path)).status).toBe(404);
  }
  const evil = await call('POST', TURN, { input: 'Hi.' }, { origin: 'https://evil.example' });
  expect(evil.status).toBe(403);
});

it('gives each tenant sessions of its own', async () => {
  const { call, at, open } = await serve(KEYS);
  expect((await call('POST', TURN, { input: 'Hi.' })).status).toBe(401);
  expect((await call('POST', TURN, { input: 'Hi.' }, at('wrong'))).status).toBe(401);
  expect((await call('POST', TURN, { input: 'Hi.' }, at('key-of-ann-0000001'))).status).toBe(200);
  const session = '/api/v1/runners/guide/sessions/s';
  expect((await call('GET', session, undefined, at('key-of-ann-0000001'))).body.turns).toHaveLength(1);
  expect((await call('GET', session, undefined, at('key-of-bob-0000001'))).body.turns).toHaveLength(0);
  const [, refused] = await once(open('guide/sessions/s/live'), 'unexpected-response');
  expect(refused.statusCode).toBe(401);
  // As a browser sends its key, which is not echoed.
  const socket = open('guide/sessions/s/live', ['runnel.agent.v1', bearer('key-of-bob-0000001')]);
  await once(socket, 'open');
  expect(socket.protocol).toBe('runnel.agent.v1');
  socket.send('{"type":"turn","req":1,"input":"Hi."}');
  expect(JSON.parse(String((await once(socket, 'message'))[0]))).toEqual({ type: 'ok', req: 1 });
});

it('leaves the connections of canvases to canvases', async () => {
  const { url } = await serve();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/none/live`);
  const [, response] = await once(socket, 'unexpected-response');
  expect(response.statusCode).toBe(404);
});

it('stops turns with the server, which then go on elsewhere', async () => {
  const { call, server, runner } = await serve();
  expect((await call('POST', TURN, { input: 'Hi.' })).status).toBe(200);
  await server.close();
  const again = await lastValueFrom(runner.run('Hi again.', { session: 'local/s' }));
  expect(again).toMatchObject({ status: 'succeeded' });
});

it.each([[{ 'a/b': 1 }], [{ guide: {} }], [7]])('refuses the runners %j', async (runners) => {
  await expect(startServer({ runners: runners as never })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
});
