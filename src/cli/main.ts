#!/usr/bin/env node
/** The program `runnel`. */
import { config } from 'rxjs';
import { EXIT } from './command.js';
import { runCommandLine } from './command-line.js';
import { openProcessTerminal } from './terminal.js';

// An error after the end of a run, such as a socket that breaks while it is closed, has no stream left to go through.
config.onUnhandledError = (error: unknown) => {
  process.stderr.write(`warning: after the end: ${error instanceof Error ? error.message : String(error)}\n`);
};

const { terminal, release } = openProcessTerminal({ killedCode: EXIT.interrupted, unreadCode: EXIT.finished });
// Not `process.exit`, which would cut off output that is still on its way into a pipe.
process.exitCode = await runCommandLine(process.argv.slice(2), terminal);
release();
