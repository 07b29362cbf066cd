/** Runs a canvas as the command line does, then prints which packages of OpenTelemetry the process has loaded. */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../../src/cli/command-line.js';

const [command = '', ...args] = process.argv.slice(2);
const stop = new AbortController();
const code = await runCommandLine([command, ...args], {
  out: { write: (text: string) => void (text.startsWith('Runnel listens') && stop.abort()) },
  err: { write: (text: string) => void process.stderr.write(text) },
  env: process.env,
  openInput: () => Readable.from([]),
  signal: stop.signal,
});
const files = Object.keys(createRequire(import.meta.url).cache);
const packages = files.flatMap((file) => /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(file)?.[1] ?? []);
process.stdout.write(JSON.stringify({ code, packages: [...new Set(packages)].sort() }));
