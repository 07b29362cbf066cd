import type { Socket } from 'node:net';
import { toolFailed } from '../failures.js';

/** Milliseconds between two looks at how much has come. */
const LOOK_MS = 20;
/** Milliseconds that a server has to give up a statement by itself, before the connection is closed. */
const GRACE_MS = 1_000;
/** Bytes beside the rows: names of columns, notices, the rows of a batch that is not wanted to its end. */
const SLACK_BYTES = 8 * 1024 * 1024;

/** What a statement may take from its connection. */
export interface GuardOptions {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Ends the statement at the server, and the connection. */
  readonly abandon: () => void;
}

/**
 * Waits for a statement, but not for ever and not for any amount: a server that goes on beyond its time, or sends far more than
 * is kept (one row may have gigabytes, which drivers gather before they give it), loses its connection.
 *
 * @throws EngineError TOOL_FAILED for those, otherwise what the work rejects with.
 */
export function guardStatement<T>(
  socket: Pick<Socket, 'bytesRead'>,
  work: Promise<T>,
  { timeoutMs, maxBytes, abandon }: GuardOptions,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const before = socket.bytesRead;
    const end = (): void => {
      clearInterval(look);
      clearTimeout(late);
    };
    const give = (problem: string): void => {
      end();
      reject(toolFailed(problem));
      abandon();
    };
    const look = setInterval(() => {
      if (socket.bytesRead - before > maxBytes + SLACK_BYTES) {
        give(`the answer is larger than ${maxBytes} bytes; ask for fewer or smaller columns`);
      }
    }, LOOK_MS);
    const late = setTimeout(() => give(`there was no answer within ${timeoutMs / 1000} seconds`), timeoutMs + GRACE_MS);
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
