import { describe, expect, it } from 'vitest';
import { readAllowedFunctions } from '../../../src/adapters/sql/calls.js';
import type { Dialect } from '../../../src/adapters/sql/dialects.js';
import { readStatements } from '../../../src/adapters/sql/statements.js';
import { normaliseLines, readTokens } from '../../../src/adapters/sql/tokens.js';
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

/** Functions that do more than to compute, however their call is written. */
const CALLS: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    "select query_to_xml('select pg_ls_dir(''.'')', true, true, '')",
    "select * from ts_stat('select to_tsvector(''simple'', pg_read_file(''PG_VERSION''))')",
    "select ts_rewrite('a'::tsquery, 'select pg_read_file(''x'')')",
    "select query_to_xmlschema('select 1', true, true, '')",
    "select query_to_xml_and_xmlschema('select 1', true, true, '')",
    "select cursor_to_xml('c', 1, true, true, '')",
    "select schema_to_xml('public', true, true, '')",
    "select xpath_table('a', 'b', 'c', 'd', 'true')",
    "select xslt_process('x', 'file:///etc/passwd')",
    "select * from crosstab('delete from t') as ct(a text, b text)",
    "select * from crosstab_hash('x', 'y') as ct(a text)",
    "select * from connectby('t', 'a', 'b', 'c', 0) as t(a text, b text, c int)",
    "select net.http_get('http://169.254.169.254/')",
    "select http_get('http://169.254.169.254/')",
    "select content from http(('GET', 'http://x', null, null, null))",
    "select aws_s3.query_export_to_s3('select 1', 'b')",
    "select aws_lambda.invoke('f')",
    "select cron.schedule('* * * * *', 'delete from t')",
    "select pg_start_backup('x')",
    'select pg_stat_statements_reset()',
    'select pg_stat_reset()',
    'select pg_stat_reset_shared()',
    'select pg_sleep(1000)',
    "select pg_sleep_for('1 hour')",
    'select setseed(1)',
    'select pg_current_xact_id()',
    'select pg_export_snapshot()',
    "select unheard_of('x')",
    "select public.lower('x')",
    'select "LOWER"(\'x\')',
    'select "lower"""(\'x\')',
    'select pg_catalog . pg_sleep ( 1 )',
    'select pg_catalog."pg_sleep"(1)',
    'select "pg_catalog"."pg_sleep"(1)',
    'select db.pg_catalog.pg_sleep(1)',
    "select ('PG_VERSION'::text).pg_read_file",
    'select (\'PG_VERSION\'::text)."pg_read_file"',
    "select (array['PG_VERSION'::text])[1].pg_read_file",
    "select x.pg_read_file from lower('x') x",
    "select (x). /* y */ pg_ls_dir from lower('x') x",
    'select * from pg_ls_dir(chr(47))',
    'select * from t, lateral pg_ls_dir(t.a)',
    'select * from t cross join lateral unheard(a)',
    'select * from rows from (pg_ls_dir(chr(47)))',
    'select * from (values (pg_sleep(1))) v(a)',
    'select * from (select 1) pg_sleep(a)',
    'select distinct on (a) unheard(b) from t',
    'select case when (a) then unheard(b) end from t',
    'select 1 limit (1) offset unheard(a)',
    'select 1 OPERATOR(public.+) 2',
    'select 1 from t join u on 1 operator(pg_catalog.+) unheard(a) > 1',
    'select sum(a) over (order by pg_sleep(1)) from t',
    'select count(*) filter (where unheard(a)) from t',
    'with x as (select pg_sleep(1)) select * from x',
    'with x(a) as (select unheard(1)), y as (select 1) select unheard(a) from x',
    'with recursive x as (select 1), y(a) as (select 1) select y(a) from x',
    'select (select unheard(1))',
    'select array(select unheard(1))',
    'select a[1:unheard(2)] from t',
    'select * from t tablesample unheard(10)',
    'explain analyze select pg_sleep(1)',
    'explain (analyze, format json) select unheard(1)',
    'show x; select unheard()',
    'select K(1)',
    'select ｌower(a) from t',
    'select 1unheard(1)',
  ],
  mysql: [
    'SELECT SLEEP(1000)',
    'SELECT sleep /* x */ (1000)',
    'SELECT `sleep`(1000)',
    'SELECT `lower`(1)',
    'SELECT unheard(1)',
    'SELECT shop.lower(1)',
    'SELECT `shop`.`lower`(1)',
    "SELECT {fn load_file('/etc/passwd')}",
    'SELECT * FROM t WHERE a = (SELECT lib_mysqludf_sys_info())',
    'SHOW TABLES WHERE sleep(5)',
    'SELECT * FROM t PROCEDURE analyse()',
    'SELECT RELEASE_ALL_LOCKS()',
    "SELECT spider_direct_sql('delete', 't', 'srv')",
    "SELECT mroonga_command('shutdown')",
    "SELECT utl_http.request('http://x')",
    "SELECT WAIT_FOR_EXECUTED_GTID_SET('x')",
    "SELECT MASTER_GTID_WAIT('x')",
    "SELECT http_get('http://169.254.169.254/')",
    "SELECT JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')), unheard(1)",
    'SELECT * FROM (SELECT 1 a) x JOIN JSON_TABLE(unheard(1), 1) y',
    'EXPLAIN FORMAT=JSON SELECT unheard(1)',
    'WITH RECURSIVE x (a) AS (SELECT 1 UNION SELECT unheard(a) FROM x) SELECT * FROM x',
    'SELECT @a := unheard(1)',
    'SELECT 1unheard(1)',
  ],
  mssql: [
    "SELECT * FROM sys.fn_xe_file_target_read_file('\\\\evil\\s\\*', null, null, null)",
    "SELECT * FROM fn_get_audit_file('\\\\evil\\s\\*', null, null)",
    "SELECT * FROM sys.fn_get_audit_file_v2('x', null, null)",
    "SELECT * FROM sys.dm_os_enumerate_filesystem('C:\\', '*')",
    "SELECT * FROM sys.dm_os_file_exists('\\\\evil\\s\\x')",
    "SELECT * FROM [sys].[dm_os_file_exists]('x')",
    'SELECT * FROM fn_dump_dblog(null, null)',
    'SELECT * FROM sys.fn_dblog(null, null)',
    "SELECT * FROM ::fn_trace_gettable('x', 1)",
    'SELECT * FROM sys.dm_exec_sql_text(0x01)',
    'SELECT dbo.anything(1)',
    'SELECT a FROM t CROSS APPLY dbo.anything(a)',
    'SELECT TOP (5) unheard(1)',
    'SELECT a.query(1) FROM t',
    "SELECT geometry::STGeomFromText('POINT (1 1)', 0)",
    'SELECT * FROM OPENXML(1, 2)',
    'SELECT [XP_cmdshell](1)',
    'SELECT ｏｐｅｎｒｏｗｓｅｔ(1)',
    'SELECT * FROM other.db.dbo.t',
    'SELECT * FROM [\\\\evil\\x] . [db] . . t',
    'SELECT 1 FROM t JOIN other...t u ON 1 = 1',
    'SELECT 1 FROM t, "other".db..t',
  ],
  trino: [
    "SELECT * FROM TABLE(pg.system.query(query => 'delete from t'))",
    "SELECT * FROM TABLE(query(query => 'x'))",
    'SELECT * FROM TABLE("pg"."system"."query"(query => \'x\'))',
    "SELECT * FROM TABLE(es.system.raw_query(schema => 'a', index => 'b', query => '{}'))",
    "SELECT * FROM TABLE(mssql.system.procedure(query => 'EXECUTE x'))",
    'SELECT * FROM TABLE(x.system.unload(input => TABLE(t)))',
    "SELECT ai_gen('x')",
    'SELECT unheard(1)',
    'SELECT a.b.unheard(1)',
    'WITH FUNCTION f(a int) RETURNS int RETURN a SELECT f(1)',
    'WITH FUNCTION lower(a int) RETURNS int RETURN a SELECT 1',
  ],
};

