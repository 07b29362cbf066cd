import { onTestFinished, vi } from 'vitest';

/** How long a command may take in tests whose link holds one up: longer than any that is not held takes, however busy the machine is. */
export const LIMIT_MS = 100_000;

/** Does work whose command is held up on a link; when it is, lets `LIMIT_MS` pass at once and waits for the work. */
export async function timesOut(isHeld: Promise<void>, work: () => Promise<void>): Promise<void> {
  // Until the end of the test: the pause before the next connection is measured by this clock, too.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const done = work();
  await isHeld;
  vi.advanceTimersByTime(LIMIT_MS);
  await done;
}
