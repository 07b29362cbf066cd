/** LangGraph.js as its guides say: a StateGraph, compiled once, streamed in mode `updates`: one event per node, the cheapest mode. */
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { LAYER_SHIFTS } from './workloads.mjs';

const last = (initial) => Annotation({ reducer: (_, value) => value, default: () => initial });
const State = Annotation.Root({ text: last(''), round: last(0) });
const nothing = () => ({});
const ids = (count) => Array.from({ length: count }, (_, at) => `n${at}`);

function withNodes(count, node = nothing) {
  const builder = new StateGraph(State);
  for (const id of ids(count)) builder.addNode(id, node);
  return builder;
}

function chain(count, node) {
  const builder = withNodes(count, node);
  builder.addEdge(START, 'n0');
  for (let at = 1; at < count; at += 1) builder.addEdge(`n${at - 1}`, `n${at}`);
  return builder.addEdge(`n${count - 1}`, END);
}

const GRAPHS = {
  chain: (count) => chain(count),
  canvas: (count) => chain(count, () => ({ text: ['text'].join(',') })),
  fan: (count) => {
    const builder = withNodes(count).addNode('s', nothing).addNode('z', nothing).addEdge(START, 's');
    for (const id of ids(count)) builder.addEdge('s', id);
    return builder.addEdge(ids(count), 'z').addEdge('z', END);
  },
  layers: (side) => {
    const builder = withNodes(side * side);
    for (let at = 0; at < side; at += 1) builder.addEdge(START, `n${at}`);
    for (let at = side; at < side * side; at += 1) {
      const before = (Math.floor(at / side) - 1) * side;
      builder.addEdge(
        LAYER_SHIFTS.map((shift) => `n${before + ((at - shift + side) % side)}`),
        `n${at}`,
      );
    }
    for (const id of ids(side * side).slice(-side)) builder.addEdge(id, END);
    return builder;
  },
  loop: (rounds) => {
    const builder = new StateGraph(State).addNode('n0', nothing).addNode('n1', nothing);
    builder.addNode('n2', ({ round }) => ({ round: round + 1 }));
    builder.addEdge(START, 'n0').addEdge('n0', 'n1').addEdge('n1', 'n2');
    return builder.addConditionalEdges('n2', ({ round }) => (round < rounds ? 'n0' : END), ['n0', END]);
  },
};

export function prepare({ kind, count, nodes }) {
  const app = GRAPHS[kind](count).compile();
  const options = { streamMode: 'updates', recursionLimit: nodes + 10 };
  return async () => {
    let seen = 0;
    for await (const event of await app.stream({ text: 'hello', round: 0 }, options)) {
      if (kind === 'canvas') JSON.stringify(event);
      seen += 1;
    }
    return seen;
  };
}
