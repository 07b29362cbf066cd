/** What a server knows after it was stopped and started again, over the embedded database. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentOf, ECHO, FORM } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import { connect } from '../transport/support/live-client.js';
import { storedNumbers, textShown } from './support/follower.js';
import { call, environment, startProcess } from './support/server-process.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=the-key-of-ann-x' };
const ANN = { authorization: 'Bearer the-key-of-ann-x' };

describe('a server that is started again', () => {
  it('knows its agents, versions, sessions, runs and files, and goes on with a form', async () => {
    const env = await environment();
    let server = await startProcess(env);
    const api = (path: string): string => `${server.url}/api/v1${path}`;
    const { data: echo } = await call(api('/agents'), { title: 'Echo', dsl: ECHO });
    const { data: form } = await call(api('/agents'), { title: 'Form', dsl: FORM });
    await call(api(`/agents/${echo.id}/publish`), { title: 'First' });
    const first = await openStream(api(`/agents/${echo.id}/stream`), { body: { query: 'one' } });
    const said = await first.rest();
    const session = said[0]?.json.session_id;
    const asked = await call(api(`/agents/${form.id}/run`), { query: 'go' });
    const upload = new FormData();
    upload.append('file', new Blob(['some text']), 'note.txt');
    const uploaded = await fetch(api(`/agents/${echo.id}/upload`), { method: 'POST', body: upload });
    const { data: file } = (await uploaded.json()) as { readonly data: { readonly id: string } };
    await server.stop();

    server = await startProcess(env);
    expect((await call(api('/agents'))).data.canvas.map(({ title }: { title: string }) => title).sort()).toEqual([
      'Echo',
      'Form',
    ]);
    expect((await call(api(`/agents/${echo.id}/versions`))).data).toMatchObject([{ title: 'First' }]);
    expect((await call(api(`/agents/${echo.id}/sessions/${session}`))).data.message).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'you said one' },
    ]);
    const again = await openStream(api(`/agents/${echo.id}/runs/${first.headers.get('x-run-id')}/events`));
    await again.rest();
    expect(again.raw).toBe(first.raw);
    const second = await call(api(`/agents/${echo.id}/run`), { query: 'two', session_id: session });
    expect(second.data.data.content).toBe('you said two');
    const answers = { session_id: asked.data.session_id, inputs: { city: 'Oslo' } };
    expect((await call(api(`/agents/${form.id}/run`), answers)).data.data.content).toBe('to Oslo');
    expect(await (await fetch(api(`/agents/download?id=${file.id}`))).text()).toBe('some text');
  });

  it('knows the keys that tenants made, also on WebSockets', async () => {
    const env = await environment(KEYS);
    let server = await startProcess(env);
    const made = await fetch(`${server.url}/api/v1/system/tokens`, { method: 'POST', headers: ANN });
    const { data } = (await made.json()) as { readonly data: { readonly token: string } };
    await server.kill();
    server = await startProcess(env);
    const answer = await fetch(`${server.url}/api/v1/agents`, { headers: { authorization: `Bearer ${data.token}` } });
    expect(answer.status).toBe(200);
    const { data: agent } = await call(`${server.url}/api/v1/agents`, { title: 'Echo', dsl: ECHO }, 'POST', ANN);
    const live = await connect(server.url, agent.id, { headers: { authorization: `Bearer ${data.token}` } });
    expect(await live.next()).toMatchObject({ type: 'ready' });
    const late = await connect(server.url, agent.id);
    late.send({ type: 'auth', token: data.token });
    expect(await late.next()).toMatchObject({ type: 'ready' });
    const wrong = await connect(server.url, agent.id);
    wrong.send({ type: 'auth', token: 'another' });
    expect(await wrong.closed).toMatchObject({ code: 4401 });
  });

  it('goes on with runs that it was stopped in the middle of', async () => {
    const env = await environment({ RUNNEL_SHUTDOWN_GRACE_MS: '0' });
    let server = await startProcess(env);
    const calls: { readonly key: unknown; readonly response: ServerResponse }[] = [];
    const called = createServer((request, response) => {
      calls.push({ key: request.headers['idempotency-key'], response });
      called.emit('called');
    }).listen(0, '127.0.0.1');
    await once(called, 'listening');
    onTestFinished(() => {
      called.closeAllConnections();
      called.close();
    });
    const slow = documentOf({
      begin: ['Begin', ['Invoke:Slow']],
      'Invoke:Slow': ['Invoke', ['Message:A'], { url: `http://127.0.0.1:${(called.address() as AddressInfo).port}/` }],
      'Message:A': ['Message', [], { content: ['in the end: {Invoke:Slow@result}'] }],
    });
    const { data: agent } = await call(`${server.url}/api/v1/agents`, { title: 'Slow', dsl: slow });
    const stream = await openStream(`${server.url}/api/v1/agents/${agent.id}/stream`, { body: { query: 'x' } });
    await once(called, 'called');
    const seen = await stream.until(({ json }) => json?.data?.component_id === 'Invoke:Slow');
    await server.stop();
    const calledAgain = once(called, 'called');
    server = await startProcess(env);
    await calledAgain;
    calls[1]?.response.end('an answer');
    const path = `/api/v1/agents/${agent.id}/runs/${stream.headers.get('x-run-id')}/events`;
    const rest = await openStream(`${server.url}${path}?after=${seen.at(-1)?.id}`);
    const frames = [...seen, ...(await rest.rest())].slice(0, -1);
    const run = String(stream.headers.get('x-run-id'));
    const numbers = await storedNumbers(() => server.url, agent.id, run);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(frames.map(({ id }) => id)).toEqual(numbers.filter((number) => frames.some(({ id }) => id === number)));
    expect(frames.map(({ json }) => json.event)).toContain('node_restarted');
    expect(textShown(frames.map(({ id = 0, text }) => ({ id, data: text })))).toBe('in the end: an answer');
    expect(calls[1]?.key).toBe(calls[0]?.key);
  });
});
