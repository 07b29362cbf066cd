/** Programs with many nodes, whose types are all different and all inferred: what the compiler does for large graphs is measured with them. */

const IMPORTS = `import { chain } from '../../../src/compose/chain.js';
import { graph } from '../../../src/compose/graph.js';
import { workflow } from '../../../src/compose/workflow.js';
`;

/** Steps that `.pipe` takes at once. */
const PIPED = 6;

/** Lambdas one behind the other, in one chain. */
export function drawChain(size: number): string {
  const parts = Array.from({ length: size }, (_, at) => `(all) => ({ f${at + 1}: all.f${at}, n${at}: ${at} })`);
  const lines = ['const c0 = chain((all: { f0: string }) => all);'];
  for (let at = 0; at < size; at += PIPED) {
    const [from, to] = [at / PIPED, at / PIPED + 1];
    lines.push(`const c${to} = c${from}.pipe(${parts.slice(at, at + PIPED).join(', ')});`);
  }
  return `${IMPORTS}${lines.join('\n')}\nexport const made = [graph, workflow, c${Math.ceil(size / PIPED)}];\n`;
}

/** Nodes with edges, and a join and a branch for every ten of them. */
export function drawGraph(size: number): string {
  const lines = [
    `  const n0 = g.node('n0', (all: { f0: string }) => ({ f0: all.f0, n0: 0 }));`,
    '  g.edge(g.start, n0);',
  ];
  for (let at = 1; at < size; at += 1) {
    const before = at - 1;
    const isJoin = at % 10 === 0;
    const type = isJoin
      ? `{ a: { f${before}: string }; b: { n${before - 1}: number } }`
      : `{ f${before}: string; n${before}: number }`;
    const value = isJoin ? `all.a.f${before}` : `all.f${before}`;
    lines.push(`  const n${at} = g.node('n${at}', (all: ${type}) => ({ f${at}: ${value}, n${at}: ${at} }));`);
    if (isJoin) lines.push(`  g.join({ a: n${before}, b: n${before - 1} }, n${at});`);
    else if (at % 10 === 5)
      lines.push(`  g.branch(n${before}, { on: n${at} }, (all) => (all.n${before} > 0 ? 'on' : 'on'));`);
    else lines.push(`  g.edge(n${before}, n${at});`);
  }
  const last = size - 1;
  lines.push(`  g.edge(n${last}, g.end);`);
  return `${IMPORTS}export const made = [chain, workflow, graph<{ f0: string }, { f${last}: string }>('g', (g) => {
${lines.join('\n')}
})];
`;
}

/** Nodes that read fields, paths and whole outputs of those before. */
export function drawWorkflow(size: number): string {
  const step = (at: number) =>
    `(all: { text: string; more: { n: number } }) => ({ f${at}: { text: all.text, deep: { n: all.more.n } }, list: [all.text] })`;
  const lines = [`  const n0 = w.node('n0', ${step(0)}, { text: input.text, more: { n: 0 } });`];
  for (let at = 1; at < size; at += 1) {
    const [before, early] = [at - 1, Math.floor(at / 2)];
    lines.push(
      `  const n${at} = w.node('n${at}', ${step(at)}, { text: n${before}.f${before}.text, more: { n: n${early === at ? before : early}.f${early}.deep.n } });`,
    );
  }
  const last = size - 1;
  lines.push(`  w.end({ text: n${last}.f${last}.text, list: n${last}.list });`);
  return `${IMPORTS}export const made = [chain, graph, workflow<{ text: string }, { text: string; list: string[] }>('w', (input, w) => {
${lines.join('\n')}
})];
`;
}
