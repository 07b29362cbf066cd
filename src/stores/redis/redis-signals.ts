import { Observable, takeUntil } from 'rxjs';
import type { Signals } from '../../records/coordination.js';
import { CancelWatch } from '../cancel-watch.js';
import { activeSessionKey, CANCEL_CHANNEL, cancelKey, KEPT_MS, RUN_PREFIX, runKey } from './keys.js';
import type { Redis } from './redis.js';
import { script } from './script.js';

/** How often flags are looked at, as in RAGFlow. */
const POLL_MS = 500;

/**
 * Sets the flag that a task should stop, notes it with its run, and notifies the listeners.
 *
 * KEYS   1 cancel flag, 2 run hash, 3 active-session hash; a task is a run or a session
 * ARGV   1 milliseconds to keep the flag, 2 channel, 3 task, 4 prefix of run hashes
 * Result number of connections that were notified
 */
const REQUEST_CANCEL = script(
  'request a cancel',
  `redis.call('SET', KEYS[1], 'x', 'PX', ARGV[1])
local current = redis.call('HGET', KEYS[3], 'run_id')
for _, run in ipairs({ KEYS[2], current and ARGV[4] .. current or KEYS[2] }) do
  if redis.call('EXISTS', run) == 1 then redis.call('HSET', run, 'cancel_requested', 1) end
end
return redis.call('PUBLISH', ARGV[2], ARGV[3])
`,
);

/**
 * Messages between processes over Redis.
 *
 * A cancel is a flag that every process looks at each 500 ms, and a message that makes it look at once. What is published while a
 * listener has no connection is lost to it; what must not be lost belongs in a store. When Redis is closed, everything completes.
 *
 * @param receivesCancels whether requests to cancel are received at once, too, and not only found by looking
 */
export function createRedisSignals({ commands, channels, log, closed }: Redis, receivesCancels = true): Signals {
  /** Undefined while nothing is listened to. */
  let stopListening: (() => void) | undefined;
  // Whatever was published before the server knew of this listener is still in the flags.
  const listen = (): (() => void) =>
    channels.listen(CANCEL_CHANNEL, {
      // What was published may have been cleared since; the flag is what counts.
      received: (task) => watch.lookAt(task),
      listening: () => watch.lookAtAll(),
    });
  const watch: CancelWatch = new CancelWatch({
    listen() {
      if (receivesCancels) stopListening ??= listen();
    },
    unlisten() {
      stopListening?.();
      stopListening = undefined;
    },
    async find(tasks) {
      const flags = (await commands.send('MGET', tasks.map(cancelKey))) as readonly (string | null)[];
      return tasks.filter((_, at) => flags[at]);
    },
    pollMs: POLL_MS,
    log,
  });
  closed.subscribe(() => watch.close());

  return {
    async requestCancel(task) {
      const keys = [cancelKey(task), runKey(task), activeSessionKey(task)];
      await commands.run(REQUEST_CANCEL, keys, [KEPT_MS.cancel, CANCEL_CHANNEL, task, RUN_PREFIX]);
    },
    async clearCancel(task) {
      await commands.send('DEL', [cancelKey(task)]);
    },
    cancelOf: (task, isNew) => watch.requestOf(task, isNew),
    async publish(channel, message) {
      // Listeners that this process had before must receive it.
      await channels.settled();
      await commands.send('PUBLISH', [channel, message], { isRepeatable: false });
    },
    messages(channel) {
      return new Observable<string>((listener) =>
        channels.listen(channel, { received: (message) => listener.next(message) }),
      ).pipe(takeUntil(closed));
    },
  };
}
