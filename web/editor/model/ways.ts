/** Ways of components as the canvas draws them: handles, edges, and back. */

import type { Document, DocumentComponent } from '../../../src/dsl/document.js';
import { type Connection, type Way, waysOf } from '../../../src/dsl/edit/index.js';
import type { Branch } from '../../canvas/describe.js';
import type { DrawnEdge, DrawnNode } from '../../canvas/drawing.js';
import { branchHandle, EXCEPTION } from '../../canvas/flow.js';

const NEXT: Way = { kind: 'next' };

/** The way of a branch of a node that is drawn with all of its ways. */
function wayOfBranch({ kind, label = '' }: Branch, number: number): Way {
  if (kind === 'case') return { kind, index: number };
  return kind === 'category' ? { kind, name: label } : { kind };
}

/** The way whose edges leave at a handle. */
export function wayOfHandle(node: DrawnNode | undefined, handle: string | null | undefined): Way {
  if (handle === EXCEPTION) return { kind: 'error' };
  const number = node?.branches.findIndex((_, at) => branchHandle(at) === handle) ?? -1;
  const branch = node?.branches[number];
  return branch === undefined ? NEXT : wayOfBranch(branch, number);
}

/** What an edge stands for. */
export function connectionOf({ from, to, kind, branch }: DrawnEdge, node: DrawnNode | undefined): Required<Connection> {
  if (kind === 'exception') return { from, to, way: { kind: 'error' } };
  const chosen = branch === undefined ? undefined : node?.branches[branch];
  return { from, to, way: chosen === undefined ? NEXT : wayOfBranch(chosen, branch as number) };
}

/** Ways that a form lists: what comes next only where nothing is chosen, or where a file has such an edge; an error where there is one. */
export function listedWays(
  { components }: Document,
  id: string,
  targets: (way: Way) => readonly string[],
): readonly Way[] {
  const component = components[id] as DocumentComponent;
  const ways = waysOf(component);
  const chooses = ways.length > 2;
  return ways.filter((way) => way.kind !== 'next' || !chooses || targets(way).length > 0);
}
