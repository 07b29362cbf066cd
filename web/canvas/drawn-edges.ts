/** The edges that a component's ways are drawn as. */
import type { DocumentComponent } from '../../src/dsl/document.js';
import { type Branch, exceptionsOf } from './describe.js';

/** What an edge is: one of all that are taken, one of several ways, or the way out of an error. */
export type EdgeKind = 'way' | 'branch' | 'exception';

export interface DrawnEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  /** Number of the branch within its node. */
  readonly branch?: number;
}

type Resolve = (id: string) => string | undefined;

/** The edges of a component, each target of a way once. */
export function edgesOf(
  component: DocumentComponent,
  branches: readonly Branch[],
  resolve: Resolve,
  parents: ReadonlyMap<string, string>,
): DrawnEdge[] {
  const { id: from, params, downstream } = component;
  const edges: DrawnEdge[] = [];
  const led = new Set<string>();
  const add = (target: string, kind: EdgeKind, more: Partial<DrawnEdge> = {}): void => {
    const to = resolve(target);
    // A container leads to the first node of its body by being around it; the way back is the next round.
    if (to === undefined || to === from || isWithin(to, from, parents) || isWithin(from, to, parents)) return;
    led.add(to);
    edges.push({ id: `${kind}${more.branch ?? ''}:${from}→${to}`, from, to, kind, ...more });
  };
  for (const [branch, { targets }] of branches.entries()) {
    for (const target of new Set(targets)) add(target, 'branch', { branch });
  }
  for (const target of new Set(exceptionsOf(params))) add(target, 'exception');
  for (const target of downstream) if (!led.has(resolve(target) ?? '')) add(target, 'way');
  return edges;
}

function isWithin(id: string, container: string, parents: ReadonlyMap<string, string>): boolean {
  for (let above = parents.get(id); above !== undefined; above = parents.get(above)) {
    if (above === container) return true;
  }
  return false;
}
