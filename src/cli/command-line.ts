/** Finds the command, runs it, and turns its end into an exit code. */
import { type ErrorCode, toEngineError } from '../errors.js';
import { didYouMean } from '../nearest-name.js';
import { type Command, EXIT, readVersion } from './command.js';
import type { Terminal } from './terminal.js';

/** Loaded when called: a canvas that runs in the terminal does not wait for the server to be read from disk. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve-command.js')).serveCommand,
  run: async () => (await import('./run-command.js')).runCommand,
  chat: async () => (await import('./chat-command.js')).chatCommand,
  validate: async () => (await import('./document-commands.js')).validateCommand,
  convert: async () => (await import('./document-commands.js')).convertCommand,
  draw: async () => (await import('./document-commands.js')).drawCommand,
  trace: async () => (await import('./trace-command.js')).traceCommand,
  components: async () => (await import('./document-commands.js')).componentsCommand,
  ingest: async () => (await import('./ingest-command.js')).ingestCommand,
  search: async () => (await import('./search-command.js')).searchCommand,
  graph: async () => (await import('./graph/graph-command.js')).graphCommand,
  prune: async () => (await import('./prune-command.js')).pruneCommand,
  eval: async () => (await import('./eval-command.js')).evalCommand,
  research: async () => (await import('./research/research-command.js')).researchCommand,
};

/** Runs one call of the command line, given the arguments after the program's name, and gives its exit code. Never throws. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (thrown) {
    if (terminal.signal.aborted) return EXIT.interrupted;
    const error = toEngineError(thrown, 'INTERNAL');
    terminal.err.write(`error: ${error.message} [${error.code}]\n`);
    if (error.code === 'INTERNAL' && thrown instanceof Error) terminal.err.write(`${thrown.stack}\n`);
    return isUsage(error.code) ? EXIT.usage : EXIT.failed;
  }
}

async function dispatch([name, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  switch (name) {
    case undefined:
      terminal.err.write(await overview());
      return EXIT.usage;
    case '--version':
    case '-v':
      terminal.out.write(`${await readVersion()}\n`);
      return EXIT.finished;
    case 'help':
    case '--help':
    case '-h':
      return rest[0] === undefined ? show(await overview(), terminal) : help(rest[0], terminal);
    default: {
      const ended = rest.indexOf('--');
      const flags = ended < 0 ? rest : rest.slice(0, ended);
      if (flags.includes('--help') || flags.includes('-h')) return help(name, terminal);
      const command = await find(name, terminal);
      return command === undefined ? EXIT.usage : command.run(rest, terminal);
    }
  }
}

async function find(name: string, terminal: Terminal): Promise<Command | undefined> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    const hint = didYouMean(name, Object.keys(COMMANDS));
    const more = hint === '' ? `\n\n${await overview()}` : `.${hint} runnel --help lists the commands.\n`;
    terminal.err.write(`error: there is no command "${name}"${more}`);
  }
  return load?.();
}

async function help(name: string, terminal: Terminal): Promise<number> {
  const command = await find(name, terminal);
  if (command === undefined) return EXIT.usage;
  const { usage, summary, help: rest } = command;
  const text = typeof rest === 'string' ? rest : await rest();
  return show(`Usage: runnel ${usage}\n\n${summary}\n\n${text}\n`, terminal);
}

function show(text: string, terminal: Terminal): number {
  terminal.out.write(text);
  return EXIT.finished;
}

/** Whether a code says that the call, a setting or the document is wrong, rather than that the work failed. */
function isUsage(code: ErrorCode): boolean {
  return /^(?:USAGE|CONFIG_INVALID|OPTION_INVALID|DOCUMENT_.*|PLAN_.*|CHECKPOINT_INVALID)$/.test(code);
}

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(12)}${(await load()).summary}`),
  );
  return `Runnel runs agent canvases as reactive streams.

Usage: runnel <command> …

${lines.join('\n')}

runnel <command> --help describes a command; runnel --version prints the version.
`;
}
