/** The programs in LangGraph.js, as its guides say: interrupts answered by their ids, a checkpointer that outlives the graph. */
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { SLOW, threeSteps } from './cases.mjs';

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
