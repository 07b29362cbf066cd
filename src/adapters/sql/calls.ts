/** The functions that a statement calls, and whether they are known to read only. */
import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';
import { knownFunctions } from './functions/known-functions.js';
import type { Token } from './tokens.js';

/**
 * Functions that are refused whatever else is allowed: they take SQL as a text, reach files, the network, other servers or other
 * sessions, wait, lock, or change settings and sequences, none of which a read-only transaction prevents.
 */
const FORBIDDEN: Readonly<Record<Dialect, RegExp>> = {
  postgres:
    /^(?:.*_to_xml(?:schema|_and_xmlschema)?|ts_stat|ts_rewrite|xpath_table|xslt_process|crosstab.*|connectby.*|dblink.*|lo_.*|lowrite|loread|set_config|nextval|setval|setseed|pg_sleep.*|pg_read_.*|pg_ls_.*|pg_stat_file|pg_file_.*|pg_write_.*|pg_execute_.*|pg_terminate_.*|pg_cancel_.*|pg_reload_.*|pg_rotate_.*|pg_switch_.*|pg_promote|pg_create_.*|pg_drop_.*|pg_copy_.*|pg_start_.*|pg_stop_.*|pg_backup_.*|pg_logical_.*|pg_replication_.*|pg_sync_.*|pg_(?:try_)?advisory_.*|pg_notify|pg_stat_.*reset.*|pg_stat_(?:clear|force).*|pg_wal_(?!lsn_diff$).*|pg_get_wal_.*|pg_log_.*|pg_export_snapshot|pg_import_.*|pg_hba_.*|pg_ident_.*|pg_show_all_file_settings|pg_current_logfile|pg_prewarm|autoprewarm_.*|pg_buffercache_evict.*|pg_truncate_.*|pg_background_.*|pg_restore_.*|pg_clear_.*|pg_set_.*|heap_force_.*|binary_upgrade_.*|brin_.*|gin_clean_.*|currtid.*|get_raw_page|postgres_fdw_.*|file_fdw_.*|http.*|aws_.*|azure_.*|blob_(?:get|put|list).*|cron_.*|schedule_in_database|load_file|exec|exec_sql|execute_.*|run_sql|run_command_on_.*|cypher|query_to_.*|pl(?:pgsql|perl|python.*|sh)_.*|txid_current|pg_current_xact_id)$/,
  mysql:
    /^(?:load_file|sleep|benchmark|get_lock|release_lock|release_all_locks|nextval|setval|sys_(?:exec|eval|get|set|bineval)|lib_mysqludf.*|http_.*|master_.*|source_pos_wait|wait_.*|wsrep_sync_.*|service_.*|version_tokens_.*|keyring_.*|audit_log_.*|group_replication_.*|asynchronous_connection_.*|mysql_firewall.*|set_firewall_mode|read_firewall_.*|load_rewrite_rules|gen_dictionary_.*|mysqlx_.*|spider_.*|mroonga_.*|dbms_.*|utl_.*)$/,
  mssql:
    /^(?:openrowset|openquery|opendatasource|openxml|fn_.*trace.*|fn_xe_.*|fn_get_audit_.*|fn_dump_dblog.*|fn_dblog.*|fn_full_dblog|fn_get_sql|fn_virtual.*|dm_.*|xp_.*|sp_.*)$/,
  trino: /^(?:query|raw_query|execute|procedure|unload|ai_.*)$/,
};

/** Schemas of extensions that reach the network or run statements later. */
const FORBIDDEN_SCHEMAS = /^(?:net|http|https|cron|dblink|aws_.*|azure_.*|pg_background|dbms_.*|utl_.*)$/;

/** The schema that holds the functions of the server itself, where statements may name it. */
const OWN_SCHEMA: Partial<Record<Dialect, string>> = { postgres: 'pg_catalog', mssql: 'sys' };

/** Functions that the author of a document allows: `name`, `schema.name`, or with a star at the end, all in lower case. */
export type AllowedFunctions = readonly string[];

/**
 * The names in a text of an author, with commas or spaces between them.
 *
 * @throws EngineError TOOL_FAILED for what cannot be the name of a function.
 */
export function readAllowedFunctions(text: string): AllowedFunctions {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  const bad = names.find((name) => !/^(?:[A-Za-z_][\w$]*\.)?[A-Za-z_][\w$]*\*?$/.test(name));
  if (bad !== undefined) {
    throw toolFailed(
      `"functions" holds ${JSON.stringify(bad.slice(0, 60))}, which is no name; write \`name\`, \`schema.name\` or \`prefix_*\``,
    );
  }
  return names.map((name) => name.toLowerCase());
}