/** Calls that are none, or of functions that only compute. */
const HARMLESS: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    "select lower(a), pg_catalog.lower(b), \"upper\"(c), coalesce(d, 'x'), now(), replace(e, 'a', 'b') from t",
    'select count(*) filter (where a > 1), sum(b) over (partition by c order by d) from t group by grouping sets ((a), (b))',
    'select percentile_cont(0.5) within group (order by a) from t',
    'select a::numeric(10, 2), b::varchar(5), cast(c as decimal(4, 1)), d::timestamp(0), extract(year from e) from t',
    'select * from (values (1, 2)) v(a, b)',
    'select * from (values (1, 2)) as v (a, b)',
    'select g.n from generate_series(1, 3) g(n) join generate_series(1, 2) as h(m) on (true)',
    'select * from unnest(array[1, 2]) with ordinality u(a, b)',
    "select * from json_to_recordset('[]') as x(a int, b numeric(3, 1))",
    'with a(x, y) as (select 1, 2), b (z) as materialized (select 3) select * from a, b where exists (select 1) and not (x = 2)',
    'with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r',
    'select * from t where (a, b) in (select 1, 2) and c = any (array(select 1)) or d between (1) and (2)',
    "select t.http_status, t.lo_orderdate, u.sleep, t.cron from t, u where t.a ilike ('x') escape ('y')",
    'select * from a natural join (select 1) b limit (1) offset (2)',
    'select x.y.z, (row(1, 2)).f1 from x tablesample bernoulli (10) repeatable (1)',
    "select interval(0) '1', interval '1 day' * 2, trim(both from a), position('a' in b), overlay(a placing b from 1) from t",
    'select xmlelement(name a, xmlattributes(b as c), xmlforest(d)), md5(e), gen_random_uuid() from t',
    'select case when (a) then (b) else (c) end, distinct_on, row_number() over () from t',
    'select lower_inc(a), to_char(b, c), date_trunc(d, e), string_agg(f, g order by h), jsonb_path_query(i, j) from t',
    'select pg_size_pretty(pg_total_relation_size(oid)), a[(1)] from pg_class',
    'explain (analyze, format json) select 1',
    'explain (select 1)',
    "select a at time zone ('utc'), a is not distinct from (b), rank() over w from t window w as (order by a)",
    'select a from t group by rollup (a), cube (b) intersect (select 2) fetch first (5) rows only',
    'select a::double precision, b::character varying(10), c::timestamp(3) with time zone from t join lateral (select 1) x on (true)',
  ],
  mysql: [
    'SELECT IF(a, b, c), IFNULL(a, 1), CONCAT(a, b), REPLACE(a, b, c), TRUNCATE(a, 2), LEFT(a, 1), DATE(a) FROM t',
    "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR ','), COUNT(*), NOW(6), YEAR(a), DATE_FORMAT(a, '%Y') FROM t",
    "SELECT * FROM t FORCE INDEX (i) WHERE MATCH (a) AGAINST ('x') AND b RLIKE ('y') AND c IN (1) XOR (d)",
    "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$', b VARCHAR(10) PATH '$.b')) AS j",
    'SELECT CAST(a AS CHAR(3)), CONVERT(b USING utf8mb4), CONVERT(c, DECIMAL(10, 2)), TIMESTAMPDIFF(DAY, a, b) FROM t',
    'WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT SUM(a) OVER (PARTITION BY a) FROM x',
    'SELECT VERSION(), DATABASE(), LAST_INSERT_ID(), a DIV (2), DATE_ADD(a, INTERVAL (1) DAY), EXTRACT(YEAR FROM a) FROM t',
    "SELECT ST_AsText(ST_GeomFromText('POINT(1 1)')), JSON_EXTRACT(a, '$.b'), REGEXP_LIKE(a, b), UUID_TO_BIN(c) FROM t",
  ],
  mssql: [
    "SELECT TOP (5) LEN(a), ISNULL(b, 1), CONVERT(VARCHAR(10), c, 120), TRY_CAST(d AS DECIMAL(10, 2)), IIF(a > 1, 'x', 'y') FROM t WITH (NOLOCK)",
    "SELECT a FROM t CROSS APPLY STRING_SPLIT(b, ',') s CROSS APPLY OPENJSON(c) WITH (d NVARCHAR(10) '$.d') WHERE CONTAINS(a, 'x')",
    'SELECT * FROM (VALUES (1, 2)) v(a, b) ORDER BY GETDATE() OFFSET (0) ROWS FETCH NEXT (5) ROWS ONLY OPTION (RECOMPILE)',
    'SELECT * FROM (SELECT a, b FROM t) p PIVOT (SUM(a) FOR b IN ([x], [y])) q',
    "SELECT [len](a), STRING_AGG(b, ',') WITHIN GROUP (ORDER BY b), DATEDIFF(day, a, SYSDATETIME()), sys.object_id FROM t",
    'WITH x (a) AS (SELECT 1) SELECT ROW_NUMBER() OVER (ORDER BY a) FROM x',
    'SELECT db.dbo.t.a FROM db.dbo.t JOIN db..u ON db.dbo.t.a = db.dbo.u.a WHERE db.dbo.t.a = 1.5',
  ],
  trino: [
    "SELECT approx_distinct(a), date_trunc('day', b), try(CAST(c AS ROW(x varchar(3), y decimal(10, 2)))), if(d, 1, 2) FROM t",
    'SELECT * FROM UNNEST(ARRAY[1, 2], MAP(ARRAY[1], ARRAY[2])) WITH ORDINALITY AS u (a, b, c)',
    'SELECT * FROM TABLE(sequence(1, 5)) CROSS JOIN (VALUES (1)) v(a)',
    "SELECT transform(a, x -> (x + 1)), json_extract_scalar(b, '$.c'), from_unixtime(d), count_if(e) FILTER (WHERE f) FROM t",
    'SELECT * FROM t TABLESAMPLE BERNOULLI (10) WHERE a IN (1) AND EXISTS (SELECT 1)',
    'EXPLAIN (TYPE LOGICAL) SELECT 1',
    "SELECT a AT TIME ZONE ('UTC'), listagg(a, ',') WITHIN GROUP (ORDER BY a), MAP(ARRAY['a'], ARRAY[1]) FROM t",
  ],
};

