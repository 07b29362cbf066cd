/** Where commands read and write: the process in production, a fake in tests. */
import { addAbortSignal, type Readable } from 'node:stream';

/** A place for text that may be a screen. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the screen, when it is one. */
  readonly columns?: number;
}

/** Where a command reads and writes. */
export interface Terminal {
  /** For what was asked for: the answer, the document, the list. */
  readonly out: Output;
  /** For everything else. */
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The standard input; aborting `signal` ends it with an error. */
  openInput(): Readable;
  /** Aborted by the first Ctrl-C (SIGINT) or SIGTERM, and by the end of the process that keeps this one alive. */
  readonly signal: AbortSignal;
}

/** The process as a terminal, until `release`. */
export interface ProcessTerminal {
  readonly terminal: Terminal;
  /** Gives the signals back to Node: from then on Ctrl-C ends the process at once. */
  release(): void;
}

/**
 * Makes the process a terminal. The first SIGINT or SIGTERM aborts `signal`, the second one ends the process with `killedCode`.
 *
 * A reader of the standard output that went away, such as `head`, ends the process with `unreadCode`, as the rest would not be read.
 */
export function openProcessTerminal(codes: {
  readonly killedCode: number;
  readonly unreadCode: number;
}): ProcessTerminal {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const stop = (): void => {
    if (signal.aborted) process.exit(codes.killedCode);
    interrupt.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Of a process that was started to be kept alive: the one that does so is gone.
  process.on('disconnect', stop);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(codes.unreadCode);
    throw error;
  });
  // A closed standard error is no reason to end.
  process.stderr.on('error', () => {});
  return {
    terminal: {
      out: process.stdout,
      err: process.stderr,
      env: process.env,
      openInput: () => addAbortSignal(signal, process.stdin),
      signal,
    },
    release() {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      process.off('disconnect', stop);
    },
  };
}
