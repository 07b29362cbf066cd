/** Starts a process again whenever it ends, until it is to stop. */
import { spawn } from 'node:child_process';
import {
  defer,
  fromEvent,
  lastValueFrom,
  map,
  Observable,
  repeat,
  takeUntil,
  takeWhile,
  tap,
  timeInterval,
  timer,
} from 'rxjs';
import { EXIT } from './command.js';

/** Pause before the first start anew, and the longest one; each is twice as long as the one before. */
const PAUSE_MS = [2_000, 30_000] as const;

/** A process that lived so long has started well: the next pause is the first one again. */
const STEADY_MS = 60_000;

/** How a process ended: with an exit code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** An end, and after how long there is another start; none when it is the last one. */
export interface ObservedEnd extends ProcessEnd {
  readonly pauseMs?: number;
}

/** What {@link keepAlive} works with. */
export interface KeepAliveOptions {
  /** Starts the process; emits its end once. The process is told to stop by `stopped`. */
  readonly open: () => Observable<ProcessEnd>;
  /** Aborted when the process is to end and not to start again. */
  readonly stopped: AbortSignal;
}

/**
 * The ends of a process that is started again after each of them.
 *
 * ```text
 * process     --e|    (open again 2 s, 4 s … 30 s after an end)
 * result      --e-------e-------
 * stopped     --------------!
 * result      --e-------e---|
 * ```
 *
 * A call that is wrong the first time (exit code 2: a setting, a port that is taken) is not repeated.
 */
export function keepAlive({ open, stopped }: KeepAliveOptions): Observable<ObservedEnd> {
  return defer(() => {
    const [first, longest] = PAUSE_MS;
    const stopped$ = fromEvent(stopped, 'abort');
    let starts = 0;
    let pauseMs: number = first;
    let nextMs: number = first;
    const one$ = defer(() => {
      starts += 1;
      return open().pipe(
        timeInterval(),
        map(({ value: end, interval }): ObservedEnd => {
          if (stopped.aborted || (starts === 1 && end.code === EXIT.usage)) return end;
          pauseMs = interval >= STEADY_MS ? first : nextMs;
          nextMs = Math.min(longest, 2 * pauseMs);
          return { ...end, pauseMs };
        }),
      );
    });
    return one$.pipe(
      repeat({ delay: () => timer(pauseMs).pipe(takeUntil(stopped$)) }),
      takeWhile((end) => end.pauseMs !== undefined, true),
    );
  });
}

/** Resolves with the last end; `onEnd` hears of the others. */
export async function untilStopped(options: KeepAliveOptions, onEnd: (end: ObservedEnd) => void): Promise<ObservedEnd> {
  const report = (end: ObservedEnd): void => {
    if (end.pauseMs !== undefined) onEnd(end);
  };
  return lastValueFrom(keepAlive(options).pipe(tap(report)));
}

/** What {@link openProcess} starts. */
export interface ProcessOptions {
  readonly args: readonly string[];
  /** Aborting it asks the process to stop. */
  readonly stopped: AbortSignal;
  /** Milliseconds after which a process that was asked to stop is killed. */
  readonly killMs: number;
  /** Receives the id of the process. */
  readonly onStart: (pid: number | undefined) => void;
}

/**
 * Starts this program with other arguments; it writes where this one does. It is in a group of its own, so that a Ctrl-C reaches it only once, and
 * stops by itself when this process is gone.
 */
export function openProcess({ args, stopped, killMs, onStart }: ProcessOptions): Observable<ProcessEnd> {
  return new Observable((subscriber) => {
    const [node, program = ''] = process.argv;
    const child = spawn(node as string, [...process.execArgv, program, ...args], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    onStart(child.pid);
    let hurry: NodeJS.Timeout | undefined;
    const stop = (): void => {
      child.kill('SIGTERM');
      hurry = setTimeout(() => child.kill('SIGKILL'), killMs);
    };
    child.once('error', (error) => subscriber.error(error));
    child.once('exit', (code, signal) => {
      subscriber.next({ code, signal });
      subscriber.complete();
    });
    if (stopped.aborted) stop();
    else stopped.addEventListener('abort', stop, { once: true });
    return () => {
      clearTimeout(hurry);
      stopped.removeEventListener('abort', stop);
      child.kill('SIGTERM');
    };
  });
}