/** Names of a statement behind which a server may have a function of its own. */
export interface NamesAtServer {
  /** Called without a schema, as functions of the server are. */
  readonly called: readonly string[];
  /** Behind a dot, where Postgres also looks for a function of one argument: `(x).name` is `name(x)`. */
  readonly fields: readonly string[];
}

/**
 * Holds that a statement calls only functions that are known to read; comments must be left out of `tokens`.
 *
 * @returns what the server can be asked about.
 * @throws EngineError TOOL_FAILED naming the function.
 */
export function checkCalls(tokens: readonly Token[], dialect: Dialect, allowed: AllowedFunctions = []): NamesAtServer {
  const called = new Set<string>();
  const fields = new Set<string>();
  const levels: Level[] = [{ clause: undefined }];
  tokens.forEach((token, index) => {
    const level = levels.at(-1) as Level;
    if (token.source === '(') levels.push({ clause: undefined });
    else if (token.source === ')' && levels.length > 1) levels.pop();
    else if (token.source === '.' && dialect === 'mssql') checkServerName(tokens, index, level);
    else if (token.kind === 'word') level.clause = clauseAfter(level.clause, tokens, index, levels.length);
    const name = nameOf(token);
    if (name === undefined) return;
    // Trino defines functions in front of a query.
    if (level.clause === 'with' && name === 'function' && dialect === 'trino') throw forbidden(token.source);
    const qualifier = tokens[index - 1]?.source === '.' ? (nameOf(tokens[index - 2]) ?? '') : undefined;
    if (tokens[index + 1]?.source === '(') {
      const call = { tokens, index, name, qualifier, level };
      if (checkCall(call, dialect, allowed) && qualifier === undefined) called.add(name);
    } else if (qualifier !== undefined && dialect === 'postgres' && token.kind !== 'number') {
      // Columns may be called as functions of extensions are, never as those of the server itself.
      if (/^(?:pg_|lo_(?:creat|get|import|open|unlink))/.test(name) && isForbidden(name)) throw forbidden(token.source);
      fields.add(name);
    }
  });
  return { called: [...called], fields: [...fields] };
}

/** Whether a function of Postgres is refused whatever else is allowed; `name` in lower case. */
export function isForbidden(name: string): boolean {
  return FORBIDDEN.postgres.test(name);
}

/** Where in a query the tokens between two brackets are. */
interface Level {
  /** `with`: among the names of common tables; `from`: among tables. Undefined: no clause has begun. */
  clause: 'with' | 'from' | 'other' | undefined;
}

const TABLES: ReadonlySet<string> = new Set(['FROM', 'JOIN', 'APPLY']);
const NO_TABLES: ReadonlySet<string> = new Set(
  'SELECT ON USING WHERE GROUP ORDER HAVING WINDOW QUALIFY LIMIT OFFSET FETCH UNION INTERSECT EXCEPT VALUES FOR'.split(
    ' ',
  ),
);

function clauseAfter(clause: Level['clause'], tokens: readonly Token[], index: number, depth: number): Level['clause'] {
  const word = tokens[index]?.source.toUpperCase() ?? '';
  // A name of a column or a schema is no clause.
  if (tokens[index - 1]?.source === '.') return clause;
  if (word === 'WITH' && clause === undefined && (depth === 1 || tokens[index - 1]?.source === '(')) return 'with';
  if (TABLES.has(word)) return 'from';
  return NO_TABLES.has(word) ? 'other' : clause;
}

/** Tables of four parts are those of another server, which is asked with the rights of this one. */
function checkServerName(tokens: readonly Token[], index: number, { clause }: Level): void {
  let dots = 1;
  for (let before = index - 1; dots < 4 && tokens[before] !== undefined; before -= 1) {
    if (tokens[before]?.source === '.') dots += 1;
    else if (nameOf(tokens[before]) === undefined || tokens[before - 1]?.source !== '.') break;
  }
  if (clause === 'from' && dots > 2) {
    throw toolFailed('only SELECT statements are allowed, and of this server alone: a table has three parts at most');
  }
}

interface Call {
  readonly tokens: readonly Token[];
  /** Of the name. */
  readonly index: number;
  readonly name: string;
  readonly qualifier: string | undefined;
  readonly level: Level;
}

