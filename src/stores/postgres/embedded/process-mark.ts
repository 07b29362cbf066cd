import { readFileSync } from 'node:fs';

/** A process, distinct from a later one with the same id. */
export interface ProcessMark {
  readonly pid: number;
  /** When it was started, in ticks since the machine was; absent where the system does not report it. */
  readonly startedAt?: string;
}

export function processMark(pid: number): ProcessMark {
  const startedAt = statusOf(pid)?.startedAt;
  return { pid, ...(startedAt === undefined ? {} : { startedAt }) };
}

/** Whether that very process runs. One that has ended and was not yet cleared away by its parent does not. */
export function isAlive({ pid, startedAt }: ProcessMark): boolean {
  const status = statusOf(pid);
  if (status !== undefined) {
    return status.state !== 'Z' && status.state !== 'X' && (startedAt === undefined || startedAt === status.startedAt);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Fields 3 and 22 of `/proc/<pid>/stat`; undefined without such a process or such a file. */
function statusOf(pid: number): { readonly state: string; readonly startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2, the name, may hold blanks and brackets itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] as string, startedAt: fields[19] as string };
  } catch {
    return undefined;
  }
}
