/** Nodes and plans for tests: a spec with everything that does not matter filled in. */

import { link, type NodeSpec } from '../../../src/graph/link.js';
import type { Activation, NodeFunction } from '../../../src/graph/node.js';
import type { Plan } from '../../../src/graph/plan.js';
import type { Json } from '../../../src/json.js';

/** A node that settles at once with its own id. */
export const settleAtOnce: NodeFunction = ({ node }) => ({ value: node });

export interface SpecParts extends Partial<Omit<NodeSpec, 'id' | 'create'>> {
  readonly activate?: NodeFunction;
}

export function spec(id: string, { activate = settleAtOnce, ...parts }: SpecParts = {}): NodeSpec {
  return {
    id,
    name: id,
    type: 'test',
    create: () => activate,
    downstream: [],
    join: 'all',
    isEntry: false,
    targets: [],
    needs: [],
    streams: [],
    consumes: [],
    outputs: {},
    speaks: false,
    asks: false,
    isContainer: false,
    ...parts,
  };
}

/** A plan from specs by id. */
export function planOfSpecs(specs: Readonly<Record<string, SpecParts>>): Plan {
  return link(Object.entries(specs).map(([id, parts]) => spec(id, parts)));
}

/**
 * A plan drawn as edges: `a -> b c` (separate lines or semicolons); nodes are indexed in the order of their first mention,
 * or as `order` lists them.
 */
export function draw(
  drawing: string,
  parts: Readonly<Record<string, SpecParts>> = {},
  order: readonly string[] = [],
): Plan {
  const downstream = new Map<string, string[]>(order.map((id) => [id, []]));
  const edgesOf = (id: string): string[] => {
    const known = downstream.get(id);
    if (known !== undefined) return known;
    const fresh: string[] = [];
    downstream.set(id, fresh);
    return fresh;
  };
  for (const line of drawing.split(/[;\n]/)) {
    const groups = line.split('->').map((group) =>
      group
        .trim()
        .split(/\s+/)
        .filter((id) => id !== ''),
    );
    for (const [at, group] of groups.entries()) {
      for (const from of group) edgesOf(from).push(...(groups[at + 1] ?? []));
    }
    for (const id of groups.at(-1) ?? []) edgesOf(id);
  }
  return link([...downstream].map(([id, to]) => spec(id, { downstream: to, ...parts[id] })));
}

/** The value of a reference that must have one. */
export function readValue(at: Activation, reference: string): Json {
  const found = at.lookup(reference);
  return found.status === 'found' ? found.value : null;
}
