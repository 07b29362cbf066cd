/**
 * A conversation in a process that dies: `node process.js <program> <stores> <folder> <start> <when> <count>`.
 *
 * `stores` is `files`, `embedded` for a database in the folder, or the URL of one. The folder has what outlives a process. It kills itself at its
 * `count`-th write into sessions and logs: `before` it is stored, or `after`. With the count 0 it lives until nothing is left to do. `start` counts the
 * processes of a conversation: for a later one, those before are lost.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresTurnLogs } from '../../../../src/entries/agents.js';
import { postgresSessions } from '../../../../src/entries/server.js';
import { openPostgresStores } from '../../../../src/stores/postgres/stores.js';
import { createLog } from '../../../stores/support/test-log.js';
import { converse, type Write } from './conversation.js';
import { filesIn, folderWorld } from './folder-world.js';
import type { PROGRAMS } from './programs.js';

const [program = '', kept = 'files', folder = '.', start = '0', when = 'after', count = '0'] = process.argv.slice(2);
const file = (name: string): string => join(folder, name);
let left = Number(count);

const die = (): void => void process.kill(process.pid, 'SIGKILL');

const write: Write = async (stored, note) => {
  left -= 1;
  const isLast = left === 0;
  if (isLast && when === 'before') die();
  const result = await stored();
  note?.();
  if (isLast) die();
  return result;
};

async function openKept() {
  if (kept === 'files') return filesIn(folder, Number(start));
  const options = { dataDir: file('data'), log: createLog(), ...(kept !== 'embedded' && { url: kept }) };
  const stores = await openPostgresStores(options);
  await stores.database.repeat(
    (sql) => sql`update runnel.agent_turn_logs set expires_at = clock_timestamp() where tenant = ${folder}`,
  );
  return { sessions: postgresSessions(stores, { tenant: folder }), logs: postgresTurnLogs(stores, { tenant: folder }) };
}

const state = await converse(program as keyof typeof PROGRAMS, folderWorld(folder, await openKept()), write);
writeFileSync(file('result.json'), JSON.stringify({ ...state, seenInputIds: [...state.seenInputIds] }));
process.exit(0);
