/** The memory that a process has at most while something is measured. */
import { readFileSync } from 'node:fs';

const EVERY_MS = 100;

/** Looks at it from now on; its end gives the most in MB. Linux only; elsewhere 0. */
export function peakOf(pid: number): { readonly end: () => number } {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, residentOf(pid));
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}

function residentOf(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
