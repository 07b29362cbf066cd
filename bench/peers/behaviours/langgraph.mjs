/** The programs in LangGraph.js, as its guides say: interrupts answered by their ids, a checkpointer that outlives the graph. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { replyFor, SLOW, threeSteps, twoTools, WORD } from './cases.mjs';

const State = Annotation.Root({
  text: Annotation({ reducer: (_, value) => value, default: () => '' }),
  hotel: Annotation(),
  seat: Annotation(),
});
const nothing = () => ({});

async function answerAlone(order) {
  const saver = new MemorySaver();
  const made = () =>
    new StateGraph(State)
      .addNode('askHotel', () => ({ hotel: interrupt('How many stars?') }))
      .addNode('askSeat', () => ({ seat: interrupt('Window or aisle?') }))
      .addNode('book', ({ hotel, seat }) => ({ text: `${hotel} stars, ${seat}` }))
      .addEdge(START, 'askHotel')
      .addEdge(START, 'askSeat')
      .addEdge(['askHotel', 'askSeat'], 'book')
      .addEdge('book', END)
      .compile({ checkpointer: saver });
  const options = { configurable: { thread_id: 'trip' } };
  const answers = { 'How many stars?': 4, 'Window or aisle?': 'window' };
  let result = await made().invoke({ text: 'Oslo' }, options);
  let seen = '';
  for (const question of order) {
    const open = result.__interrupt__?.find(({ value }) => value === question);
    if (open === undefined) return `${seen}, then "${question}" is asked no more`;
    result = await made().invoke(new Command({ resume: { [open.id]: answers[question] } }), options);
    if (seen === '') seen = `waits for ${result.__interrupt__?.length ?? 0}`;
  }
  return `${seen}, then ${result.text}`;
}

/** Chunks of a step, which counts those that it has made. */
export async function producer(made) {
  const app = new StateGraph(State)
    .addNode('produce', async (_, { writer }) => {
      while (made.chunks < SLOW.chunks) {
        made.chunks += 1;
        await writer('x');
        await new Promise((resolve) => setImmediate(resolve));
      }
      return {};
    })
    .addEdge(START, 'produce')
    .addEdge('produce', END)
    .compile();
  return await app.stream({ text: '' }, { streamMode: 'custom' });
}

/** A model that answers by what it was told. */
class Scripted extends BaseChatModel {
  constructor(reply) {
    super({});
    this.reply = reply;
  }
  _llmType() {
    return 'scripted';
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const results = messages.filter((message) => message.getType() === 'tool').length;
    const heard = messages.filter((message) => message.getType() === 'human' && message.content === WORD).length;
    const { call, text = '' } = this.reply({ results, heard });
    const calls = call === undefined ? [] : [{ id: `call-${results}`, name: call, args: {} }];
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] };
  }
}

/** The agent of the guide "persistence": a checkpointer keeps its thread. */
function agentFor(name, { call }, checkpointer) {
  const tools = ['first', 'second'].map((id) =>
    tool((_, { signal }) => call(id, signal), { name: id, description: `Does the ${id} thing.`, schema: z.object({}) }),
  );
  return createReactAgent({ llm: new Scripted((seen) => replyFor(name, seen)), tools, checkpointer });
}

const CHAT = { configurable: { thread_id: 'chat' } };

export const PROGRAMS = {
  questions: async () => {
    const order = ['How many stars?', 'Window or aisle?'];
    return { forward: await answerAlone(order), backward: await answerAlone(order.toReversed()) };
  },
  join: async () => {
    const count = async (skips) => {
      let runs = 0;
      const app = new StateGraph(State)
        .addNode('short', nothing)
        .addNode('long', nothing)
        .addNode('longer', nothing)
        .addNode('other', nothing)
        .addNode('join', () => {
          runs += 1;
          return {};
        })
        .addEdge(START, 'short')
        .addConditionalEdges(START, () => (skips ? 'other' : 'long'), ['long', 'other'])
        .addEdge('long', 'longer')
        .addEdge('short', 'join')
        .addEdge('longer', 'join')
        .addEdge('other', 'join')
        .addEdge('join', END)
        .compile();
      await app.invoke({ text: 'x' });
      return runs;
    };
    return { both: await count(false), skipped: await count(true) };
  },
  cancel: async ({ url, arrived, closed }) => {
    const inner = new StateGraph(State)
      .addNode('asks', async (_, { signal }) => ({ text: await (await fetch(url, { signal })).text() }))
      .addEdge(START, 'asks')
      .addEdge('asks', END)
      .compile();
    const app = new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').addEdge('inner', END).compile();
    const abort = new AbortController();
    app.invoke({ text: '' }, { signal: abort.signal }).catch(() => {});
    await arrived;
    abort.abort();
    return { closed: await closed };
  },
  // https://docs.langchain.com/oss/javascript/langgraph/use-subgraphs: an agent is called in a tool, with the config of the call.
  'cancel-agent': async ({ url, arrived, closed }) => {
    const ask = async (_, { signal }) => (await fetch(url, { signal })).text();
    const asks = tool(ask, { name: 'asks', description: 'Asks a server.', schema: z.object({}) });
    const inner = createReactAgent({ llm: new Scripted(() => ({ call: 'asks' })), tools: [asks] });
    const called = tool((_, config) => inner.invoke({ messages: [new HumanMessage('Go.')] }, config), {
      name: 'inner',
      description: 'Knows.',
      schema: z.object({}),
    });
    const outer = createReactAgent({ llm: new Scripted(() => ({ call: 'inner' })), tools: [called] });
    const abort = new AbortController();
    outer.invoke({ messages: [new HumanMessage('Go.')] }, { signal: abort.signal }).catch(() => {});
    await arrived;
    abort.abort();
    return { closed: await closed };
  },
  // https://docs.langchain.com/oss/javascript/langgraph/persistence: the same thread goes on with no input.
  stop: async () => {
    const tools = twoTools('second');
    const saver = new MemorySaver();
    const abort = new AbortController();
    const ended = agentFor('stop', tools, saver)
      .invoke({ messages: [new HumanMessage('Go.')] }, { ...CHAT, signal: abort.signal })
      .catch(() => {});
    await tools.working;
    abort.abort();
    await ended;
    const { messages } = await agentFor('stop', tools, saver).invoke(null, CHAT);
    return { seen: tools.tell(messages.at(-1).content) };
  },
  // https://docs.langchain.com/oss/javascript/langgraph/persistence#update-state: the nearest to an input for an agent at work.
  input: async () => {
    const tools = twoTools('first');
    const saver = new MemorySaver();
    agentFor('input', tools, saver)
      .invoke({ messages: [new HumanMessage('Go.')] }, CHAT)
      .catch(() => {});
    await tools.working;
    await agentFor('input', tools, saver).updateState(CHAT, { messages: [new HumanMessage(WORD)] });
    const { messages } = await agentFor('input', tools, saver).invoke(null, CHAT);
    return { seen: tools.tell(messages.at(-1).content) };
  },
  lost: async () => {
    const { step, counts, working } = threeSteps();
    const saver = new MemorySaver();
    const node = (name) => async () => ({ text: await step(name)(name) });
    const made = () =>
      new StateGraph(State)
        .addNode('a', node('a'))
        .addNode('b', node('b'))
        .addNode('c', node('c'))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .addEdge('b', 'c')
        .addEdge('c', END)
        .compile({ checkpointer: saver });
    const options = { configurable: { thread_id: 'lost' } };
    made()
      .invoke({ text: '' }, options)
      .catch(() => {});
    await working;
    await made().invoke(null, options);
    return { runs: counts() };
  },
};
