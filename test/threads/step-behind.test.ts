import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { threadPerJob } from '../../src/threads/threads.js';

const LOWEST = 19;

const after = (steps: number) =>
  firstValueFrom(
    threadPerJob.run<{ thread: number; process: number }>({
      file: new URL('./support/stepping-thread', import.meta.url),
      message: () => ({ data: steps }),
      unable: (why) => new Error(why),
    }),
  );

// Only Linux tells the priority of a thread, and only there it changes.
it.runIf(process.platform === 'linux')('a thread steps behind its process, which stays where it is', async () => {
  const { thread, process: own } = await after(4);
  expect(thread).toBe(Math.min(LOWEST, own + 4));
  const lowest = await after(100);
  expect(lowest).toEqual({ thread: LOWEST, process: own });
});
