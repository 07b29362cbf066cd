import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { knownFunctions } from '../../../src/adapters/sql/functions/known-functions.js';
import { exeSql } from '../../../src/tools/exe-sql.js';
import { describePostgres, type PostgresServer, startPostgres } from '../../stores/support/postgres-server.js';
import { skippedUnless } from '../../support/skipped.js';
import { resultOf } from '../../tools/support/upstream.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../egress/support/certificate.js';
import { gone, jsonOf, localDatabases, sessionsOf, startCall, type Target } from './support/calls.js';

/** A join that no machine ends. */
const FOR_EVER = 'FROM generate_series(1, 99999) a, generate_series(1, 99999) b, generate_series(1, 99999) c';

describePostgres('execute_sql against Postgres', () => {
  let server: PostgresServer;
  let admin: postgres.Sql;
  let target: Target;
  let administrator: Target;
  const role = `reader_${randomUUID().replaceAll('-', '')}`;
  const ask = (sql: string, more: object = {}) => jsonOf(target, sql, more);
  const rows = async () => Number((await admin`select count(*) from t`)[0]?.count);

  beforeAll(async () => {
    server = await startPostgres();
    const url = await server.createDatabase();
    admin = postgres(url, { max: 1, onnotice: () => {} });
    const { hostname, port, pathname, username, password } = new URL(url);
    target = {
      db_type: 'postgres',
      host: hostname,
      port: Number(port),
      database: pathname.slice(1),
      username: role,
      password: 'never-shown',
    };
    administrator = { ...target, username, password: password || 'never-shown' };
    await admin.unsafe(`create role ${role} login password 'never-shown'`);
    await admin`create table t (id int primary key, name text)`;
    await admin`insert into t values (1, 'one'), (2, ${'zwei | drei\nvier'}), (3, '日本語 🙂')`;
    await admin`create sequence s`;
    await admin.unsafe(
      `create function sneak() returns int language plpgsql as $$ begin insert into t values (99, 'x'); return 1; end $$`,
    );
    await admin.unsafe(`grant all on all tables in schema public to ${role}; grant all on sequence s to ${role}`);
  });
  afterAll(async () => {
    await admin?.unsafe(`drop owned by ${role}; drop role ${role}`);
    await admin?.end();
    await server?.stop();
  });

  it('gives one element per statement, and goes on after a failure', async () => {
    const found = await ask('SELECT id, name FROM t; SELECT 1 WHERE false; SELECT nope FROM t; SELECT 2 AS two;');
    expect(found.outputs.json).toEqual([
      [
        { id: 1, name: 'one' },
        { id: 2, name: 'zwei | drei\nvier' },
        { id: 3, name: '日本語 🙂' },
      ],
      { content: 'No record in the database!' },
      { content: 'SQL Execution Failed: SELECT nope FROM t\ncolumn "nope" does not exist' },
      [{ two: 2 }],
    ]);
    expect(found.text).toContain('| 2 | zwei \\| drei<br>vier |');
  });

  it.each([
    ['9.50::numeric', 9.5],
    ['12345678901234567.25::numeric', '12345678901234567.25'],
    ["'NaN'::numeric", null],
    ["'Infinity'::float8", null],
    ['9007199254740993::bigint', '9007199254740993'],
    ['42::bigint', 42],
    ["'2026-02-03'::date", '2026-02-03'],
    ["'2026-02-03 04:05:06.789'::timestamp", '2026-02-03 04:05:06'],
    ['null::int', null],
    ["'\\xff00'::bytea", '0xff00'],
    ["'text'::bytea", 'text'],
    [`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    [`'[1, "x"]'::json`, [1, 'x']],
    ['true', true],
    ["'it''s; DROP TABLE t; -- '", "it's; DROP TABLE t; -- "],
    ['$q$; DELETE FROM t; $q$', '; DELETE FROM t; '],
    ['/* ; DELETE /* nested */ FROM t */ 1', 1],
  ])('reads %s as %j', async (expression, value) => {
    expect((await ask(`SELECT ${expression} AS v`)).outputs.json).toEqual([[{ v: value }]]);
  });

  it('shows the server, and those who watch it, where a statement belongs in a trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { outputs } = await resultOf(exeSql, '', {
      args: {
        sql: 'SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid(); SELECT id FROM t -- all\n; SHOW tcp_keepalives_count',
      },
      params: { ...target },
      services: { databases: localDatabases() },
      trace: { traceparent },
    });
    expect(outputs.json).toEqual([
      [{ query: `SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid() /*traceparent='${traceparent}'*/` }],
      [{ id: 1 }, { id: 2 }, { id: 3 }],
      [{ tcp_keepalives_count: expect.anything() }],
    ]);
  });

  it('keeps repeated and strange names of columns apart', async () => {
    const { outputs } = await ask('SELECT 1 a, 2 a, 3 "__proto__"');
    expect(JSON.stringify(outputs.json)).toBe('[[{"a":1,"a_2":2,"__proto__":3}]]');
  });

  it('shows what has rows without a count', async () => {
    const { outputs } = await ask('SHOW transaction_read_only; EXPLAIN SELECT 1');
    expect(outputs.json).toEqual([
      [{ transaction_read_only: 'on' }],
      [{ 'QUERY PLAN': expect.stringContaining('Result') }],
    ]);
  });

  it.each([1, 2, 99, 100, 101, 250])('gives %d rows of many, and goes on', async (count) => {
    const sql = "SELECT generate_series(1, 2000000000) AS n; SELECT 'next' AS n";
    const { outputs, text } = await ask(sql, { max_records: count });
    const [first, second] = outputs.json as { n: unknown }[][];
    expect(first?.map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(second).toEqual([{ n: 'next' }]);
    expect(text).toContain(`These are the first ${count} rows; there are more.`);
  });

  it('does not say that there are more rows when there are none', async () => {
    expect((await ask('SELECT n FROM generate_series(1, 100) n', { max_records: 100 })).text).not.toContain('more');
  });

  it('gives as many rows as fit', async () => {
    const { outputs } = await ask("SELECT repeat('x', 1000000) x FROM generate_series(1, 5); SELECT 1 AS one");
    const [first, second] = outputs.json as unknown[][];
    expect(first).toHaveLength(4);
    expect(second).toEqual([{ one: 1 }]);
  });

  it('loses patience with one cell that is far too large', async () => {
    const { outputs } = await ask("SELECT repeat('x', 200000000)");
    expect(JSON.stringify(outputs.json)).toContain('larger than');
  });

  it.each([
    'SELECT sneak()',
    "SELECT query_to_xml('insert into t values (98)', true, true, '')",
    "SELECT query_to_xml('select nextval(''s'')', true, true, '')",
    "SELECT query_to_xml('select set_config(''transaction_read_only'', ''off'', false)', true, true, ''); SELECT sneak()",
    "SELECT query_to_xml('select set_config(''default_transaction_read_only'', ''off'', false)', true, true, ''); SELECT sneak()",
    "SELECT query_to_xml('select set_config(''standard_conforming_strings'', ''off'', false)', true, true, ''); SELECT '\\'; SELECT sneak(); --'",
  ])('cannot write by %s, by the transaction alone', async (sql) => {
    const session = await localDatabases().open({ ...target, kind: 'postgres' }, new AbortController().signal);
    const outcomes = [];
    for (const statement of sql.split(/;(?= SELECT)/)) {
      outcomes.push(
        await session.query(statement, { maxRows: 9, maxBytes: 9999, timeoutMs: 9999 }).catch((error) => error.message),
      );
    }
    await session.close();
    expect(JSON.stringify(outcomes)).toMatch(/read-only transaction|not allowed|DELETE|sneak/);
    expect(await rows()).toBe(3);
  });

  it.each(['SELECT sneak()', "SELECT query_to_xml('select 1', true, true, '')"])('sends nothing of %s', async (sql) => {
    await expect(ask(`SELECT 1; ${sql}`)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('only SELECT statements are allowed'),
    });
  });

  it('runs what the author allows', async () => {
    await admin.unsafe('create function twice(int) returns int language sql as $$ select 2 * $1 $$');
    expect((await ask('SELECT twice(2) AS a', { functions: 'twice' })).outputs.json).toEqual([[{ a: 4 }]]);
    const { outputs } = await ask('SELECT sneak()', { functions: 'sneak' });
    expect(JSON.stringify(outputs.json)).toContain('read-only transaction');
  });

  it('takes no function of the database for one of the server', async () => {
    await admin.unsafe(
      `create function upper(int) returns int language sql as $$ select 7 $$;
       create function shout(text) returns text language sql as $$ select 'called' $$`,
    );
    await expect(ask('SELECT upper(1)')).rejects.toThrow('has a function "upper" of its own');
    expect((await ask("SELECT pg_catalog.upper('x') AS a")).outputs.json).toEqual([[{ a: 'X' }]]);
    expect((await ask('SELECT upper(1) AS a', { functions: 'upper' })).outputs.json).toEqual([[{ a: 7 }]]);
    await expect(ask("SELECT ('x'::text).shout")).rejects.toThrow('has a function "shout" of its own');
    await expect(ask("SELECT x.shout FROM lower('x') x")).rejects.toThrow('has a function "shout" of its own');
    await expect(ask('SELECT ("x").shout FROM lower(\'x\') "x"')).rejects.toThrow('of its own');
    expect((await ask("SELECT ('x'::text).shout AS a", { functions: 'shout' })).outputs.json).toEqual([
      [{ a: 'called' }],
    ]);
    expect((await ask("SELECT ('X'::text).lower AS a, t.id, t.name FROM t WHERE id = 1")).outputs.json).toEqual([
      [{ a: 'x', id: 1, name: 'one' }],
    ]);
  });

  it('is no administrator unless the document says so', async () => {
    const asked = (more: object = {}) => jsonOf(administrator, 'SELECT 1 AS one', more);
    await expect(asked()).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(/rights far beyond reading \(superuser\).*allow_privileged_user/),
    });
    expect((await asked({ allow_privileged_user: true })).outputs.json).toEqual([[{ one: 1 }]]);
    for (const group of ['pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program']) {
      await admin.unsafe(`grant ${group} to ${role}`);
      await expect(ask('SELECT 1')).rejects.toThrow(`(${group})`);
      await expect(ask('SCHEMA')).rejects.toThrow(`(${group})`);
      await admin.unsafe(`revoke ${group} from ${role}`);
    }
    await gone(async () => (await connections()) > 0);
  });

  it('lists no function that waits, or changes something, among those that read', async () => {
    const names = [...knownFunctions.postgres.functions];
    const found = await admin`select distinct proname::text as name from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and proname = any (${names})`;
    expect(found.map(({ name }) => name).sort()).toEqual(
      `clock_timestamp gen_random_uuid pg_blocking_pids pg_database_size pg_indexes_size pg_is_in_recovery
      pg_partition_ancestors pg_partition_tree pg_relation_size pg_table_size pg_total_relation_size random timeofday`
        .split(/\s+/)
        .concat(found.some(({ name }) => name === 'bernoulli') ? ['bernoulli', 'system'] : [])
        .sort(),
    );
  });

  it('lists tables and columns', async () => {
    const { text, outputs } = await ask('SCHEMA');
    expect(text).toBe('t(id integer, name text)');
    expect(outputs.json).toEqual([
      [
        { table: 't', column: 'id', type: 'integer' },
        { table: 't', column: 'name', type: 'text' },
      ],
    ]);
  });

  const sessions = (marked: string) =>
    sessionsOf(
      () =>
        admin`select pid from pg_stat_activity where query like ${`%${marked}%`} and state = 'active' and pid <> pg_backend_pid()`,
    );
  const connections = () => sessionsOf(() => admin`select pid from pg_stat_activity where application_name = 'runnel'`);

  it('ends a statement at the server when nobody waits any more', async () => {
    const subscription = startCall(target, `SELECT count(*) AS marked ${FOR_EVER}`);
    await gone(async () => (await sessions('AS marked')) === 0);
    subscription.unsubscribe();
    await gone(async () => (await sessions('AS marked')) > 0);
    await gone(async () => (await connections()) > 0);
  });

  it('leaves no connection behind', async () => {
    await ask('SELECT 1');
    await gone(async () => (await connections()) > 0);
  });

  it('gives up a statement after its time, and goes on', async () => {
    const session = await localDatabases().open({ ...target, kind: 'postgres' }, new AbortController().signal);
    const bounds = { maxRows: 10, maxBytes: 1000, timeoutMs: 50 };
    await expect(session.query('SELECT pg_sleep(1000)', bounds)).rejects.toThrow('statement timeout');
    expect((await session.query('SELECT 1 AS one', { ...bounds, timeoutMs: 10_000 })).rows).toEqual([[1]]);
    await session.close();
  });

  it('says who could not log in, and no password', async () => {
    await expect(jsonOf({ ...target, database: 'nowhere', password: 'sec-ret' }, 'SELECT 1')).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(/^ExeSQL error: (?!.*sec-ret).*"nowhere" does not exist/),
    });
  });

  it("does not read the server's own database, by any of its names", async () => {
    const own = { host: 'localhost', port: target.port, database: target.database };
    const resolver = async () => ['127.0.0.1'];
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', 'db.example', '0.0.0.0', '[::1]']) {
      const asked = jsonOf({ ...target, host }, 'SELECT 1', {}, localDatabases({ own, resolver }));
      await expect(asked, host).rejects.toThrow('holds the data of the server itself');
    }
    const other = jsonOf({ ...target, database: 'postgres' }, 'SELECT 1 AS one', {}, localDatabases({ own, resolver }));
    expect((await other).outputs.json).toEqual([[{ one: 1 }]]);
  });

  // Only in a server of our own: it is changed for it.
  it.runIf(process.env.DATABASE_URL === undefined)(
    skippedUnless(
      process.env.DATABASE_URL === undefined,
      'the server at DATABASE_URL is not ours',
      'encrypts where it can, and verifies when asked',
    ),
    async () => {
      await admin.unsafe(
        `copy (select ${literal(TEST_CERTIFICATE)}) to program 'sed "s/\\\\\\\\n/\\n/g" > server.crt'`,
      );
      await admin.unsafe(
        `copy (select ${literal(TEST_KEY)}) to program 'sed "s/\\\\\\\\n/\\n/g" > server.key; chmod 600 server.key'`,
      );
      await admin`alter system set ssl = on`;
      await admin`select pg_reload_conf()`;
      const resolver = async () => ['127.0.0.1'];
      const trusting = localDatabases({ resolver, trustedCertificates: [TEST_CERTIFICATE] });
      const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      const hidden = async (more: object, databases = trusting) =>
        (await jsonOf({ ...target, host: 'secure.example' }, sql, more, databases)).outputs.json;
      await gone(async () => JSON.stringify(await hidden({})) !== '[[{"ssl":true}]]');
      expect(await hidden({ tls: 'verify' })).toEqual([[{ ssl: true }]]);
      expect(await hidden({ tls: 'off' })).toEqual([[{ ssl: false }]]);
      await expect(hidden({ tls: 'verify', host: 'other.example' })).rejects.toThrow(/certificate's altnames/);
      await expect(hidden({ tls: 'verify' }, localDatabases({ resolver }))).rejects.toThrow(/self-signed/);
      const large = await jsonOf({ ...target, host: 'secure.example' }, "SELECT repeat('x', 200000000)", {}, trusting);
      expect(large.text).toContain('larger than');
      const subscription = startCall(
        { ...target, host: 'secure.example' },
        `SELECT count(*) AS hidden ${FOR_EVER}`,
        trusting,
      );
      await gone(async () => (await sessions('AS hidden')) === 0);
      subscription.unsubscribe();
      await gone(async () => (await sessions('AS hidden')) > 0);
    },
  );

  it('answers a probe', async () => {
    await localDatabases().probe({ ...target, kind: 'postgresql' });
    await gone(async () => (await connections()) > 0);
  });
});

function literal(text: string): string {
  return `'${text}'`;
}
