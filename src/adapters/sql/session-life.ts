/** The life of a session over one socket: open until it is closed or given up, busy while a statement is at work. */
import type { Socket } from 'node:net';
import { guardStatement } from './guard-statement.js';
import type { StatementBounds, Table } from './session.js';

/** What sessions of different servers have in common. */
export interface SessionLife {
  /** A further statement can be run. */
  readonly isAlive: boolean;
  /** Waits for a statement within its bounds. @throws EngineError TOOL_FAILED when they were exceeded, which ends the session. */
  run(work: () => Promise<Table>, bounds: StatementBounds): Promise<Table>;
  /** Takes no more statements. */
  end(): void;
  /** Ends what is running, at the server too, and closes; at once. */
  abandon(): void;
}

/** How a session of one kind of server is given up. */
export interface SessionEnds {
  /** Tells the server over another connection that nobody waits for the statement; it would not notice. */
  readonly cancel: () => void;
  /** Closes the connection without a goodbye. */
  readonly drop: () => void;
}

/** Follows the socket of a session from the moment it is open. */
export function createSessionLife(socket: Socket, { cancel, drop }: SessionEnds): SessionLife {
  let isOpen = true;
  let isBusy = false;
  const end = (): void => {
    isOpen = false;
  };
  socket.once('close', end);
  const abandon = (): void => {
    end();
    if (isBusy) cancel();
    drop();
  };
  return {
    get isAlive() {
      return isOpen && !socket.destroyed;
    },
    async run(work, bounds) {
      isBusy = true;
      try {
        return await guardStatement(socket, work(), { ...bounds, abandon });
      } finally {
        isBusy = false;
      }
    },
    end,
    abandon,
  };
}
