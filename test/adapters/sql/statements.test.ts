import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/adapters/sql/dialects.js';
import { normaliseLines, readStatements, readTokens } from '../../../src/adapters/sql/statements.js';
import { property, type Random } from '../../support/random.js';

const DIALECTS: readonly Dialect[] = ['postgres', 'mysql', 'mssql', 'trino'];

/** Refused by every dialect. */
const HOSTILE = [
  'DELETE FROM t',
  'delete from t',
  '  \n\tDeLeTe FROM t',
  '/* SELECT */ DELETE FROM t',
  '-- SELECT\nDELETE FROM t',
  'SELECT 1; DELETE FROM t',
  'SELECT 1;;; DROP TABLE t',
  "SELECT ';'; DROP TABLE t; --'",
  'SELECT 1 /* ; */; DROP TABLE t',
  'SELECT * INTO x FROM t',
  'SELECT * FROM t FOR UPDATE',
  "SELECT * FROM t INTO OUTFILE '/tmp/x'",
  "SELECT * FROM t INTO DUMPFILE '/tmp/x'",
  'WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x',
  'WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x',
  'WITH x AS (SELECT 1) UPDATE t SET a = 1',
  'WITH x AS (SELECT 1) MERGE INTO t USING x ON true WHEN MATCHED THEN DELETE',
  'EXPLAIN ANALYZE DELETE FROM t',
  'EXPLAIN DELETE FROM t',
  'DESC DELETE FROM t',
  'DESCRIBE x; TRUNCATE t',
  'TRUNCATE t',
  'DROP TABLE t',
  'CREATE TABLE x (a int)',
  'ALTER TABLE t ADD b int',
  'GRANT ALL ON t TO x',
  'REVOKE ALL ON t FROM x',
  'CALL p()',
  'EXECUTE p',
  'EXEC p',
  'SET x = 1',
  'USE other',
  'BEGIN',
  'COMMIT; DELETE FROM t',
  'ROLLBACK; DELETE FROM t',
  'START TRANSACTION READ WRITE',
  'LOCK TABLE t',
  'VALUES (1)',
  'TABLE t',
  '(SELECT 1) UNION (SELECT 2); KILL 1',
  '( DELETE FROM t )',
  'DO $$ BEGIN END $$',
  'PREPARE p AS SELECT 1',
  "COPY t TO '/tmp/x'",
  "LOAD DATA INFILE 'x'",
  'ｓｅｌｅｃｔ 1',
  'ЅELECT 1',
  'SELECT 1\u0000; DELETE FROM t',
  'SELECT 1 \u0007',
  'SELECT 1\u00a0DELETE FROM t',
  'SELECT é DELETE FROM t',
  'SELECT éDELETE FROM t',
  'SELECT 1DELETE FROM t',
  'SELECT 1.DELETE FROM t',
  'SELECT 1e5DELETE FROM t',
  'SELECT 0xABDELETE FROM t',
  "SELECT 'open",
  'SELECT "open',
  'SELECT 1 /* open',
  "SELECT '''",
  "SELECT 1 'x' DELETE FROM t",
  "SELECT 1'x'",
  'SELECT 1--\rDELETE\nFROM t\n; DELETE FROM t',
  "-- \r' \nDELETE FROM t -- '",
  'SELECT 1 -- x\r\n; DELETE FROM t',
  '"SELECT" 1',
  '1 SELECT',
  ';;DELETE FROM t;;',
  '```sql\nDELETE FROM t\n```',
  'SEL```ECT 1; DELE```TE FROM t',
  'SELECT [ID:1] 1; DELETE[ID:2] FROM t',
  'SELECT 1 NEXT VALUE FOR s',
  'SELECT DE/**/LETE FROM t; DELETE FROM t',
  'SHOW TABLES; DROP TABLE t',
  'PRAGMA x; DROP TABLE t',
];

