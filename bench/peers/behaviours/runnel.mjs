/** The programs in Runnel: `npm run build` first. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lastValueFrom, of, Subject } from 'rxjs';
import { agent, agentTool, createRunner, fileSessions, fileTurnLogs } from '../../../dist/entries/agents.js';
import {
  ask,
  chain,
  defineTool,
  generator,
  graph,
  invoke,
  parallel,
  recoverFrom,
  resumeFrom,
  run,
  stream,
} from '../../../dist/index.js';
import { replyFor, SLOW, threeSteps, twoTools, WORD } from './cases.mjs';

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

/** A model that answers by what it was told. */
function scripted(reply) {
  return {
    chat: ({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length;
      const heard = messages.filter(({ role, content }) => role === 'user' && content === WORD).length;
      const { call, text, args = '{}' } = reply({ results, heard });
      if (call === undefined) return of({ type: 'text', text }, { type: 'finish', reason: 'stop' });
      const asked = { type: 'tool-call', index: 0, id: `call-${results}`, name: call, arguments: args };
      return of(asked, { type: 'finish', reason: 'tool_calls' });
    },
  };
}

/** A conversation over a folder, as one process after the other opens it; of those before it is known that they are lost. */
function opened(name, { call }, folder, processes) {
  const tools = ['first', 'second'].map((id) =>
    defineTool({ name: id, description: `Does the ${id} thing.`, run: (_, { signal }) => call(id, signal) }),
  );
  const now = () => Date.now() + processes * 3_600_000;
  return createRunner({
    agent: agent({ name: 'guide', model: scripted((seen) => replyFor(name, seen)), tools }),
    sessions: fileSessions(path.join(folder, 'sessions')),
    logs: fileTurnLogs(path.join(folder, 'logs'), { now }),
  });
}

async function answerOf(runner) {
  await lastValueFrom(runner.resume('s'));
  const { messages } = await runner.session('s');
  return messages.at(-1).content;
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
  'cancel-agent': async ({ url, arrived, closed }) => {
    const asks = defineTool({
      name: 'asks',
      description: 'Asks a server.',
      run: async (_, { signal }) => (await fetch(url, { signal })).text(),
    });
    const inner = agent({
      name: 'inner',
      description: 'Knows.',
      model: scripted(() => ({ call: 'asks' })),
      tools: [asks],
    });
    const model = scripted(() => ({ call: 'inner', args: '{"request":"Go."}' }));
    const outer = agent({ name: 'outer', model, tools: [agentTool(inner)] });
    const running = run(outer, { input: 'Go.' }).subscribe({ error: () => {} });
    await arrived;
    running.unsubscribe();
    return { closed: await closed };
  },
  stop: async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'runnel-peers-'));
    const tools = twoTools('second');
    const cancel$ = new Subject();
    const ended = lastValueFrom(opened('stop', tools, folder, 0).run('Go.', { session: 's', cancel$ }));
    await tools.working;
    cancel$.next({ mode: 'now' });
    await ended;
    return { seen: tools.tell(await answerOf(opened('stop', tools, folder, 0))) };
  },
  input: async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'runnel-peers-'));
    const tools = twoTools('first');
    const input$ = new Subject();
    const accepted = new Promise((resolve) => {
      opened('input', tools, folder, 0)
        .run('Go.', { session: 's', input$ })
        .subscribe({ next: ({ type }) => type === 'input-accepted' && resolve(), error: () => {} });
    });
    await tools.working;
    input$.next({ id: 'w', content: WORD });
    await accepted;
    return { seen: tools.tell(await answerOf(opened('input', tools, folder, 1))) };
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
