import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';
import type { Token } from './lexer.js';

/** Statements that only read, by their first word. */
const READING: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'EXPLAIN', 'SHOW', 'DESCRIBE', 'DESC', 'PRAGMA']);
/** SQL Server takes any other first word for the name of a procedure. */
const READING_MSSQL: ReadonlySet<string> = new Set(['SELECT', 'WITH']);
/** What these show is named after what makes it, as in SHOW CREATE TABLE. */
const OUTRIGHT: ReadonlySet<string> = new Set(['SHOW', 'PRAGMA']);

/** Words that change something, wherever they stand outside of quotes. */
const CHANGING =
  `INSERT UPDATE DELETE REPLACE MERGE TRUNCATE CREATE DROP ALTER RENAME GRANT REVOKE LOCK UNLOCK CALL EXEC EXECUTE COPY VACUUM
  SET RESET USE KILL LOAD CHECKPOINT BEGIN COMMIT ROLLBACK START SHUTDOWN INTO OUTFILE DUMPFILE`.split(/\s+/);
/** SQL Server has no read-only transaction, and its statements need no semicolon between them. */
const CHANGING_MSSQL =
  `BACKUP RESTORE DENY DBCC DECLARE WAITFOR BULK OPENROWSET OPENQUERY OPENDATASOURCE UPDATETEXT WRITETEXT READTEXT RECONFIGURE
  RAISERROR THROW IF WHILE GOTO ENABLE DISABLE REVERT SETUSER SEND RECEIVE`.split(/\s+/);
const COMMON: ReadonlySet<string> = new Set(CHANGING);
const WORDS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  postgres: COMMON,
  mysql: COMMON,
  trino: COMMON,
  mssql: new Set([...CHANGING, ...CHANGING_MSSQL]),
};

/** Functions that reach beyond what a read-only transaction guards: files, other servers, other sessions, settings. */
const FUNCTIONS: Readonly<Record<Dialect, RegExp>> = {
  postgres:
    /^(?:lo_.*|lowrite|loread|dblink.*|set_config|nextval|setval|pg_read_.*|pg_ls_.*|pg_stat_file|pg_file_.*|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_.*|pg_switch_wal|pg_promote|pg_create_.*|pg_drop_.*|pg_logical_.*|pg_replication_.*|pg_(?:try_)?advisory_.*|pg_notify|pg_stat_reset.*|pg_backup_.*|pg_wal_.*|pg_log_.*)$/,
  mysql:
    /^(?:load_file|sys_exec|sys_eval|sys_get|sys_set|benchmark|get_lock|release_lock|release_all_locks|nextval|setval|master_pos_wait|source_pos_wait)$/,
  mssql: /^(?:(?:openrowset|openquery|opendatasource)$|fn_.*trace|xp_)/,
  trino: /^(?:execute)$/,
};

/**
 * Holds that a statement only reads, as far as its words tell; the transaction in which it runs holds the rest.
 *
 * A column or a function that is named like a changing word (`start`, `replace`) has to stand in quotes, or is refused.
 *
 * @throws EngineError TOOL_FAILED naming the word.
 */
export function checkReadOnly(statement: readonly Token[], dialect: Dialect): void {
  const tokens = statement.filter(({ kind }) => kind !== 'comment');
  const first = tokens.find(({ source }) => source !== '(');
  const start = first?.kind === 'word' ? first.source.toUpperCase() : '';
  if (!(dialect === 'mssql' ? READING_MSSQL : READING).has(start)) throw refused(first?.source ?? '');
  tokens.forEach((token, index) => {
    const isCalled = tokens[index + 1]?.source === '(';
    if (isCalled && FUNCTIONS[dialect].test(nameOf(token))) throw refusedFunction(token.source);
    const word = OUTRIGHT.has(start) ? undefined : changingWord(token, WORDS[dialect]);
    if (word !== undefined) throw refused(word);
    // Takes a number from a sequence, which no rollback gives back.
    if (isWord(token, 'NEXT') && isWord(tokens[index + 1], 'VALUE')) throw refused('NEXT VALUE');
  });
}

/** A changing word in a token; any character beyond ASCII, and a number before it, may end what precedes it. */
function changingWord({ kind, source }: Token, words: ReadonlySet<string>): string | undefined {
  const upper = source.toUpperCase();
  if (kind === 'word') return upper.split(/[^A-Z0-9_$]+/).find((part) => words.has(part));
  if (kind !== 'number') return undefined;
  return [...words].find((word) => upper.endsWith(word));
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.source.toUpperCase() === word;
}

/** A name without its quotes, in lower case. */
function nameOf({ kind, source }: Token): string {
  if (kind === 'word') return source.toLowerCase();
  return kind === 'name' ? source.slice(1, -1).toLowerCase() : '';
}

function refused(found: string): Error {
  const shown = found === '' ? '' : ` (found ${JSON.stringify(found.slice(0, 40))})`;
  return toolFailed(
    `only SELECT statements are allowed; INSERT/UPDATE/DELETE/DDL is rejected for safety${shown}; ` +
      'a column with such a name must stand in quotes',
  );
}

function refusedFunction(name: string): Error {
  return toolFailed(`only SELECT statements are allowed; the function ${name.slice(0, 60)} has effects of its own`);
}