/** Refused by one dialect. */
const OF_DIALECT: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    "SELECT E'a\\'; DELETE FROM t; --' || '' ; DELETE FROM t",
    "SELECT E'a'\n'\\'' ; DELETE FROM t; --'",
    "SELECT E'a' -- x\n '\\''; DELETE FROM t; --'",
    "SELECT 1E'\\''; DELETE FROM t; --'",
    "SELECT 'a\\'; DELETE FROM t; --'",
    'SELECT a$$; DELETE FROM t; $$',
    'SELECT é$$; DELETE FROM t; $$',
    'SELECT 1$$; DELETE FROM t; $$',
    'SELECT $1$$; DELETE FROM t; $$',
    'SELECT $a$ $b$ $a$; DELETE FROM t; $b$',
    'SELECT $a$ open',
    'SELECT $é$ x $é$; DELETE FROM t',
    'SELECT $A$ x $a$ ; DELETE FROM t; $a$',
    'SELECT /* /* */ 1; */ 1; DELETE FROM t',
    '/* /* */ SELECT 1',
    'SELECT "a""; DELETE FROM t; --"; DELETE FROM t',
    'SELECT U&"\\0064elete" FROM t',
    "SELECT lo_export(1, '/tmp/x')",
    'SELECT "lo_import" (\'/etc/passwd\')',
    'SELECT pg_catalog.lo_unlink(1)',
    "SELECT dblink_exec('x', 'delete from t')",
    "SELECT dblink /* x */ ('x', 'delete')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT SET_CONFIG('a.b', 'c', true)",
    "SELECT \"set_config\"('a.b', 'c', true)",
    "SELECT nextval('s')",
    'SELECT pg_terminate_backend(1)',
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    'SELECT pg_advisory_lock(1)',
    'SELECT pg_reload_conf()',
    "SELECT * FROM t WHERE a = 'x' # ; DELETE FROM t",
  ],
  mysql: [
    'SELECT /*! 1; DELETE FROM t */',
    '/*!50000 DELETE FROM t */',
    'SELECT 1 /*!INTO OUTFILE "x"*/',
    'SELECT /*M!100100 1 */',
    "SELECT /*+ SET_VAR(sql_mode='ANSI_QUOTES') */ 1",
    "SELECT 'a\\'; DELETE FROM t; -- ' ; DELETE FROM t",
    "SELECT 'a\\\\'; DELETE FROM t; -- '",
    'SELECT "a\\\\"; DELETE FROM t; -- "',
    'SELECT `a\\`; DELETE FROM t; -- `',
    'SELECT `a``; DELETE FROM t; -- `; DELETE FROM t',
    'SELECT `open',
    'SELECT 1 --DELETE FROM t',
    'SELECT 1 --1; DELETE FROM t',
    'SELECT 1 # x\n; DELETE FROM t',
    '# SELECT\nDELETE FROM t',
    'SELECT 1 /* /* */ ; DELETE FROM t /* */',
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT `load_file` ('/etc/passwd')",
    "SELECT load_file/**/('/etc/passwd')",
    "SELECT BENCHMARK(1000000000, MD5('x'))",
    "SELECT GET_LOCK('x', 10)",
    "SELECT sys_exec('id')",
    'SELECT NEXTVAL(s)',
    'SELECT NEXT VALUE FOR s',
    'SELECT 1 INTO @x',
    'HANDLER t OPEN',
    'ANALYZE DELETE FROM t',
    'SELECT * FROM t LOCK IN SHARE MODE',
    'REPLACE INTO t VALUES (1)',
    'RENAME TABLE t TO u',
  ],
  mssql: [
    'SELECT 1 DELETE FROM t',
    'SELECT 1\nDELETE FROM t',
    "SHOW 'x' DELETE FROM t",
    'SHOW x',
    'DESC x',
    'EXPLAIN SELECT 1',
    'PRAGMA x',
    'sp_who',
    "SELECT 1 EXEC xp_cmdshell 'dir'",
    'SELECT [a]]; DELETE FROM t; --]; DELETE FROM t',
    'SELECT [open',
    "SELECT 'a\\'; DELETE FROM t; --'",
    "SELECT * FROM OPENROWSET('x', 'y', 'delete')",
    "SELECT * FROM OPENQUERY(x, 'delete')",
    "SELECT * FROM [OPENQUERY](x, 'delete')",
    "SELECT 1 WAITFOR DELAY '1:00'",
    "SELECT 1 BACKUP DATABASE x TO DISK = 'y'",
    'SELECT 1 DBCC SHRINKDATABASE(x)',
    'SELECT 1 DECLARE @x int',
    'SELECT 1 IF 1=1 SELECT 2',
    'SELECT 1 RECONFIGURE',
    'SELECT 1 DENY SELECT ON t TO x',
    'SELECT NEXT VALUE FOR s',
    'SELECT 1 -- x\u2028DELETE FROM t',
    'SELECT 1\u0085DELETE FROM t',
    '/* /* */ SELECT 1',
  ],
  trino: [
    'SELECT /* /* */ 1; DELETE FROM t */',
    'SELECT "a"" ; DELETE FROM t',
    "SELECT 'a\\'; DELETE FROM t; --'",
    "SELECT * FROM TABLE(pg.system.execute(query => 'delete'))",
    'SELECT 1; RESET SESSION x',
    'EXPLAIN ANALYZE INSERT INTO t SELECT 1',
  ],
};

