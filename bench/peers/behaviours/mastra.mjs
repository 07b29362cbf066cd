/** The programs in Mastra's workflows, as its guides say: steps that suspend, a store in memory that outlives the workflow. */
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';
import { replyFor, SLOW, threeSteps, twoTools } from './cases.mjs';

const anything = z.any();
const schemas = { inputSchema: anything, outputSchema: anything, resumeSchema: anything, suspendSchema: anything };
const step = (id, execute) => createStep({ id, ...schemas, execute });
const workflow = (id) => createWorkflow({ id, inputSchema: anything, outputSchema: anything });
const opened = (id, made, storage) => new Mastra({ storage, workflows: { [id]: made }, logger: false }).getWorkflow(id);

async function answerAlone(order) {
  const storage = new InMemoryStore();
  const asks = (id, question) =>
    step(id, async ({ resumeData, suspend }) => resumeData?.answer ?? (await suspend({ question })));
  const made = () => {
    const trip = workflow('trip')
      .parallel([asks('hotel', 'How many stars?'), asks('seat', 'Window or aisle?')])
      .then(step('book', async ({ inputData }) => `${inputData.hotel} stars, ${inputData.seat}`))
      .commit();
    return opened('trip', trip, storage);
  };
  const first = await made().createRunAsync();
  let result = await first.start({ inputData: 'Oslo' });
  const answers = { hotel: 4, seat: 'window' };
  let seen = '';
  for (const id of order) {
    const run = await made().createRunAsync({ runId: first.runId });
    result = await run.resume({ step: id, resumeData: { answer: answers[id] } });
    if (seen === '') seen = `waits for ${result.status === 'suspended' ? result.suspended.length : result.status}`;
  }
  return `${seen}, then ${result.result ?? result.status}`;
}

/** Chunks of a step, which counts those that it has made; what else the stream tells is left out. */
export async function* producer(made) {
  const produce = step('produce', async ({ writer }) => {
    while (made.chunks < SLOW.chunks) {
      made.chunks += 1;
      await writer.write('x');
      await new Promise((resolve) => setImmediate(resolve));
    }
    return '';
  });
  const run = await workflow('produces').then(produce).commit().createRunAsync();
  for await (const event of run.stream({ inputData: '' }).fullStream) {
    if (event.type === 'workflow-step-output') yield event;
  }
}

/** A model of the AI SDK that answers by what it was told, as Mastra's agents take it. */
function scripted(reply) {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const partsFor = (prompt) => {
    const results = prompt.filter(({ role }) => role === 'tool').length;
    const { call, text, input = '{}' } = reply({ results, heard: 0 });
    return call === undefined
      ? [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: text },
          { type: 'text-end', id: 't' },
          { type: 'finish', finishReason: 'stop', usage },
        ]
      : [
          { type: 'tool-call', toolCallId: `call-${results}`, toolName: call, input },
          { type: 'finish', finishReason: 'tool-calls', usage },
        ];
  };
  return {
    specificationVersion: 'v2',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doStream: async ({ prompt }) => ({
      stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...partsFor(prompt)]),
    }),
  };
}

const hosted = (id, agent, storage) => new Mastra({ storage, agents: { [id]: agent }, logger: false }).getAgent(id);

export const ABSENT = {
  input: 'takes no input for an agent at work',
};

export const PROGRAMS = {
  questions: async () => {
    const order = ['hotel', 'seat'];
    return { forward: await answerAlone(order), backward: await answerAlone(order.toReversed()) };
  },
  join: async () => {
    const count = async (skips) => {
      let runs = 0;
      const same = (id) => step(id, async ({ inputData }) => inputData);
      const long = workflow('longs').then(same('long')).then(same('longer')).commit();
      const chosen = workflow('chosen')
        .branch([
          [async () => !skips, long],
          [async () => skips, same('other')],
        ])
        .commit();
      const made = workflow('join')
        .parallel([same('short'), chosen])
        .then(
          step('joined', async () => {
            runs += 1;
            return 'done';
          }),
        )
        .commit();
      await (await made.createRunAsync()).start({ inputData: 'x' });
      return runs;
    };
    return { both: await count(false), skipped: await count(true) };
  },
  cancel: async ({ url, arrived, closed }) => {
    const inner = workflow('inner')
      .then(step('asks', async ({ abortSignal }) => (await fetch(url, { signal: abortSignal })).text()))
      .commit();
    const run = await workflow('outer').then(inner).commit().createRunAsync();
    run.start({ inputData: '' }).catch(() => {});
    await arrived;
    await run.cancel();
    return { closed: await closed };
  },
  // https://mastra.ai/docs/agents/networks and /docs/tools-mcp/advanced-usage: agents of an agent, and the signal that its tools get.
  'cancel-agent': async ({ url, arrived, closed }) => {
    const asks = createTool({
      id: 'asks',
      description: 'Asks a server.',
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => (await fetch(url, { signal: abortSignal })).text(),
    });
    const inner = new Agent({
      name: 'inner',
      description: 'Knows.',
      instructions: 'Ask.',
      model: scripted(() => ({ call: 'asks' })),
      tools: { asks },
    });
    const calls = { call: 'agent-inner', input: '{"prompt":"Go."}' };
    const model = scripted(() => calls);
    const outer = new Agent({ name: 'outer', instructions: 'Ask.', model, agents: { inner } });
    const abort = new AbortController();
    const stream = await hosted('outer', outer, new InMemoryStore()).stream('Go.', { abortSignal: abort.signal });
    stream.consumeStream().catch(() => {});
    await arrived;
    abort.abort();
    return { closed: await closed };
  },
  // https://mastra.ai/docs/agents/agent-approval: a run of an agent goes on by its id.
  stop: async () => {
    const { call, working, tell } = twoTools('second');
    const storage = new InMemoryStore();
    const made = () => {
      const tools = Object.fromEntries(
        ['first', 'second'].map((id) => [
          id,
          createTool({
            id,
            description: `Does the ${id} thing.`,
            inputSchema: z.object({}),
            execute: (_, { abortSignal }) => call(id, abortSignal),
          }),
        ]),
      );
      const model = scripted((seen) => replyFor('stop', seen));
      return hosted('guide', new Agent({ name: 'guide', instructions: 'Work.', model, tools }), storage);
    };
    const abort = new AbortController();
    const stream = await made().stream('Go.', { abortSignal: abort.signal, maxSteps: 5 });
    stream.consumeStream().catch(() => {});
    await working;
    abort.abort();
    const again = await made().resumeStream({}, { runId: stream.runId, maxSteps: 5 });
    await new Promise((resolve, reject) => {
      again.consumeStream({ onError: reject }).then(resolve);
    });
    return { seen: tell(await again.text) };
  },
  lost: async () => {
    const { step: work, counts, working } = threeSteps();
    const storage = new InMemoryStore();
    const made = () => {
      const steps = ['a', 'b', 'c'].map((name) => step(name, async () => work(name)(name)));
      const lost = steps.reduce((so, next) => so.then(next), workflow('lost')).commit();
      return opened('lost', lost, storage);
    };
    const first = await made().createRunAsync();
    first.start({ inputData: '' }).catch(() => {});
    await working;
    const run = await made().createRunAsync({ runId: first.runId });
    await run.restart();
    return { runs: counts() };
  },
};
