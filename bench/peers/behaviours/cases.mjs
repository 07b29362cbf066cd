/**
 * What every engine is tried for beside its speed. Each engine has a program of the same name in its file; what a program gives is judged
 * here, so that all are judged alike.
 *
 * A program gets tools of the case and gives what it saw; one that throws has failed, with its message.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** Chunks that the producer of `slow-reader` has at most, and reads of its reader. */
export const SLOW = { chunks: 20_000, reads: 50, pauseMs: 5, bound: 128 };

export const CASES = [
  {
    name: 'questions',
    title: 'two questions of parallel steps, each answered alone, in either order, by a graph that was built anew',
    passes: ({ forward, backward }) =>
      [forward, backward].every((seen) => seen === 'waits for 1, then 4 stars, window'),
    tell: ({ forward, backward }) => (forward === backward ? forward : `${forward}; in the other order: ${backward}`),
  },
  {
    name: 'join',
    title: 'a join of two paths of unequal length, of which a branch skips one, or none',
    passes: ({ both, skipped }) => both === 1 && skipped === 1,
    tell: ({ both, skipped }) => `ran ${both} x with both paths, ${skipped} x with one skipped`,
  },
  {
    name: 'cancel',
    title: 'cancelling the outer run closes the connection that a step of an inner graph waits for',
    passes: ({ closed }) => closed,
    tell: ({ closed }) => (closed ? 'closed' : 'still open after a second'),
  },
  {
    name: 'slow-reader',
    title: `a reader that takes ${SLOW.pauseMs} ms a chunk bounds what its producer is ahead`,
    passes: ({ ahead }) => ahead <= SLOW.bound,
    tell: ({ ahead }) => `${ahead.toLocaleString('en')} chunks ahead after ${SLOW.reads} reads`,
  },
  {
    name: 'leave',
    title: 'a reader that leaves ends its producer, which may finish the chunk it is at',
    passes: ({ more }) => more <= 1,
    tell: ({ more }) => `${more.toLocaleString('en')} further chunks in a second`,
  },
  {
    name: 'lost',
    title: 'a run whose process was lost in its second of three steps goes on there, by a graph that was built anew',
    passes: ({ runs }) => runs === 'a1 b2 c1',
    tell: ({ runs }) => `runs: ${runs}`,
  },
];

/** What three steps do whose second never ends when it runs for the first time: `working` resolves when it is at work. */
export function threeSteps() {
  const runs = { a: 0, b: 0, c: 0 };
  let begin;
  const working = new Promise((resolve) => {
    begin = resolve;
  });
  const step = (name) => (input) => {
    runs[name] += 1;
    if (name !== 'b' || runs.b > 1) return input;
    begin();
    return new Promise(() => {});
  };
  const counts = () =>
    Object.entries(runs)
      .map(([name, count]) => `${name}${count}`)
      .join(' ');
  return { step, counts, working };
}

/** Programs that only read what a producer of an engine makes. */
export const READERS = {
  'slow-reader': async (producer) => {
    const made = { chunks: 0 };
    let reads = 0;
    for await (const _ of await producer(made)) {
      reads += 1;
      await pause(SLOW.pauseMs);
      if (reads === SLOW.reads) return { ahead: made.chunks - reads };
    }
    throw new Error('the stream ended early');
  },
  leave: async (producer) => {
    const made = { chunks: 0 };
    for await (const _ of await producer(made)) break;
    const seen = made.chunks;
    await pause(1_000);
    return { more: made.chunks - seen };
  },
};
