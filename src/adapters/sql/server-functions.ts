/** Functions of a database's own that hide behind the names of harmless ones. */
import { toolFailed } from '../failures.js';
import { type AllowedFunctions, isAllowedFunction, isForbidden, type NamesAtServer } from './calls.js';
import { knownFunctions } from './functions/known-functions.js';
import { isUnanswered } from './rights.js';
import type { DatabaseSession, StatementBounds } from './session.js';

const MAX_NAMES = 1_000;

/**
 * Asks a database whether what statements call is what the rules take it for: a function of the database may have the name of
 * a harmless one and other arguments, and `(x).name` in Postgres is a call as well. Nothing is sent when there is nothing
 * to ask about. A server without the catalogue (some that speak the protocol of Postgres) is believed.
 *
 * @throws EngineError TOOL_FAILED naming the function; the driver's errors.
 */
export async function checkServerFunctions(
  session: DatabaseSession,
  statements: readonly NamesAtServer[],
  bounds: Omit<StatementBounds, 'maxRows'>,
  allowed: AllowedFunctions = [],
): Promise<void> {
  const called = [...new Set(statements.flatMap((statement) => statement.called))];
  const fields = [...new Set(statements.flatMap((statement) => statement.fields))];
  if (session.dialect === 'postgres' && called.length + fields.length > 0) {
    await checkPostgres(session, { called, fields }, bounds, allowed);
  }
  if (session.dialect === 'mysql' && called.length > 0) {
    const asked = `select distinct routine_name from information_schema.routines where routine_type = 'FUNCTION'
      and routine_schema = database() and lower(routine_name) in (${called.map(literal).join(', ')})`;
    const [found] = (await session.query(asked, { ...bounds, maxRows: 1 })).rows;
    if (found !== undefined) throw ownFunction(String(found[0]), 'leave out what stands before its bracket');
  }
}

async function checkPostgres(
  session: DatabaseSession,
  { called, fields }: NamesAtServer,
  bounds: Omit<StatementBounds, 'maxRows'>,
  allowed: AllowedFunctions,
): Promise<void> {
  const asked = `
    select distinct pg_catalog.lower(p.proname::pg_catalog.text) as name,
      p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace as is_system,
      exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
        and d.objid = p.oid and d.deptype = 'e') as is_of_extension,
      p.pronargs >= 1 and p.pronargs - p.pronargdefaults <= 1 as takes_one,
      exists (select from pg_catalog.pg_attribute a where a.attname = p.proname)
        or exists (select from pg_catalog.pg_class c where c.relname = p.proname) as is_column
    from pg_catalog.pg_proc p
    where pg_catalog.pg_function_is_visible(p.oid)
      and pg_catalog.lower(p.proname::pg_catalog.text) = any (array[${[...called, ...fields].map(literal).join(', ')}]::pg_catalog.text[])`;
  const rows = await session.query(asked, { ...bounds, maxRows: MAX_NAMES }).then(
    (table) => table.rows,
    (error: unknown) => {
      if (isUnanswered(error)) return [];
      throw error;
    },
  );
  const known = knownFunctions.postgres.functions;
  const isCalled = new Set(called);
  const isField = new Set(fields);
  for (const [name, isSystem, isOfExtension, takesOne, isColumn] of rows) {
    const text = String(name);
    const isTrusted = isSystem === true || isOfExtension === true;
    if (isCalled.has(text) && !isTrusted) throw ownFunction(text, `write pg_catalog.${text}`);
    if (!isField.has(text) || takesOne !== true || isAllowedFunction(text, allowed)) continue;
    if (isForbidden(text) || (isColumn !== true && !(isTrusted && known.has(text)))) {
      throw ownFunction(text, 'give the column another name');
    }
  }
}

/** A text of the standard, which both kinds of server read the same: backslashes are not in names that are looked for. */
function literal(name: string): string {
  return `'${name.replaceAll("'", "''").replaceAll('\\', '')}'`;
}

function ownFunction(name: string, advice: string): Error {
  return toolFailed(
    `only SELECT statements are allowed; the database has a function "${name.slice(0, 63)}" of its own, which may do something ` +
      `else. For the usual one ${advice}; the author of the canvas can allow it with the parameter "functions"`,
  );
}