/** True for what a server may know another function for. */
function checkCall(call: Call, dialect: Dialect, allowed: AllowedFunctions): boolean {
  const { tokens, index, name, qualifier } = call;
  const token = tokens[index] as Token;
  if (token.kind === 'number') {
    throw toolFailed(
      `the SQL cannot be run: put a space between the number and what follows in ${token.source.slice(0, 40)}(`,
    );
  }
  // An operator is a function that is written otherwise, and may be of anyone.
  if (name === 'operator' && qualifier === undefined) throw forbidden('OPERATOR');
  if (FORBIDDEN[dialect].test(name) || (qualifier !== undefined && FORBIDDEN_SCHEMAS.test(qualifier))) {
    throw forbidden(token.source);
  }
  if (isNoCall(call, dialect)) return false;
  if (isAllowedFunction(name, allowed, qualifier)) return false;
  const { functions, reserved } = knownFunctions[dialect];
  if (qualifier === undefined && token.kind === 'word' && reserved.has(name)) return false;
  const isOwn = qualifier === undefined || qualifier === OWN_SCHEMA[dialect];
  if (!isOwn || !functions.has(writtenName(token, dialect))) throw unknown(qualifier, token.source);
  // MySQL takes a word of its grammar for a function of the database when something stands before the bracket.
  return (
    dialect === 'postgres' || (dialect === 'mysql' && token.at + token.source.length < (tokens[index + 1]?.at ?? 0))
  );
}

/** Columns behind the name of a table, a type with its length. */
function isNoCall({ tokens, index, level, qualifier }: Call, dialect: Dialect): boolean {
  if (qualifier !== undefined) return false;
  const before = tokens[index - 1];
  if (before?.kind === 'word' && before.source.toUpperCase() === 'AS') return tokens[index - 2]?.source !== '.';
  if (dialect === 'postgres' && before?.source === ':' && tokens[index - 2]?.source === ':') return true;
  if (level.clause === 'with') return /^(?:with|recursive|,)$/i.test(before?.source ?? '');
  const isBehindTable = before?.source === ')' || /^ordinality$/i.test(before?.source ?? '');
  return level.clause === 'from' && isBehindTable && holdsNamesOnly(tokens, index + 2);
}

function holdsNamesOnly(tokens: readonly Token[], start: number): boolean {
  for (let index = start; index < tokens.length; index += 1) {
    const { kind, source } = tokens[index] as Token;
    if (source === ')') return true;
    if (kind !== 'word' && kind !== 'name' && source !== ',') return false;
  }
  return false;
}

/** Whether the author allows a function; `name` and the schema before it in lower case. */
export function isAllowedFunction(name: string, allowed: AllowedFunctions, qualifier?: string): boolean {
  const full = qualifier === undefined ? name : `${qualifier}.${name}`;
  return allowed.some((entry) => {
    const subject = entry.includes('.') ? full : name;
    return entry.endsWith('*') ? subject.startsWith(entry.slice(0, -1)) : subject === entry;
  });
}

/** A name without its quotes, in lower case; the letters behind a number are one too. Undefined: it is none. */
export function nameOf(token: Token | undefined): string | undefined {
  if (token?.kind === 'word') return lower(token.source);
  if (token?.kind === 'name') return lower(token.source.slice(1, -1));
  return token?.kind === 'number' && /[A-Za-z_\u0080-\uffff]/.test(token.source) ? lower(token.source) : undefined;
}

/** The name that a server looks up: in Postgres quotes keep capital letters, which no function of its own has. */
function writtenName({ kind, source }: Token, dialect: Dialect): string {
  if (kind !== 'name') return lower(source);
  const inner = source.slice(1, -1);
  // Quoted, MySQL looks for functions of the database first where the grammar has a word of that name.
  if (dialect === 'mysql') return '';
  return dialect === 'postgres' ? inner : lower(inner);
}

/** ASCII only: servers differ in what other letters become. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

function forbidden(name: string): Error {
  return toolFailed(`only SELECT statements are allowed; the function ${name.slice(0, 60)} has effects of its own`);
}

function unknown(qualifier: string | undefined, name: string): Error {
  const full = qualifier === undefined ? name : `${qualifier}.${name}`;
  return toolFailed(
    `only SELECT statements are allowed; the function ${full.slice(0, 120)} is not known to do nothing else. ` +
      'Use another one; the author of the canvas can allow it with the parameter "functions"',
  );
}
