/** Kinds of databases as documents name them, and what their servers speak. */

/** How statements are written; servers of one dialect share a driver. */
export type Dialect = 'postgres' | 'mysql' | 'mssql' | 'trino';

/** One kind of database. */
export interface DatabaseKind {
  readonly dialect: Dialect;
  /** Where its servers usually listen. */
  readonly port: number;
}

const POSTGRES: DatabaseKind = { dialect: 'postgres', port: 5432 };
const MYSQL: DatabaseKind = { dialect: 'mysql', port: 3306 };
const MSSQL: DatabaseKind = { dialect: 'mssql', port: 1433 };
const KINDS: ReadonlyMap<string, DatabaseKind> = new Map([
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['oceanbase', MYSQL],
  ['postgres', POSTGRES],
  ['postgresql', POSTGRES],
  ['mssql', MSSQL],
  ['sqlserver', MSSQL],
  ['trino', { dialect: 'trino', port: 8080 }],
]);

/** Names of all kinds that can be asked. */
export const databaseKinds: readonly string[] = [...KINDS.keys()];

/** The kind with this name, in any case; undefined for one that cannot be asked, such as IBM DB2. */
export function databaseKindOf(name: string): DatabaseKind | undefined {
  return KINDS.get(name.trim().toLowerCase());
}
