import { expect, it } from 'vitest';
import { ECHO } from './support/documents.js';
import { startServer } from './support/server.js';

const ADMIN_KEY = 'a-key-for-the-administrator';
const admin = { authorization: `Bearer ${ADMIN_KEY}` };
const tenant = { authorization: 'Bearer one-of-acme-long-key' };
const ENV = { RUNNEL_ADMIN_KEY: ADMIN_KEY, RUNNEL_API_KEYS: 'acme=one-of-acme-long-key' };
const PATH = '/api/v1/admin/canvas-runtime';

it('administration is off without its key, and open to nobody else', async () => {
  const off = await startServer();
  expect((await off.call('GET', `${PATH}/acme`)).status).toBe(404);
  const { call } = await startServer({ env: ENV });
  for (const [headers, status] of [
    [{}, 401],
    [{ authorization: 'Bearer wrong' }, 401],
    [tenant, 403],
    [admin, 200],
  ] as const) {
    expect((await call('GET', `${PATH}/acme`, undefined, headers as Record<string, string>)).status).toBe(status);
  }
  expect((await call('GET', '/api/v1/agents', undefined, admin)).status).toBe(401);
});

it('a tenant is given to an engine and back; another engine is not this server', async () => {
  const { call, agent } = await startServer({ env: ENV });
  const id = await agent(ECHO, tenant);
  const run = () => call('POST', `/api/v1/agents/${id}/run`, { query: 'x' }, tenant);
  expect((await call('GET', PATH, undefined, admin)).body.data).toEqual({
    runtimes: ['runnel', 'go', 'python'],
    default: 'runnel',
  });
  expect((await call('GET', `${PATH}/acme`, undefined, admin)).body.data).toEqual({
    tenant_id: 'acme',
    runtime: 'runnel',
    source: 'default',
  });
  for (const body of [{}, { runtime: 'java' }, { runtime: 7 }]) {
    expect((await call('POST', `${PATH}/acme`, body, admin)).body.code).toBe(101);
  }
  expect((await call('POST', `${PATH}/acme`, {}, admin)).body.message).toBe(
    '`runtime` must be one of runnel, go, python; received nothing.',
  );
  expect((await call('POST', `${PATH}/acme`, { runtime: 'go' }, admin)).body.data).toEqual({
    tenant_id: 'acme',
    runtime: 'go',
    source: 'override',
  });
  expect(await run()).toMatchObject({ status: 501, body: { message: expect.stringContaining('"go"') } });
  expect((await call('DELETE', `${PATH}/acme`, undefined, admin)).body.data.source).toBe('default');
  expect((await run()).body.code).toBe(0);
});

it('counts runs by how they ended and how long they took', async () => {
  let clockMs = 0;
  const { call, agent } = await startServer({
    env: ENV,
    now: () => {
      clockMs += 1;
      return clockMs;
    },
  });
  const id = await agent(ECHO, tenant);
  for (let count = 0; count < 3; count += 1) await call('POST', `/api/v1/agents/${id}/run`, { query: 'x' }, tenant);
  const answer = await call('GET', '/api/v1/admin/metrics', undefined, admin);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = String(answer.body).split('\n');
  expect(lines).toContain('ragflow_canvas_runs_total{runtime="runnel",outcome="success"} 3');
  expect(lines).toContain('ragflow_canvas_run_duration_seconds_bucket{runtime="runnel",le="+Inf"} 3');
  expect(lines).toContain('ragflow_canvas_run_duration_seconds_count{runtime="runnel"} 3');
});

it('the default may be another engine', async () => {
  const { call, agent } = await startServer({ env: { ...ENV, RAGFLOW_CANVAS_DEFAULT_RUNTIME: 'python' } });
  const id = await agent(ECHO, tenant);
  expect((await call('POST', `/api/v1/agents/${id}/run`, { query: 'x' }, tenant)).status).toBe(501);
  await call('POST', `${PATH}/acme`, { runtime: 'runnel' }, admin);
  expect((await call('POST', `/api/v1/agents/${id}/run`, { query: 'x' }, tenant)).body.code).toBe(0);
});
