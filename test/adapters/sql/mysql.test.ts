import { afterAll, beforeAll, expect, it } from 'vitest';
import { knownFunctions } from '../../../src/adapters/sql/functions/known-functions.js';
import { exeSql } from '../../../src/tools/exe-sql.js';
import { resultOf } from '../../tools/support/upstream.js';
import { TEST_CERTIFICATE } from '../egress/support/certificate.js';
import { gone, jsonOf, localDatabases, sessionsOf, startCall, type Target } from './support/calls.js';
import { describeMariadb, type MariadbServer, startMariadb } from './support/mariadb-server.js';

const SHOP = {
  db_type: 'mariadb',
  host: '127.0.0.1',
  database: 'shop',
  username: 'app',
  password: 'app-secret',
};

describeMariadb('execute_sql against MariaDB', () => {
  let server: MariadbServer;
  let target: Target;

  beforeAll(async () => {
    server = await startMariadb();
    target = { ...SHOP, port: server.port };
    await server.admin('CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(50))');
    await server.admin("INSERT INTO t VALUES (1, 'one'), (2, 'zwei | drei\\nvier'), (3, '日本語 🙂')");
    await server.admin('CREATE SEQUENCE s');
    await server.admin("CREATE FUNCTION sneak() RETURNS INT BEGIN INSERT INTO t VALUES (99, 'x'); RETURN 1; END");
  });
  afterAll(() => server?.stop());

  const ask = (sql: string, more: object = {}) => jsonOf(target, sql, more);
  const rows = async () => Number((await server.admin('SELECT count(*) FROM t'))[0]?.[0]);

  it('gives one element per statement, and goes on after a failure', async () => {
    const { outputs, text } = await ask(
      'SELECT id, name FROM t; SELECT 1 WHERE false; SELECT nope FROM t; SELECT 2 two;',
    );
    expect(outputs.json).toEqual([
      [
        { id: 1, name: 'one' },
        { id: 2, name: 'zwei | drei\nvier' },
        { id: 3, name: '日本語 🙂' },
      ],
      { content: 'No record in the database!' },
      { content: expect.stringMatching(/^SQL Execution Failed: SELECT nope FROM t\nUnknown column 'nope'/) },
      [{ two: 2 }],
    ]);
    expect(text).toContain('| 2 | zwei \\| drei<br>vier |');
  });

  it.each([
    ['CAST(9.50 AS DECIMAL(10,2))', 9.5],
    ['CAST(12345678901234567.25 AS DECIMAL(30,2))', '12345678901234567.25'],
    ['CAST(9007199254740993 AS SIGNED)', '9007199254740993'],
    ['CAST(42 AS SIGNED)', 42],
    ["CAST('2026-02-03' AS DATE)", '2026-02-03'],
    ["CAST('2026-02-03 04:05:06.789' AS DATETIME(3))", '2026-02-03 04:05:06'],
    ['NULL', null],
    ["x'ff00'", '0xff00'],
    ["CAST('text' AS BINARY)", 'text'],
    ['1.5e0', 1.5],
    ["'it''s \\'; DROP TABLE t; -- '", "it's '; DROP TABLE t; -- "],
  ])('reads %s as %j', async (expression, value) => {
    expect((await ask(`SELECT ${expression} AS v`)).outputs.json).toEqual([[{ v: value }]]);
  });

  it('shows the server where a statement belongs in a trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const sql = 'SELECT info FROM information_schema.processlist WHERE id = connection_id()';
    const { outputs } = await resultOf(exeSql, '', {
      args: { sql: `${sql}; SELECT id FROM t # all\n; SELECT 2 AS two` },
      params: { ...target },
      services: { databases: localDatabases() },
      trace: { traceparent },
    });
    expect(outputs.json).toEqual([
      [{ info: `${sql} /*traceparent='${traceparent}'*/` }],
      [{ id: 1 }, { id: 2 }, { id: 3 }],
      [{ two: 2 }],
    ]);
  });

  it('reads columns of bits and of JSON', async () => {
    await server.admin('CREATE TABLE kinds (b BIT(9), j JSON)');
    await server.admin(`INSERT INTO kinds VALUES (b'100000001', '{"a": [1]}')`);
    expect((await ask('SELECT b, j FROM kinds')).outputs.json).toEqual([[{ b: 257, j: { a: [1] } }]]);
  });

  it('keeps repeated and strange names of columns apart', async () => {
    const { outputs } = await ask('SELECT 1 a, 2 a, 3 `__proto__`');
    expect(JSON.stringify(outputs.json)).toBe('[[{"a":1,"a_2":2,"__proto__":3}]]');
  });

  it.each([
    ['a limit of the server', 'SELECT seq FROM seq_1_to_1000000'],
    ['a larger limit in the statement', 'SELECT seq FROM seq_1_to_3000000 LIMIT 3000000'],
  ])('gives max_records rows and goes on, by %s', async (_how, sql) => {
    const { outputs, text } = await ask(`${sql}; SELECT 'next' AS n`, { max_records: 2 });
    expect(outputs.json).toEqual([[{ seq: 1 }, { seq: 2 }], [{ n: 'next' }]]);
    expect(text).toContain('These are the first 2 rows; there are more.');
  });

  it('gives as many rows as fit', async () => {
    const { outputs } = await ask("SELECT REPEAT('x', 1000000) AS x FROM seq_1_to_50; SELECT 1 AS one");
    expect((outputs.json as unknown[][])[0]).toHaveLength(4);
    expect((outputs.json as unknown[][])[1]).toEqual([{ one: 1 }]);
  });

  it.each([
    'SELECT sneak()',
    'SELECT NEXT_VALUE FROM (SELECT 1) x',
    'SELECT sneak() FROM t WHERE id = 1; SELECT sneak()',
  ])('cannot write by %s', async (sql) => {
    const { outputs } = await ask(sql, { functions: 'sneak' });
    expect(JSON.stringify(outputs.json)).toContain('SQL Execution Failed');
    expect(await rows()).toBe(3);
  });

  it('sends nothing of a function that is not known to read', async () => {
    await expect(ask('SELECT 1; SELECT sneak()')).rejects.toThrow('the function sneak is not known');
    await expect(ask("SELECT LOAD_FILE('/etc/passwd')", { functions: 'load_file' })).rejects.toThrow(
      'effects of its own',
    );
  });

  it('takes no function of the database for one of the server', async () => {
    await server.admin('CREATE FUNCTION `count`(a INT) RETURNS INT RETURN 7');
    expect((await ask('SELECT count(1) AS a')).outputs.json).toEqual([[{ a: 1 }]]);
    await expect(ask('SELECT count (1) AS a')).rejects.toThrow('has a function "count" of its own');
    await expect(ask('SELECT count/* x */(1) AS a')).rejects.toThrow('has a function "count" of its own');
    await expect(ask('SELECT `count`(1) AS a')).rejects.toThrow('the function `count` is not known');
    expect((await ask('SELECT concat (1, 2) AS a')).outputs.json).toEqual([[{ a: '12' }]]);
  });

  it('calls every function of its list that the server has without an error of a missing one', async () => {
    const unknown: string[] = [];
    const names = (await server.admin('SELECT LOWER(function) FROM information_schema.sql_functions')).map(
      ([name]) => name,
    );
    for (const name of names) if (!knownFunctions.mysql.functions.has(String(name))) unknown.push(String(name));
    const refused =
      /^(?:sleep|benchmark|load_file|get_lock|release_(?:all_)?locks?|is_(?:free|used)_lock|master_.*|binlog_.*|wsrep_.*|decode_histogram|.*_oracle|last_insert_id|old_password|password|name_const)$/;
    expect(unknown.filter((name) => !refused.test(name))).toEqual([]);
  });

  it('is no administrator unless the document says so', async () => {
    await server.admin("CREATE USER strong@'127.0.0.1' IDENTIFIED BY 'app-secret'");
    await server.admin('CREATE ROLE helpers');
    await server.admin('GRANT SUPER ON *.* TO helpers');
    const asked = (more: object = {}) =>
      jsonOf({ ...target, username: 'strong', database: 'information_schema' }, 'SELECT 1 AS one', more);
    expect((await asked()).outputs.json).toEqual([[{ one: 1 }]]);
    for (const [grant, right] of [
      ['GRANT FILE ON *.*', 'FILE'],
      ['GRANT SUPER, PROCESS ON *.*', 'SUPER'],
      ['GRANT ALL PRIVILEGES ON *.*', 'ALL PRIVILEGES'],
      ['GRANT helpers', 'SUPER'],
    ]) {
      await server.admin(`${grant} TO strong@'127.0.0.1'`);
      if (grant === 'GRANT helpers') await server.admin("SET DEFAULT ROLE helpers FOR strong@'127.0.0.1'");
      await expect(asked(), grant).rejects.toThrow(`rights far beyond reading (${right})`);
      expect((await asked({ allow_privileged_user: true })).outputs.json).toEqual([[{ one: 1 }]]);
      if (grant !== 'GRANT helpers') await server.admin("REVOKE ALL PRIVILEGES, GRANT OPTION FROM strong@'127.0.0.1'");
    }
  });

  it('reads quotes as its rules do, whatever the server is set to', async () => {
    await server.admin("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
    try {
      const { outputs } = await ask(`SELECT '\\'; DELETE' AS a, "\\"; DELETE" AS b`);
      expect(outputs.json).toEqual([[{ a: "'; DELETE", b: '"; DELETE' }]]);
    } finally {
      await server.admin('SET GLOBAL sql_mode = DEFAULT');
    }
  });

  it('lists tables and columns', async () => {
    const { text, outputs } = await ask(' schema ');
    expect(text).toContain('t(id int, name varchar)');
    expect(outputs.json).toEqual([expect.arrayContaining([{ table: 't', column: 'id', type: 'int' }])]);
  });

  it('ends a statement at the server when nobody waits any more', async () => {
    const subscription = startCall(
      target,
      'SELECT COUNT(a.seq) AS marked FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE a.seq <> b.seq',
    );
    const running = () =>
      sessionsOf(() =>
        server.admin(
          "SELECT id FROM information_schema.processlist WHERE info LIKE '%AS marked%' AND info NOT LIKE '%processlist%'",
        ),
      );
    await gone(async () => (await running()) === 0);
    subscription.unsubscribe();
    await gone(async () => (await running()) > 0);
    await gone(
      async () =>
        (await sessionsOf(() => server.admin("SELECT id FROM information_schema.processlist WHERE user = 'app'"))) > 0,
    );
  });

  it('leaves no connection behind, and no password in a message', async () => {
    await ask('SELECT 1');
    await gone(
      async () =>
        (await sessionsOf(() => server.admin("SELECT id FROM information_schema.processlist WHERE user = 'app'"))) > 0,
    );
    await expect(jsonOf({ ...target, password: 'wrong-secret' }, 'SELECT 1')).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.not.stringContaining('wrong-secret'),
    });
  });
});

