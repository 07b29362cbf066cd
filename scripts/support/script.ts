import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether the module at `url` is the program that was started, not one that was imported. */
export function isProgram(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(fileURLToPath(url));
}

/** Prints `problems`, one per line, or `fine` when there are none, and sets the exit code. */
export function report(problems: readonly string[], fine: string): void {
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(fine);
  else process.exitCode = 1;
}
