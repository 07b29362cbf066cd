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
    name: 'cancel-agent',
    title: 'cancelling an agent closes the connection that a tool of an agent inside it waits for',
    passes: ({ closed }) => closed,
    tell: ({ closed }) => (closed ? 'closed' : 'still open after a second'),
  },
  {
    name: 'stop',
    title: 'a chat that is stopped while its second tool is at work goes on there, from what was stored of it',
    passes: ({ seen }) => seen === 'first 1 x, second 2 x, then: Done.',
    tell: ({ seen }) => seen,
  },
  {
    name: 'input',
    title: 'a person says something to an agent at work, whose process is lost then: the next one hears it, once',
    passes: ({ seen }) => seen === 'first 2 x, then: Heard 1 x.',
    tell: ({ seen }) => seen,
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

/** What is said to an agent at work. */
export const WORD = 'In one line!';

/** What a model does that was given so many results of tools, and heard the word so often; every engine has it in its own words. */
export function replyFor(name, { results, heard }) {
  if (name === 'stop') return [{ call: 'first' }, { call: 'second' }, { text: 'Done.' }][Math.min(results, 2)];
  return results === 0 ? { call: 'first' } : { text: `Heard ${heard} x.` };
}

/** Two tools, of which one ends with its signal alone when it is called for the first time: `working` resolves when it is at work. */
export function twoTools(endless) {
  const runs = { first: 0, second: 0 };
  let begin;
  const working = new Promise((resolve) => {
    begin = resolve;
  });
  const call = (name, signal) => {
    runs[name] += 1;
    if (name !== endless || runs[name] > 1) return Promise.resolve(`${name} is done.`);
    begin();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('The tool was stopped.')), { once: true });
    });
  };
  const tell = (text) => {
    const counts = Object.entries(runs).filter(([, count]) => count > 0);
    return `${counts.map(([name, count]) => `${name} ${count} x`).join(', ')}, then: ${text}`;
  };
  return { call, working, tell };
}

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
