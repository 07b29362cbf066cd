/** What the system says of a process. Linux only; elsewhere 0. */
import { existsSync, readFileSync } from 'node:fs';

/** Resident memory in MiB: at this moment, and at its largest. */
export function memoryOf(pid: number): { readonly now: number; readonly most: number } {
  const file = `/proc/${pid}/status`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const mebibytesOf = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024);
  return { now: mebibytesOf('VmRSS'), most: mebibytesOf('VmHWM') };
}
