/**
 * Writes the functions that read only, from the catalogue of a server of this machine, into `src/adapters/sql/functions/`.
 *
 * Usage: `npx tsx scripts/generate-sql-functions.ts postgres://user@host:port/database` or `mariadb://root@host:port`; run
 * it with the newest server there is, and read the difference before it is committed.
 */
import { writeFileSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import postgres from 'postgres';
import { isProgram } from './support/script.js';

/**
 * Functions of Postgres's catalogue that people call: described for themselves, neither volatile nor a part of the
 * system's machinery (handlers, transitions, support functions), and the types, whose names convert.
 */
export const POSTGRES_CATALOGUE = `
  with unfit as (
    select oid from pg_catalog.pg_type where typname in ('internal', 'cstring', 'trigger', 'event_trigger', 'language_handler',
      'fdw_handler', 'index_am_handler', 'tsm_handler', 'table_am_handler', 'pg_ddl_command')
  )
  select proname::text as name
  from pg_catalog.pg_proc p left join pg_catalog.pg_description d on d.objoid = p.oid and d.classoid = 'pg_catalog.pg_proc'::regclass
  where pronamespace = 'pg_catalog'::regnamespace and prokind <> 'p' and provolatile <> 'v'
    and coalesce(description, '') !~ '^(?:implementation of|I/O|aggregate (?:transition|final|combine)|less-equal-greater|join selectivity|restriction selectivity)|\\(internal\\)'
    and prorettype not in (select oid from unfit)
    and not exists (select from pg_catalog.unnest(proargtypes) a where a in (select oid from unfit))
    and p.oid not in (select amproc from pg_catalog.pg_amproc)
    and p.oid not in (select conproc from pg_catalog.pg_conversion)
  union
  select typname::text from pg_catalog.pg_type
  where typnamespace = 'pg_catalog'::regnamespace and typtype in ('b', 'r', 'm') and typname !~ '^_|^pg_(?!lsn)'`;

/** What the catalogue says of itself is not enough for these: names by what they do. */
const NOT_FROM_POSTGRES =
  /_(?:to_xml.*|larger|smaller|transfn|combine|canonical|subdiff|accum|avg|corr)$|(?:[a-z0-9](?:larger|smaller))$|^(?:float8_(?:regr|covar|stddev|var).*|int[48]_?(?:inc|dec)(?:_any)?|int2int4_sum|interval_.*|numeric_.*|cash_.*|ts_rewrite|aclinsert|aclremove|makeaclitem|txid_current|pg_current_xact_id|pg_event_trigger_.*|pg_stat_get_.*|pg_prepared_.*|pg_cursor|pg_config|pg_show_.*|pg_get_(?:replication|publication|catalog).*|pg_listening_.*|pg_tablespace_.*|pg_options_to_table|pg_walfile_.*|pg_replication_.*|pg_mcv_.*|pg_timezone_.*|pg_available_.*|pg_extension_.*|satisfies_hash_partition|d(?:exp|log1|log10|round|trunc)|textlen|like|notlike|.*like_escape|similar_.*|nameconcatoid|xmlvalidate|aclitem|refcursor|reg(?:proc|procedure|oper|operator|collation))$/;

/** Functions of MariaDB that do more than to compute, wait or belong to replication. */
const NOT_FROM_MARIADB =
  /^(?:sleep|benchmark|load_file|get_lock|release_(?:all_)?locks?|is_(?:free|used)_lock|master_.*|binlog_.*|wsrep_.*|decode_histogram|.*_oracle|last_insert_id|old_password|password|name_const)$/;

/** @throws what the driver does. */
export async function postgresFunctions(sql: postgres.Sql): Promise<readonly string[]> {
  const rows = await sql.unsafe(POSTGRES_CATALOGUE);
  return sorted(rows.map(({ name }) => String(name))).filter((name) => !NOT_FROM_POSTGRES.test(name));
}

async function mariadbFunctions(url: string): Promise<readonly string[]> {
  const { hostname, port, username, password } = new URL(url);
  const connection = await createConnection({
    host: hostname,
    port: Number(port),
    user: username,
    password,
    rowsAsArray: true,
  });
  const [rows] = await connection.query('select lower(function) from information_schema.sql_functions');
  await connection.end();
  return sorted((rows as unknown as string[][]).map(([name = '']) => name)).filter(
    (name) => !NOT_FROM_MARIADB.test(name),
  );
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => /^[a-z_][a-z0-9_]*$/.test(name)).sort();
}

function write(dialect: string, title: string, names: readonly string[]): void {
  const lines = names.reduce<string[]>((made, name) => {
    const last = made.at(-1);
    if (last !== undefined && last.length + name.length < 115) made[made.length - 1] = `${last} ${name}`;
    else made.push(`  ${name}`);
    return made;
  }, []);
  const text = `/** Written by \`scripts/generate-sql-functions.ts\`; what is missing belongs into \`known-functions.ts\`. */

/** Functions that read only, as the catalogue of ${title} lists them. */
export const ${dialect}Catalogue = \`
${lines.join('\n')}
\`;
`;
  writeFileSync(`src/adapters/sql/functions/${dialect}-catalogue.ts`, text);
}

if (isProgram(import.meta.url)) {
  const [url = ''] = process.argv.slice(2);
  if (url.startsWith('postgres')) {
    const sql = postgres(url);
    const [row] = await sql`show server_version_num`;
    const version = Math.floor(Number(row?.server_version_num) / 10_000);
    write('postgres', `Postgres ${version}`, await postgresFunctions(sql));
    await sql.end();
  } else if (url.startsWith('mariadb')) {
    write('mariadb', 'MariaDB', await mariadbFunctions(url));
  } else {
    throw new Error('Give the URL of a server: postgres://… or mariadb://…');
  }
}
