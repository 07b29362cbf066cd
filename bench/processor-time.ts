import { readFileSync } from 'node:fs';

/** Milliseconds of processor time that the main thread of a process took, which other programs do not change; NaN where the system does not say. */
export function mainThreadMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
