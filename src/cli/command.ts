/** What every command of the command line is made of. */
import { readFile } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { EngineError } from '../errors.js';
import { nearestName } from '../nearest-name.js';
import type { Terminal } from './terminal.js';

/** Exit codes, part of the contract with scripts. */
export const EXIT = { finished: 0, failed: 1, usage: 2, waiting: 3, interrupted: 130 } as const;

/** One command. */
export interface Command {
  /** The call, without the program's name. */
  readonly usage: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Everything after the usage line of `--help`. */
  readonly help: string | (() => Promise<string>);
  /** Gives the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

type Parsed<T extends NonNullable<ParseArgsConfig['options']>> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/**
 * Parses arguments strictly.
 *
 * @throws EngineError USAGE saying what is wrong and how the command is called.
 */
export function parse<T extends NonNullable<ParseArgsConfig['options']>>(
  { usage }: Pick<Command, 'usage'>,
  args: readonly string[],
  options: T,
  positionals: { readonly least: number; readonly most: number },
): Parsed<T> {
  const refuse = (problem: string): EngineError => new EngineError('USAGE', `${problem}\nUsage: runnel ${usage}`);
  const read = () => {
    try {
      return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    } catch (error) {
      throw refuse(problemOf(error, Object.keys(options)));
    }
  };
  const parsed = read();
  const count = parsed.positionals.length;
  if (count < positionals.least) throw refuse('An argument is missing.');
  if (count > positionals.most) throw refuse(`"${parsed.positionals[positionals.most]}" is one argument too many.`);
  return parsed;
}

/** The refusal of a call whose file, address or input cannot be used; says what was tried and why it failed. */
export function cannot(what: string, cause: unknown): EngineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('USAGE', `Cannot ${what}: ${why}`, { cause });
}

/** Node's message about arguments; that of an unknown option explains arguments that begin with dashes, which is not the problem. */
function problemOf(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const option = /^Unknown option '(-{1,2}([^']*))'/.exec(message);
  if (option === null) return message;
  const [, written = '', name = ''] = option;
  const nearest = nearestName(name, names);
  return `Unknown option '${written}'.${nearest === undefined ? '' : ` Did you mean --${nearest}?`}`;
}

/** The version of this package. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  return String((manifest as { readonly version: unknown }).version);
}

/** Where a server with these settings is, as seen from this machine; without a slash at the end. */
export function usualServerUrl(env: NodeJS.ProcessEnv): string {
  const host = env.RUNNEL_HOST?.trim() || 'localhost';
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? '[::1]' : host;
  return `http://${name}:${env.RUNNEL_PORT?.trim() || '9380'}`;
}
