import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.js';
import type { Terminal } from '../../src/cli/terminal.js';

export interface FakeOptions {
  readonly env?: Terminal['env'];
  /** The standard input. @default empty */
  readonly input?: string | Readable;
  readonly isTTY?: boolean;
  /** Hears of every piece of the standard output. */
  readonly onOut?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** How a call ended, and everything it wrote. */
export interface Called {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** A terminal that remembers: `both` holds all pieces in order. */
export function fakeTerminal(
  options: FakeOptions = {},
): Terminal & { readonly text: { out: string; err: string; both: string } } {
  const { input = '' } = options;
  const text = { out: '', err: '', both: '' };
  const output = (name: 'out' | 'err') => ({
    write(piece: string) {
      text[name] += piece;
      text.both += piece;
      if (name === 'out') options.onOut?.(piece);
    },
    isTTY: options.isTTY ?? false,
  });
  return {
    text,
    out: output('out'),
    err: output('err'),
    env: options.env ?? {},
    openInput: () => (typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input),
    signal: options.signal ?? new AbortController().signal,
  };
}

/** Calls the command line in this process. */
export async function call(args: readonly string[], options: FakeOptions = {}): Promise<Called> {
  const terminal = fakeTerminal(options);
  const exit = await runCommandLine(args, terminal);
  return { exit, out: terminal.text.out, err: terminal.text.err };
}
