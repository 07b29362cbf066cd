import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import path from 'node:path';

/**
 * Gives the calling thread a lower priority than its process has, by so many steps of `nice`: where processors are short, everything else goes first. It stays
 * so, as no thread may raise its own priority. Only Linux knows threads by a number; elsewhere nothing changes.
 */
export function stepBehind(steps: number): void {
  // It would be the priority of the process.
  if (process.platform !== 'linux') return;
  try {
    const lowest = constants.priority.PRIORITY_LOW;
    const thread = Number(path.basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(lowest, getPriority(process.pid) + steps));
  } catch {
    // Where it is not allowed, work is done all the same.
  }
}
