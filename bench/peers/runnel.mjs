/** Runnel as it is built: `npm run build` first. Every event of the run is observed. */
import { lastValueFrom, reduce, tap } from 'rxjs';
import { chain, graph, loadCanvas, parallel, planOf, run, runTurn, settled, toWireEvents } from '../../dist/index.js';
import { LAYER_SHIFTS } from './workloads.mjs';

const nothing = () => ({});
const same = (value) => value;
const ids = (count) => Array.from({ length: count }, (_, at) => `n${at}`);
const nodes = (count) => Object.fromEntries(ids(count).map((id) => [id, nothing]));

const PLANS = {
  chain: (count) => planOf(nodes(count)),
  fan: (count) => {
    const edges = ids(count).flatMap((id) => [
      ['s', id],
      [id, 'z'],
    ]);
    return planOf({ s: nothing, ...nodes(count), z: nothing }, edges);
  },
  layers: (side) => {
    const edges = ids(side * (side - 1)).flatMap((id, at) => {
      const next = (Math.floor(at / side) + 1) * side;
      return LAYER_SHIFTS.map((shift) => [id, `n${next + ((at + shift) % side)}`]);
    });
    return planOf(nodes(side * side), edges);
  },
  loop: (rounds) => {
    let round = 0;
    const turn = () => {
      round += 1;
      if (round < rounds) return settled({}, { next: ['n0'] });
      round = 0;
      return settled({}, { next: ['z'] });
    };
    return planOf({ n0: nothing, n1: nothing, n2: turn, z: nothing, s: nothing }, [
      ['s', 'n0'],
      ['n0', 'n1'],
      ['n1', 'n2'],
      ['n2', 'n0'],
      ['n2', 'z'],
    ]);
  },
};

/** The same of typed steps: every edge carries a value. */
const STEPS = {
  chain: (count) => chain(...ids(count).map(() => same)),
  fan: (count) => {
    const middle = parallel(Object.fromEntries(ids(count).map((id) => [id, same])));
    return chain(same, middle, same);
  },
  layers: (side) =>
    graph('layers', (g) => {
      const nodes = ids(side * side).map((id) => g.node(id, same, { merge: ([first]) => first }));
      const last = g.node('last', same, { merge: ([first]) => first });
      for (const [at, node] of nodes.entries()) {
        if (at < side) g.edge(g.start, node);
        const next = (Math.floor(at / side) + 1) * side;
        if (next === nodes.length) g.edge(node, last);
        else for (const shift of LAYER_SHIFTS) g.edge(node, nodes[next + ((at + shift) % side)]);
      }
      g.edge(last, g.end);
    }),
};

export function prepare({ kind, count, isTyped = false }) {
  if (kind === 'canvas') return turn(count);
  const made = (isTyped ? STEPS : PLANS)[kind](count);
  const input = isTyped ? { text: 'hello' } : null;
  return async () => {
    let ended;
    const count = (seen, event) => {
      ended = event;
      return seen + 1;
    };
    const events = await lastValueFrom(run(made, { input }).pipe(reduce(count, 0)));
    if (ended.type !== 'run-settled') throw new Error(`The run of ${kind} did not settle: ${JSON.stringify(ended)}`);
    return events;
  };
}

/** One question to a canvas, each of RAGFlow's events as text. */
function turn(count) {
  const canvas = loadCanvas(documentOf(count));
  const context = { plan: canvas.plan, messageId: 'm', sessionId: 's' };
  return () =>
    lastValueFrom(
      runTurn(canvas, { query: 'hello' }).pipe(
        toWireEvents(context),
        tap((event) => JSON.stringify(event)),
        reduce((seen) => seen + 1, 0),
      ),
    );
}

function documentOf(count) {
  const all = ['begin', ...ids(count - 2).map((id) => `StringTransform:${id}`), 'Message:End'];
  const params = {
    begin: {},
    StringTransform: { method: 'merge', script: 'text', delimiters: [','] },
    Message: { content: ['done'] },
  };
  const components = all.map((id, at) => {
    const [type] = id.split(':');
    const obj = { component_name: type === 'begin' ? 'Begin' : type, params: params[type] };
    return [id, { obj, downstream: all.slice(at + 1, at + 2), upstream: all.slice(Math.max(0, at - 1), at) }];
  });
  return { components: Object.fromEntries(components), globals: {}, history: [], path: [], retrieval: [] };
}
