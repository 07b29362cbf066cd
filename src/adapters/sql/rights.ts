/** Whether the user of a database may do more there than to read tables. */
import { toolFailed } from '../failures.js';
import type { Dialect } from './dialects.js';
import type { DatabaseSession } from './session.js';

const BOUNDS = { maxRows: 500, maxBytes: 256 * 1024, timeoutMs: 10_000 };

/** What a server is asked; Trino has no such rights. */
const QUESTIONS: Readonly<Partial<Record<Dialect, string>>> = {
  postgres: `
    select case when r.rolsuper then 'superuser' else r.rolname::pg_catalog.text end from pg_catalog.pg_roles r
    where (r.rolname = current_user and r.rolsuper)
      or (r.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
        and pg_catalog.pg_has_role(current_user, r.oid, 'member'))
    order by r.rolsuper desc limit 1`,
  mysql: 'SHOW GRANTS',
  mssql: `
    select case when is_srvrolemember('sysadmin') = 1 then 'sysadmin'
      when has_perms_by_name(null, null, 'CONTROL SERVER') = 1 then 'CONTROL SERVER' end`,
};

/**
 * Holds that the user of a session is no administrator of the server: in Postgres no superuser and no member of
 * `pg_read_server_files`, `pg_write_server_files` or `pg_execute_server_program`; in MySQL and MariaDB without FILE and SUPER on
 * everything; in SQL Server no sysadmin. A read-only transaction does not keep such users from files and programs. A server that
 * speaks the protocol of Postgres without its catalogue cannot be asked, and is believed.
 *
 * @throws EngineError TOOL_FAILED naming the right, and what to do.
 */
export async function refusePrivilegedUser(session: DatabaseSession): Promise<void> {
  const right = await strongestRight(session);
  if (right === undefined) return;
  throw toolFailed(
    `the user of the database has rights far beyond reading (${right}), which SQL written by a model must not have; ` +
      'use a user that may only read, or set "allow_privileged_user" to true if you accept that',
  );
}

async function strongestRight(session: DatabaseSession): Promise<string | undefined> {
  const question = QUESTIONS[session.dialect];
  if (question === undefined) return undefined;
  try {
    const { rows } = await session.query(question, BOUNDS);
    const texts = rows.flatMap(([cell]) => (typeof cell === 'string' ? [cell] : []));
    if (session.dialect !== 'mysql') return texts[0];
    return strongestGrant([...texts, ...(await grantsOfRoles(session, texts))]);
  } catch (error) {
    if (isUnanswered(error)) return undefined;
    throw error;
  }
}

/** MariaDB lists what an active role may do with the user; MySQL when the role is named. */
async function grantsOfRoles(session: DatabaseSession, grants: readonly string[]): Promise<readonly string[]> {
  if (grants.every((grant) => / ON /i.test(grant) || /^SET DEFAULT ROLE /i.test(grant))) return [];
  const { rows } = await session.query('SELECT CURRENT_ROLE()', BOUNDS);
  const role = rows[0]?.[0];
  if (typeof role !== 'string' || !role.includes('`@`')) return [];
  const table = await session.query(`SHOW GRANTS FOR CURRENT_USER() USING ${role}`, BOUNDS);
  return table.rows.flatMap(([cell]) => (typeof cell === 'string' ? [cell] : []));
}

/** A line is `GRANT SELECT, FILE ON *.* TO …`; names of other tables than all are no rights of the server. */
function strongestGrant(grants: readonly string[]): string | undefined {
  const given = grants.flatMap(
    (grant) => /^GRANT (.+?) ON \*\.\* TO /i.exec(grant)?.[1]?.toUpperCase().split(/, */) ?? [],
  );
  return ['ALL PRIVILEGES', 'ALL', 'SUPER', 'FILE'].find((right) => given.includes(right));
}

/** Whether Postgres, or what speaks like it, failed because a table, a column or a function of the catalogue is not there. */
export function isUnanswered(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === '42P01' || code === '42883' || code === '42703' || code === '0A000';
}
