/** The programs in the OpenAI Agents SDK, as its guides say: a runner, and a state of the run that its caller keeps. */
import { Agent, RunState, run, setTracingDisabled, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { replyFor, SLOW, twoTools } from './cases.mjs';

setTracingDisabled(true);

const messageOf = (text) => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
});
const callOf = (name, id, args) => ({ type: 'function_call', callId: id, name, arguments: args, status: 'completed' });

/** A model that answers by what it was told. */
function scripted(reply) {
  const outputFor = ({ input }) => {
    const results = typeof input === 'string' ? 0 : input.filter(({ type }) => type === 'function_call_result').length;
    const { calls, call, text, args = '{}' } = reply({ results, heard: 0 });
    if (calls !== undefined) return calls.map((name) => callOf(name, `call-${name}`, args));
    return [call === undefined ? messageOf(text) : callOf(call, `call-${results}`, args)];
  };
  return {
    getResponse: async (request) => ({ usage: new Usage(), output: outputFor(request) }),
    async *getStreamedResponse(request) {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      yield { type: 'response_done', response: { id: 'r', usage, output: outputFor(request) } };
    },
  };
}

/** Pieces of a model, which counts those that it has made. */
export async function producer(made) {
  const model = {
    async *getStreamedResponse() {
      while (made.chunks < SLOW.chunks) {
        made.chunks += 1;
        yield { type: 'output_text_delta', delta: 'x' };
        await new Promise((resolve) => setImmediate(resolve));
      }
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      yield { type: 'response_done', response: { id: 'r', usage, output: [messageOf('x')] } };
    },
  };
  const result = await run(new Agent({ name: 'guide', model }), 'Go.', { stream: true });
  return result.toTextStream();
}

export const ABSENT = {
  join: 'has no graphs',
  cancel: 'has no graphs',
  input: 'takes no input for an agent at work',
  lost: 'keeps no runs',
};

// https://openai.github.io/openai-agents-js/guides/human-in-the-loop: calls are approved one by one on the state, which is kept as text.
async function answerAlone(order) {
  const answers = {};
  const asking = (name, description) =>
    tool({
      name,
      description,
      parameters: z.object({}),
      needsApproval: true,
      execute: async () => String(answers[name]),
    });
  const made = () => {
    const tools = [asking('hotel', 'How many stars?'), asking('seat', 'Window or aisle?')];
    const reply = ({ results }) =>
      results < 2 ? { calls: ['hotel', 'seat'] } : { text: `${answers.hotel} stars, ${answers.seat}` };
    return new Agent({ name: 'trip', model: scripted(reply), tools });
  };
  const given = { hotel: 4, seat: 'window' };
  let result = await run(made(), 'Oslo');
  let seen = '';
  for (const name of order) {
    const agent = made();
    const state = await RunState.fromString(agent, result.state.toString());
    const open = state.getInterruptions().find((asked) => asked.rawItem.name === name);
    if (open === undefined) return `${seen}, then "${name}" is asked no more`;
    answers[name] = given[name];
    state.approve(open);
    result = await run(agent, state);
    if (seen === '') seen = `waits for ${result.interruptions.length}`;
  }
  return `${seen}, then ${result.finalOutput}`;
}

export const PROGRAMS = {
  questions: async () => ({
    forward: await answerAlone(['hotel', 'seat']),
    backward: await answerAlone(['seat', 'hotel']),
  }),
  // https://openai.github.io/openai-agents-js/guides/tools#agents-as-tools: an agent as a tool, and the signal of the run.
  'cancel-agent': async ({ url, arrived, closed }) => {
    const asks = tool({
      name: 'asks',
      description: 'Asks a server.',
      parameters: z.object({}),
      execute: async (_, __, details) => (await fetch(url, { signal: details?.signal })).text(),
    });
    const inner = new Agent({ name: 'inner', model: scripted(() => ({ call: 'asks' })), tools: [asks] });
    const called = inner.asTool({ toolName: 'inner', toolDescription: 'Knows.' });
    const model = scripted(() => ({ call: 'inner', args: '{"input":"Go."}' }));
    const abort = new AbortController();
    run(new Agent({ name: 'outer', model, tools: [called] }), 'Go.', { signal: abort.signal }).catch(() => {});
    await arrived;
    abort.abort();
    return { closed: await closed };
  },
  // https://openai.github.io/openai-agents-js/guides/streaming: a run that was cancelled goes on from its state.
  stop: async () => {
    const { call, working, tell } = twoTools('second');
    const made = () => {
      const tools = ['first', 'second'].map((name) =>
        tool({
          name,
          description: `Does the ${name} thing.`,
          parameters: z.object({}),
          execute: (_, __, details) => call(name, details?.signal),
        }),
      );
      return new Agent({ name: 'guide', model: scripted((seen) => replyFor('stop', seen)), tools });
    };
    const abort = new AbortController();
    const stopped = await run(made(), 'Go.', { stream: true, signal: abort.signal });
    stopped.completed.catch(() => {});
    await working;
    const kept = stopped.state.toString();
    abort.abort();
    const agent = made();
    const result = await run(agent, await RunState.fromString(agent, kept));
    return { seen: tell(result.finalOutput) };
  },
};
