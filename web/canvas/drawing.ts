/** What of a document is drawn: its components as cards and containers, its edges, its notes. */
import { indexIds } from '../../src/dsl/component-id.js';
import type { Document, DocumentComponent, DocumentIssue } from '../../src/dsl/document.js';
import { ownList, ownObject, ownText } from '../../src/dsl/json-copy.js';
import { readDocument } from '../../src/dsl/read.js';
import type { Json } from '../../src/json.js';
import {
  type Badge,
  type Branch,
  badgesOf,
  branchesOf,
  hasErrorExit,
  joinBadge,
  type OfferedTool,
  summaryOf,
  toolsOf,
} from './describe.js';
import { type DrawnEdge, edgesOf } from './drawn-edges.js';
import { isContainerType, isStartType } from './kinds.js';

export type { DrawnEdge, EdgeKind } from './drawn-edges.js';

/** A component as a card, a container or the start of a body. */
export interface DrawnNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly shape: 'card' | 'container' | 'start';
  /** The container that it lies in. */
  readonly parent?: string;
  /** What it does, in a line; empty when its parameters do not say. */
  readonly summary: string;
  readonly tools: readonly OfferedTool[];
  readonly branches: readonly Branch[];
  /** Whether edges lead from it in case of an error. */
  readonly hasExceptions: boolean;
  readonly badges: readonly Badge[];
}

/** A remark of the author. */
export interface DrawnNote {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  readonly notes: readonly DrawnNote[];
  /** What the file says about places: RAGFlow's layout, if there is one. */
  readonly layout: readonly Json[];
  readonly issues: readonly DocumentIssue[];
}

/** How much of a document is drawn. */
export interface DrawingOptions {
  /** Also ways that lead nowhere yet, for editors. @default false */
  readonly hasAllWays?: boolean;
}

/** Reads a document of any version for drawing; what cannot be read at all gives an empty drawing with its issues. */
export function readDrawing(dsl: unknown): Drawing {
  const { document, issues } = readDocument(dsl);
  if (document === undefined) return { nodes: [], edges: [], notes: [], layout: [], issues };
  return drawDocument(document, issues);
}

/** A document that was read, for drawing. */
export function drawDocument(
  document: Document,
  issues: readonly DocumentIssue[],
  { hasAllWays = false }: DrawingOptions = {},
): Drawing {
  const components = Object.values(document.components);
  const parents = parentsOf(document);
  const bodies = new Set(parents.values());
  const index = indexIds(Object.keys(document.components));
  const layout = ownList(document.graph, 'nodes');
  const edges = components.flatMap((component) =>
    edgesOf(component, branchesOf(component.params, hasAllWays), index.resolve, parents),
  );
  const joins = joinsOf(edges);
  return {
    nodes: components.map((component) => {
      const { id, params } = component;
      const branches = branchesOf(params, hasAllWays);
      const isJoin = joins.has(id);
      const hasExceptions = hasErrorExit(params, hasAllWays);
      return drawNode(component, { branches, hasExceptions, isJoin, hasBody: bodies.has(id), parent: parents.get(id) });
    }),
    edges,
    notes: layout.flatMap(drawNote),
    layout,
    issues,
  };
}

/** Nodes that several edges lead to. */
function joinsOf(edges: readonly DrawnEdge[]): ReadonlySet<string> {
  const [once, twice] = [new Set<string>(), new Set<string>()];
  for (const { to } of edges) (once.has(to) ? twice : once).add(to);
  return twice;
}

/** The container of each node; a chain of containers that closes into a circle is cut. */
function parentsOf(document: Document): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const { id, parent } of Object.values(document.components)) {
    if (parent === undefined) continue;
    let above: string | undefined = parent;
    while (above !== undefined && above !== id) above = parents.get(above);
    if (above === undefined) parents.set(id, parent);
  }
  return parents;
}

interface Place {
  readonly branches: readonly Branch[];
  readonly hasExceptions: boolean;
  readonly isJoin: boolean;
  readonly hasBody: boolean;
  readonly parent: string | undefined;
}

/** What was drawn of a component: one that did not change is the same object in the next drawing. */
const drawn = new WeakMap<DocumentComponent, DrawnNode>();

function drawNode(component: DocumentComponent, place: Place): DrawnNode {
  const { branches, hasExceptions, isJoin, hasBody, parent } = place;
  const { id, type, name, params } = component;
  const shape = hasBody || isContainerType(type) ? 'container' : isStartType(type) ? 'start' : 'card';
  const before = drawn.get(component);
  const wasJoin = before?.badges.some(({ kind }) => kind === 'join');
  const isSame =
    before?.shape === shape &&
    wasJoin === isJoin &&
    before.parent === parent &&
    before.hasExceptions === hasExceptions &&
    before.branches.length === branches.length;
  if (before !== undefined && isSame) return before;
  const node: DrawnNode = {
    id,
    type,
    name,
    shape,
    ...(parent !== undefined && { parent }),
    summary: summaryOf(params),
    tools: toolsOf(params),
    branches,
    hasExceptions,
    badges: [...badgesOf(params), ...(isJoin ? [joinBadge(params)] : [])],
  };
  drawn.set(component, node);
  return node;
}

function drawNote(node: Json): DrawnNote[] {
  const data = ownObject(node, 'data');
  const id = ownText(node, 'id');
  if (id === undefined || ownText(data, 'label') !== 'Note') return [];
  return [{ id, name: ownText(data, 'name') ?? '', text: ownText(ownObject(data, 'form'), 'text') ?? '' }];
}