describe.each(DIALECTS)('calls in %s', (dialect) => {
  it.each(CALLS[dialect])('refuses %j', (sql) => {
    expect(() => readStatements(sql, dialect)).toThrow(/only SELECT statements are allowed|the SQL cannot be run/);
  });

  it.each(HARMLESS[dialect])('lets %j through', (sql) => {
    expect(readStatements(sql, dialect)).toEqual([sql]);
  });

  it('lets through what the author allows, under that name alone', () => {
    const read = (sql: string, names: string) => readStatements(sql, dialect, readAllowedFunctions(names));
    expect(read('SELECT unheard(1), shop.unheard(2)', 'unheard')).toHaveLength(1);
    expect(read('SELECT Shop.Unheard(2)', 'shop.unheard')).toHaveLength(1);
    expect(read('SELECT geo_a(1), geo_b(2)', 'other, GEO_*')).toHaveLength(1);
    expect(() => read('SELECT unheard(2)', 'shop.unheard')).toThrow('unheard is not known');
    expect(() => read('SELECT other.unheard(2)', 'shop.unheard')).toThrow('other.unheard is not known');
    expect(() => read('SELECT unheard_of(2)', 'unheard')).toThrow('unheard_of is not known');
  });

  it.each(['a b(c)', '*', 'a.b.c', "x'", 'a-b', '1a'])('says that %j names no functions', (names) => {
    expect(() => readAllowedFunctions(names)).toThrow('which is no name');
  });
});