describeMariadb('execute_sql against MariaDB with TLS', () => {
  let server: MariadbServer;
  const trusting = localDatabases({ trustedCertificates: [TEST_CERTIFICATE], resolver: async () => ['127.0.0.1'] });
  const ask = (sql: string, more: object = {}) =>
    jsonOf({ ...SHOP, host: 'secure.example', port: server.port }, sql, more, trusting);

  beforeAll(async () => {
    server = await startMariadb({ hasTls: true });
  });
  afterAll(() => server?.stop());

  const CIPHER =
    "SELECT variable_value <> '' AS hidden FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'";

  it('encrypts where it can', async () => {
    expect((await ask(CIPHER)).outputs.json).toEqual([[{ hidden: 1 }]]);
    expect((await ask(CIPHER, { tls: 'off' })).outputs.json).toEqual([[{ hidden: 0 }]]);
    expect((await ask(CIPHER, { tls: 'verify' })).outputs.json).toEqual([[{ hidden: 1 }]]);
  });

  it('verifies the name and who vouches for it', async () => {
    await expect(ask(CIPHER, { tls: 'verify', host: 'other.example' })).rejects.toThrow(/certificate's altnames/);
    const usual = localDatabases({ resolver: async () => ['127.0.0.1'] });
    const target = { ...SHOP, host: 'secure.example', port: server.port };
    await expect(jsonOf(target, CIPHER, { tls: 'verify' }, usual)).rejects.toThrow(/self-signed/);
  });

  it('stops a statement of which it has enough', async () => {
    const { outputs } = await ask("SELECT seq FROM seq_1_to_3000000 LIMIT 3000000; SELECT 'next' AS n", {
      max_records: 1,
    });
    expect(outputs.json).toEqual([[{ seq: 1 }], [{ n: 'next' }]]);
  });
});
