/** Calls of `execute_sql` against servers on loopback. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Subscription } from 'rxjs';
import { createEgressClient } from '../../../../src/adapters/egress/egress-client.js';
import { createDatabases, type Databases, type DatabasesOptions } from '../../../../src/adapters/sql/databases.js';
import { callTool } from '../../../../src/tools/call-tool.js';
import { exeSql } from '../../../../src/tools/exe-sql.js';
import type { ToolResult } from '../../../../src/tools/tool.js';
import { callOf, resultOf } from '../../../tools/support/upstream.js';

/** Where a database is, as parameters of a node. */
export interface Target {
  readonly db_type: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/** What opens databases on loopback. */
export function localDatabases(options: Partial<DatabasesOptions> = {}): Databases {
  const http = createEgressClient({ allowPrivateNetwork: true });
  return createDatabases({ http, allowPrivateNetwork: true, ...options });
}

/** The result of a call. */
export function jsonOf(
  target: Target,
  sql: string,
  more: object = {},
  databases: Databases = localDatabases(),
): Promise<ToolResult> {
  return resultOf(exeSql, '', { args: { sql }, params: { ...target, ...more }, services: { databases } });
}

/** Starts a call that a test gives up. */
export function startCall(target: Target, sql: string, databases: Databases = localDatabases()): Subscription {
  const call = callOf(exeSql, '', { params: { ...target }, services: { databases } });
  return callTool(exeSql, { sql }, call).subscribe({ error: () => {} });
}

/** How many rows a question about sessions gives. */
export async function sessionsOf(ask: () => Promise<readonly unknown[]>): Promise<number> {
  return (await ask()).length;
}

/** Waits until something is no more; the time limit of the test ends what never goes. */
export async function gone(isThere: () => Promise<boolean>): Promise<void> {
  while (await isThere()) await nextTurn();
}
