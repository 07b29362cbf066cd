/** The command line in a process of its own. */
import { setFlagsFromString } from 'node:v8';
import { config } from 'rxjs';
import { EXIT } from './command.js';
import { runCommandLine } from './command-line.js';
import { openProcessTerminal } from './terminal.js';

/** Runs the call of this process and ends the process. */
export async function runProgram(): Promise<void> {
  // Pretenuring puts arrays of short runs into old space, where each retains what it points to until the next full collection: the engine
  // then spends a third of its time copying dead objects (0.68 against 0.42 us a node).
  setFlagsFromString('--no-allocation-site-pretenuring');

  // An error after the end of a run, such as a socket that breaks while it is closed, has no stream left to go through.
  config.onUnhandledError = (error: unknown) => {
    process.stderr.write(`warning: after the end: ${error instanceof Error ? error.message : String(error)}\n`);
  };

  const { terminal, release } = openProcessTerminal({ killedCode: EXIT.interrupted, unreadCode: EXIT.finished });
  const code = await runCommandLine(process.argv.slice(2), terminal);
  release();
  process.exitCode = code;
  // Pending work, such as an exporter whose collector is down, must not delay the shell; output on its way into a pipe is written first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}