/** Run as they are. */
const HONEST = [
  'SELECT 1',
  "SELECT 'DELETE FROM t; -- it''s text'",
  'SELECT "delete" FROM t -- DELETE',
  'SELECT created_at, deleted, updates FROM inserts /* DROP */',
  'WITH x AS (SELECT 1 AS a) SELECT a FROM x',
  '((SELECT 1) UNION ALL (SELECT 2))',
  "SELECT * FROM t WHERE name = '日本語 🙂'",
  'SELECT größe FROM bücher',
  'SELECT 1.5e-3, 0.5, .5, 1e10',
];
const HONEST_OF_DIALECT: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    "SELECT E'it\\'s; DELETE'",
    'SELECT $$; DELETE FROM t$$',
    'SELECT $x$ $$ $y$ ; DROP $x$',
    "SELECT a::int, b->>'k', c #> '{d}' FROM t",
    'SHOW server_version',
    'EXPLAIN ANALYZE SELECT 1',
    "SELECT '\\'",
    'SELECT /* /* DELETE */ DELETE */ 1',
    'SELECT nextval FROM t',
  ],
  mysql: [
    'SELECT `delete` FROM t # DELETE',
    'SELECT "it\'s \\" ; DELETE"',
    "SELECT 'a\\'; DELETE'",
    'SHOW CREATE TABLE t',
    'DESC t',
    'SELECT 5--3',
    'SELECT 1 --',
    'SELECT * FROM 2024_sales',
    'SELECT @@version',
  ],
  mssql: [
    "SELECT [delete], N'x' FROM [dbo].[t]",
    'SELECT TOP 5 [a]]b] FROM t',
    'SELECT a FROM t ORDER BY a OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY',
  ],
  trino: ['SHOW CATALOGS', 'SELECT ARRAY[1, 2][1]', 'DESCRIBE t'],
};

describe.each(DIALECTS)('the rule for %s', (dialect) => {
  it.each([...HOSTILE, ...OF_DIALECT[dialect]])('refuses %j', (sql) => {
    expect(() => readStatements(sql, dialect)).toThrow(/only SELECT statements are allowed|the SQL cannot be run/);
  });

  it.each([...HONEST, ...HONEST_OF_DIALECT[dialect]])('lets %j through', (sql) => {
    expect(readStatements(sql, dialect)).toEqual([sql.replace(/\s+$/, '')]);
  });

  it('cuts where semicolons are none of a text, and drops what is empty', () => {
    expect(readStatements("SELECT ';' ; ;\n-- only a comment;\n; SELECT 2;", dialect)).toEqual([
      "SELECT ';'",
      'SELECT 2',
    ]);
  });

  it('takes off what models put around SQL', () => {
    expect(readStatements('```sql\nSELECT a [ID:12] FROM t;\n```', dialect)).toEqual(['SELECT a  FROM t']);
  });

  it.each(['', '  ', ';', '-- nothing', '```\n```'])('says that %j is nothing', (sql) => {
    expect(() => readStatements(sql, dialect)).toThrow('SQL for `ExeSQL` MUST not be empty.');
  });

  it('bounds length and number', () => {
    expect(() => readStatements(`SELECT '${'x'.repeat(200_000)}'`, dialect)).toThrow('longer than 200000');
    expect(() => readStatements('SELECT 1;'.repeat(51), dialect)).toThrow('more than 50 statements');
  });

  property('loses nothing but white space, whatever the text', 1_000, (random) => {
    const sql = pieces(random, WILD, 14);
    const tokens = tokensOf(sql, dialect) ?? [];
    let at = 0;
    for (const token of tokens) {
      expect(sql.slice(at, token.at).trim()).toBe('');
      expect(sql.slice(token.at, token.at + token.source.length)).toBe(token.source);
      at = token.at + token.source.length;
    }
    if (tokens.length > 0) expect(sql.slice(at).trim()).toBe('');
  });

  property('never lets a statement hide behind quotes that are closed', 1_000, (random) => {
    const before = pieces(random, CLOSED, 10);
    const sql = `SELECT ${before} ; DELETE FROM t ; SELECT ${before}`;
    expect(() => readStatements(sql, dialect), sql).toThrow('only SELECT');
  });

  property('never takes what is in quotes for a statement', 1_000, (random) => {
    const sql = `SELECT '${pieces(random, QUOTED, 10)}' FROM t`;
    expect(readStatements(sql, dialect)).toEqual([sql]);
  });

  it('reads in linear time what is made to be slow', () => {
    for (const part of ['/*', '$a$', "E'", '--', '(', "'", '1e', '$', '/*/', '[']) {
      tokensOf(part.repeat(60_000), dialect);
    }
  });
});

const WILD = [
  ...["'", '"', '`', '[', ']', '$$', '$a$', '--', '/*', '*/', '#', ';', '\\', '\n', ' '],
  ...['e', 'DELETE', '1', 'é', '(', 'SELECT'],
];
const CLOSED = [" 'a' ", " 'a''b' ", ' "c" ', " ';' ", ' /* ; */ ', '-- ; \n', ' x ', ' 1 ', ' , ', ' ( ', ' ) '];
const QUOTED = ['; DELETE FROM t', '"', '--', '/*', '*/', '` ', '[', '$$', '#', "''", ' ', '\n', 'DROP'];

function pieces(random: Random, from: readonly string[], most: number): string {
  return Array.from({ length: random.int(most) }, () => random.pick(from)).join('');
}

function tokensOf(sql: string, dialect: Dialect) {
  try {
    return readTokens(normaliseLines(sql), dialect);
  } catch {
    return undefined;
  }
}
