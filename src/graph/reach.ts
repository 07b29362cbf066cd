/**
 * Which node can reach which, for the join rule.
 *
 * Levels answer most questions at once: an edge never leads to a lower level, and from a node outside every cycle it leads
 * to a higher one. What remains is looked up in ancestor sets, one bit per node, computed when first asked for.
 */

/** The edges of a plan as tables by node index. */
export interface EdgeTables {
  readonly predecessors: readonly (readonly number[])[];
  readonly level: readonly number[];
  /** Number of the cycle a node lies in, or -1. */
  readonly cycle: readonly number[];
}

/** Bytes that the ancestor sets of one plan may take before they are computed anew. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export class Reach {
  readonly #tables: EdgeTables;
  readonly #ancestors = new Map<number, Uint32Array>();
  #bytes = 0;

  constructor(tables: EdgeTables) {
    this.#tables = tables;
  }

  /** Whether a token at `from`, once it moves on, may come to `to`. */
  canReach(from: number, to: number): boolean {
    const { level, cycle, predecessors } = this.#tables;
    const gap = (level[to] as number) - (level[from] as number);
    if (gap < 0) return false;
    if (gap === 0) return cycle[to] !== -1 && cycle[to] === cycle[from];
    if (gap === 1 && cycle[to] === -1 && cycle[from] === -1) {
      return (predecessors[to] as readonly number[]).includes(from);
    }
    const set = this.#ancestors.get(to) ?? this.#compute(to);
    return ((set[from >> 5] as number) & (1 << (from & 31))) !== 0;
  }

  #compute(to: number): Uint32Array {
    const { predecessors } = this.#tables;
    const set = new Uint32Array((predecessors.length + 31) >> 5);
    const open = [to];
    while (open.length > 0) {
      for (const before of predecessors[open.pop() as number] as readonly number[]) {
        const bit = 1 << (before & 31);
        const at = before >> 5;
        if (((set[at] as number) & bit) !== 0) continue;
        set[at] = (set[at] as number) | bit;
        open.push(before);
      }
    }
    if (this.#bytes + set.byteLength > MAX_CACHE_BYTES) {
      this.#ancestors.clear();
      this.#bytes = 0;
    }
    this.#ancestors.set(to, set);
    this.#bytes += set.byteLength;
    return set;
  }
}

/** Levels and cycles of a graph; Tarjan's strongly connected components, without recursion. */
export function measure(successors: readonly (readonly number[])[]): { level: number[]; cycle: number[] } {
  const count = successors.length;
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const component = new Int32Array(count).fill(-1);
  const stack: number[] = [];
  const onStack = new Uint8Array(count);
  const cycle = new Array<number>(count).fill(-1);
  let clock = 0;
  let components = 0;
  let cycles = 0;

  const visit = (root: number): void => {
    const path = [root];
    const edge = [0];
    order[root] = low[root] = clock++;
    stack.push(root);
    onStack[root] = 1;
    while (path.length > 0) {
      const node = path[path.length - 1] as number;
      const next = (successors[node] as readonly number[])[edge[edge.length - 1] as number];
      if (next !== undefined) {
        edge[edge.length - 1] = (edge[edge.length - 1] as number) + 1;
        if (order[next] === -1) {
          order[next] = low[next] = clock++;
          stack.push(next);
          onStack[next] = 1;
          path.push(next);
          edge.push(0);
        } else if (onStack[next] === 1) {
          low[node] = Math.min(low[node] as number, order[next] as number);
        }
        continue;
      }
      path.pop();
      edge.pop();
      const parent = path[path.length - 1];
      if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
      if (low[node] !== order[node]) continue;
      const size = stack.length - stack.lastIndexOf(node);
      const isCycle = size > 1 || (successors[node] as readonly number[]).includes(node);
      for (const member of stack.splice(stack.length - size)) {
        onStack[member] = 0;
        component[member] = components;
        if (isCycle) cycle[member] = cycles;
      }
      components += 1;
      if (isCycle) cycles += 1;
    }
  };
  for (let node = 0; node < count; node += 1) if (order[node] === -1) visit(node);

  // Tarjan numbers components in reverse topological order, so walking down from the highest sees sources first.
  const members: number[][] = Array.from({ length: components }, () => []);
  for (let node = 0; node < count; node += 1) (members[component[node] as number] as number[]).push(node);
  const depth = new Int32Array(components);
  for (let at = components - 1; at >= 0; at -= 1) {
    for (const node of members[at] as number[]) {
      for (const next of successors[node] as readonly number[]) {
        const to = component[next] as number;
        if (to !== at) depth[to] = Math.max(depth[to] as number, (depth[at] as number) + 1);
      }
    }
  }
  const level = Array.from({ length: count }, (_, node) => depth[component[node] as number] as number);
  return { level, cycle };
}
