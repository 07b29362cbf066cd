/** What outlives a process, in the files of a folder. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSessions, fileTurnLogs } from '../../../../src/entries/agents.js';
import type { Noted, World } from './conversation.js';

/** A world of sessions and logs, whose notes lie beside each other in a folder; what was done and what was stored in one order. */
export function folderWorld(folder: string, stores: Pick<World, 'sessions' | 'logs'>): World {
  const file = (what: Noted): string => join(folder, what === 'stored' ? 'effect' : what);
  return {
    ...stores,
    note: (what, line) => appendFileSync(file(what), `${what} ${line}\n`),
    notes: (what) =>
      linesOf(file(what))
        .filter((line) => line.startsWith(`${what} `))
        .map((line) => line.slice(what.length + 1)),
  };
}

/** Sessions and logs in files, as the process sees them that was started behind so many others, of which none counts as alive. */
export function filesIn(folder: string, before: number): Pick<World, 'sessions' | 'logs'> {
  const now = (): number => Date.now() + before * 3_600_000;
  return { sessions: fileSessions(join(folder, 'sessions')), logs: fileTurnLogs(join(folder, 'logs'), { now }) };
}

/** What was done and what was stored. */
export function workIn(folder: string): readonly string[] {
  return linesOf(join(folder, 'effect'));
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}
