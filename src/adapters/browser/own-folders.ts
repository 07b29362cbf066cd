import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';

/** Folders of browsers that this machine started, up to the number of the process that did. */
const PREFIX = `runnel-browser-${hostname().replace(/[^\w]/g, '').slice(0, 60)}-`;

/** Makes an empty folder for one browser, named after this process. */
export function makeFolder(): string {
  return mkdtempSync(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
}

/** Deletes the folders that processes left behind when they were killed; what cannot be deleted stays. */
export async function sweepFolders(folder: string = tmpdir()): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid] = /^(\d+)-/.exec(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '') ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
}

/** A process of somebody else counts as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