it.each<[Dialect, string, string]>([
  ['postgres', 'select pg_sleep(1)', 'pg_*'],
  ['postgres', "select query_to_xml('x')", 'query_to_xml'],
  ['postgres', "select net.http_get('x')", 'net.http_get'],
  ['mysql', "select load_file('x')", 'load_file'],
  ['mssql', "select * from sys.fn_xe_file_target_read_file('x')", 'sys.fn_xe_file_target_read_file'],
  ['trino', "select * from table(pg.system.query(query => 'x'))", 'query'],
])('refuses in %s what takes SQL, waits or reaches out, although the author allows it: %s', (dialect, sql, names) => {
  expect(() => readStatements(sql, dialect, readAllowedFunctions(names))).toThrow('has effects of its own');
});

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
    const parts = [
      'a.',
      'a(',
      ') a(',
      'a,',
      '.',
      'f(a) ',
      '::f(',
      ', a(a',
      'with a(b) as (',
      'from (a) b(c), ',
      'fn_',
      '_to_xml',
    ];
    for (const part of parts) {
      const sql = `SELECT 1 FROM ${part.repeat(180_000 / part.length)}`;
      try {
        expect(readStatements(sql, dialect)).toHaveLength(1);
      } catch (error) {
        expect(error).toMatchObject({ code: 'TOOL_FAILED' });
      }
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
