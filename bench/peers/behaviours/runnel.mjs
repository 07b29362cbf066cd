/** The programs in Runnel: `npm run build` first. */
import {
  ask,
  chain,
  generator,
  graph,
  invoke,
  parallel,
  recoverFrom,
  resumeFrom,
  run,
  stream,
} from '../../../dist/index.js';
import { SLOW, threeSteps } from './cases.mjs';

const anything = { '~standard': { version: 1, vendor: 'peers', validate: (value) => ({ value }) } };
const trip = () =>
  chain(
    parallel({ hotel: ask(anything, () => 'How many stars?'), seat: ask(anything, () => 'Window or aisle?') }),
    ({ hotel, seat }) => `${hotel} stars, ${seat}`,
  );

async function answerAlone(answers) {
  let input = 'Oslo';
  let seen = '';
  for (const answer of [...answers, undefined]) {
    const error = await invoke(trip(), input).catch((reason) => reason);
    if (typeof error === 'string') return `${seen}, then ${error}`;
    if (seen === '' && input !== 'Oslo') seen = `waits for ${error.details.questions.length}`;
    input = resumeFrom(JSON.parse(JSON.stringify(error.details.checkpoint)), answer);
  }
  return seen;
}

/** Chunks of a step, which counts those that it has made. */
export function producer(made) {
  const produce = generator(async function* () {
    while (made.chunks < SLOW.chunks) {
      made.chunks += 1;
      yield 'x';
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  return stream(produce, '');
}

export const PROGRAMS = {
  questions: async () => {
    const answers = [{ 'parallel/hotel': 4 }, { 'parallel/seat': 'window' }];
    return { forward: await answerAlone(answers), backward: await answerAlone(answers.toReversed()) };
  },
  join: async () => {
    const count = async (skips) => {
      let runs = 0;
      const made = graph('join', (g) => {
        const short = g.node('short', (input) => input);
        const long = g.node('long', (input) => input);
        const longer = g.node('longer', (input) => input);
        const join = g.node(
          'join',
          (input) => {
            runs += 1;
            return input;
          },
          { merge: ([first]) => first },
        );
        const other = g.passthrough('other');
        g.edge(g.start, short);
        g.branch(g.start, { long, other }, () => (skips ? 'other' : 'long'));
        g.edge(long, longer);
        g.edge(short, join);
        g.edge(longer, join);
        g.edge(other, join);
        g.edge(join, g.end);
      });
      await invoke(made, 'x');
      return runs;
    };
    return { both: await count(false), skipped: await count(true) };
  },
  cancel: async ({ url, arrived, closed }) => {
    const inner = graph('inner', (g) => {
      const asks = g.node('asks', async (_, { signal }) => (await fetch(url, { signal })).text());
      g.edge(g.start, asks);
      g.edge(asks, g.end);
    });
    const running = run(
      chain(inner, (text) => text),
      { input: '' },
    ).subscribe({ error: () => {} });
    await arrived;
    running.unsubscribe();
    return { closed: await closed };
  },
  lost: async () => {
    const { step, counts, working } = threeSteps();
    const made = () =>
      graph('steps', (g) => {
        const [a, b, c] = ['a', 'b', 'c'].map((name) => g.node(name, step(name)));
        for (const [from, to] of [
          [g.start, a],
          [a, b],
          [b, c],
          [c, g.end],
        ])
          g.edge(from, to);
      });
    const events = [];
    let snapshot;
    const log = {
      snapshot: (checkpoint) => {
        snapshot ??= checkpoint;
      },
      append: (event) => events.push(JSON.stringify(event)),
      flush: async () => {},
    };
    run(made(), { input: '' }, { log }).subscribe({ error: () => {} });
    await working;
    const kept = events.map((event) => JSON.parse(event));
    await invoke(made(), recoverFrom({ snapshot, events: kept }));
    return { runs: counts() };
  },
};
