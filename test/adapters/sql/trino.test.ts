import { describe, expect, it } from 'vitest';
import { exeSql } from '../../../src/tools/exe-sql.js';
import { type Routes, resultOf, startUpstream } from '../../tools/support/upstream.js';
import { serve, textOf } from '../egress/support/servers.js';
import { gone, jsonOf, localDatabases, startCall, type Target } from './support/calls.js';

const targetAt = (origin: string): Target => ({
  db_type: 'trino',
  host: '127.0.0.1',
  port: Number(new URL(origin).port),
  database: 'hive.sales',
  username: 'ann',
  password: '',
});

const PAGES: Routes = {
  'POST /v1/statement': {
    json: {
      id: '1',
      nextUri: 'http://elsewhere.example:1/v1/statement/executing/1/y/1?slug=a',
      stats: { state: 'QUEUED' },
    },
  },
  'GET /v1/statement/executing/1/y/1': {
    json: {
      id: '1',
      nextUri: 'http://elsewhere.example:1/v1/statement/executing/1/y/2',
      columns: [
        { name: 'id', type: 'bigint' },
        { name: 'price', type: 'decimal(30,2)' },
        { name: 'at', type: 'timestamp(3)' },
        { name: 'id', type: 'json' },
      ],
      data: [
        [1, '9.50', '2026-02-03 04:05:06.789', '{"a":1}'],
        [2, '12345678901234567.25', null, null],
      ],
    },
  },
  'GET /v1/statement/executing/1/y/2': {
    json: { id: '1', data: [[3, '1', null, null]], stats: { state: 'FINISHED' } },
  },
  'DELETE /v1/statement/executing/1/y/1': { status: 204 },
  'DELETE /v1/statement/executing/1/y/2': { status: 204 },
};

describe('execute_sql against Trino', () => {
  it('asks as who it is told to be, and follows its answer at the server that was asked', async () => {
    const upstream = await startUpstream(PAGES);
    const { outputs } = await jsonOf(targetAt(upstream.origin), 'SELECT * FROM orders;');
    expect(outputs.json).toEqual([
      [
        { id: 1, price: 9.5, at: '2026-02-03 04:05:06', id_2: { a: 1 } },
        { id: 2, price: '12345678901234567.25', at: null, id_2: null },
        { id: 3, price: 1, at: null, id_2: null },
      ],
    ]);
    const [first, second] = upstream.asked;
    expect(first).toMatchObject({
      body: 'SELECT * FROM orders',
      headers: { 'x-trino-user': 'ann', 'x-trino-catalog': 'hive', 'x-trino-schema': 'sales' },
    });
    expect(second?.query).toEqual({ slug: 'a' });
    expect(upstream.asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('passes a trace on with every request, and behind the statement', async () => {
    const upstream = await startUpstream(PAGES);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const trace = { traceparent, tracestate: 'v=1', baggage: 'shop=7' };
    await resultOf(exeSql, '', {
      args: { sql: 'SELECT * FROM orders' },
      params: { ...targetAt(upstream.origin), max_records: 1 },
      services: { databases: localDatabases() },
      trace,
    });
    await gone(async () => upstream.asked.at(-1)?.method !== 'DELETE');
    expect(upstream.asked[0]?.body).toBe(`SELECT * FROM orders /*traceparent='${traceparent}'*/`);
    expect(upstream.asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE']);
    for (const { headers } of upstream.asked) expect(headers).toMatchObject(trace);
  });

  it.each([
    ['hive/sales', 'hive', 'sales'],
    ['hive', 'hive', 'default'],
  ])('reads the database %s', async (database, catalog, schema) => {
    const upstream = await startUpstream(PAGES);
    await jsonOf({ ...targetAt(upstream.origin), database, username: '' }, 'SELECT 1');
    expect(upstream.asked[0]?.headers).toMatchObject({
      'x-trino-user': 'ragflow',
      'x-trino-catalog': catalog,
      'x-trino-schema': schema,
    });
  });

  it('ends a query of which it has enough', async () => {
    const upstream = await startUpstream(PAGES);
    const { text } = await jsonOf(targetAt(upstream.origin), 'SELECT 1', { max_records: 1 });
    expect(text).toContain('These are the first 1 rows');
    await gone(async () => upstream.asked.at(-1)?.method !== 'DELETE');
  });

  it('repeats what the coordinator says of a statement, and goes on', async () => {
    const message = "line 1:8: Column 'x' cannot be resolved";
    const upstream = await startUpstream({
      ...PAGES,
      'POST /v1/statement': ({ body }) =>
        body === 'SELECT x'
          ? { json: { id: '2', error: { message } } }
          : { json: { id: '3', columns: [{ name: 'a', type: 'integer' }], data: [[1]] } },
    });
    const { outputs } = await jsonOf(targetAt(upstream.origin), 'SELECT x; SELECT 1');
    expect(outputs.json).toEqual([{ content: `SQL Execution Failed: SELECT x\n${message}` }, [{ a: 1 }]]);
  });

  it.each([
    [{ status: 401, text: 'no' }, 'status 401'],
    [{ text: 'no json' }, 'no JSON'],
    [{ status: 302, headers: { location: 'http://169.254.169.254/' } }, 'status 302'],
  ])('says that %j is no answer', async (reply, message) => {
    const upstream = await startUpstream({ 'POST /v1/statement': reply });
    const { text } = await jsonOf(targetAt(upstream.origin), 'SELECT 1');
    expect(text).toContain(message);
  });

  it('sends a password over https alone', async () => {
    const upstream = await startUpstream(PAGES);
    const asked = jsonOf({ ...targetAt(upstream.origin), password: 'pass-word' }, 'SELECT 1');
    await expect(asked).rejects.toThrow('Trino takes a password over https alone');
    expect(upstream.asked).toEqual([]);
  });

  it('is held by the policy of the egress client', async () => {
    const upstream = await startUpstream(PAGES);
    const closed = localDatabases({ allowPrivateNetwork: false });
    await expect(jsonOf(targetAt(upstream.origin), 'SELECT 1', {}, closed)).rejects.toMatchObject({
      code: 'URL_BLOCKED',
    });
    expect(upstream.asked).toEqual([]);
  });

  it('ends its query at the coordinator when nobody waits any more', async () => {
    const asked: string[] = [];
    const { origin } = await serve(async (request, response) => {
      asked.push(request.method ?? '');
      await textOf(request);
      if (request.method === 'GET') return;
      response.end(JSON.stringify({ id: '1', nextUri: 'http://h/v1/statement/x' }));
    });
    const subscription = startCall(targetAt(origin), 'SELECT 1');
    await gone(async () => asked.at(-1) !== 'GET');
    subscription.unsubscribe();
    await gone(async () => asked.at(-1) !== 'DELETE');
  });
});
