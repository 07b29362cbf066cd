/**
 * What every engine runs. Nodes do nothing, so that the engine is what is measured; a node of the canvas merges a text.
 *
 * Sizes: what the peers finish in seconds. Per node they get dearer with size, which `chain 1000` shows. What `isTyped` is made of typed
 * steps in Runnel, whose edges carry values and merge them; peers run the same as without it.
 */
export const WORKLOADS = [
  { name: 'chain 100', kind: 'chain', count: 100, nodes: 100 },
  { name: 'chain 1000', kind: 'chain', count: 1_000, nodes: 1_000 },
  { name: 'fan-out 1-100-1', kind: 'fan', count: 100, nodes: 102 },
  { name: 'layers 10x10', kind: 'layers', count: 10, nodes: 100 },
  { name: 'loop 100 rounds x 3', kind: 'loop', count: 100, nodes: 300 },
  { name: 'typed chain 100', kind: 'chain', isTyped: true, count: 100, nodes: 100 },
  { name: 'typed chain 1000', kind: 'chain', isTyped: true, count: 1_000, nodes: 1_000 },
  { name: 'typed fan-out 1-100-1', kind: 'fan', isTyped: true, count: 100, nodes: 102 },
  { name: 'typed layers 10x10', kind: 'layers', isTyped: true, count: 10, nodes: 100 },
  { name: 'canvas of 100', kind: 'canvas', count: 100, nodes: 100 },
];

/** Successors of each node of a layer, by position: three of the next. */
export const LAYER_SHIFTS = [0, 1, 7];
