/** Runnel as it is built: `npm run build` first. Every event of the run is observed. */
import { lastValueFrom, reduce, tap } from 'rxjs';
import { loadCanvas, planOf, run, runTurn, settled, toWireEvents } from '../../dist/index.js';
import { LAYER_SHIFTS } from './workloads.mjs';

const nothing = () => ({});
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

export function prepare({ kind, count }) {
  if (kind === 'canvas') return turn(count);
  const plan = PLANS[kind](count);
  return () => lastValueFrom(run(plan, { input: null }).pipe(reduce((seen) => seen + 1, 0)));
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
