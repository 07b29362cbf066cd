import type { Interpreter } from './interpreter.js';

export interface InterpreterPoolOptions {
  readonly start: () => Promise<Interpreter>;
  /** Interpreters that are kept ready for the next script; none before the first one. */
  readonly maxSpares: number;
  /** Scripts that one interpreter may run. */
  readonly maxJobs: number;
  /** Milliseconds after which spares that nobody needed go. */
  readonly idleMs: number;
}

/** Interpreters of one language, some of them ready before they are needed. */
export interface InterpreterPool {
  /** A fresh one or a spare; it belongs to the caller until it is given back or killed. */
  take(): Promise<Interpreter>;
  /** Takes back one whose script ended by itself, or ends it. */
  giveBack(interpreter: Interpreter): void;
  /** Ends one that must not run again. */
  discard(interpreter: Interpreter): Promise<void>;
  close(): Promise<void>;
}

/** Keeps interpreters; every one that it ever started is either lent, a spare, or ended. */
export function createInterpreterPool(options: InterpreterPoolOptions): InterpreterPool {
  const { start, maxSpares, maxJobs, idleMs } = options;
  const alive = new Set<Interpreter>();
  const spares: Interpreter[] = [];
  const state = { isClosed: false, starting: 0, idle: undefined as NodeJS.Timeout | undefined };

  const launch = async (): Promise<Interpreter> => {
    const interpreter = await start();
    alive.add(interpreter);
    if (state.isClosed) await discard(interpreter);
    return interpreter;
  };

  const discard = async (interpreter: Interpreter): Promise<void> => {
    alive.delete(interpreter);
    await interpreter.kill();
  };

  const keep = (interpreter: Interpreter): void => {
    if (state.isClosed || interpreter.isDead || interpreter.jobs >= maxJobs || spares.length >= maxSpares) {
      void discard(interpreter);
    } else {
      spares.push(interpreter);
    }
  };

  const refill = async (): Promise<void> => {
    if (state.isClosed || spares.length + state.starting >= maxSpares) return;
    state.starting += 1;
    try {
      keep(await launch());
    } catch {
      // The next script finds no spare, tries again, and hears what is wrong.
    } finally {
      state.starting -= 1;
    }
  };

  const expire = (): void => {
    for (const spare of spares.splice(0)) void discard(spare);
  };

  const touch = (): void => {
    clearTimeout(state.idle);
    state.idle = setTimeout(expire, idleMs);
    state.idle.unref();
  };

  return {
    async take() {
      touch();
      for (let spare = spares.pop(); spare !== undefined; spare = spares.pop()) {
        if (spare.isDead) {
          alive.delete(spare);
          continue;
        }
        // One that comes back would only find its place taken.
        if (maxJobs === 1) void refill();
        return spare;
      }
      return launch();
    },
    giveBack(interpreter) {
      touch();
      keep(interpreter);
      void refill();
    },
    async discard(interpreter) {
      touch();
      void refill();
      await discard(interpreter);
    },
    async close() {
      state.isClosed = true;
      clearTimeout(state.idle);
      spares.length = 0;
      await Promise.all([...alive].map(discard));
    },
  };
}
