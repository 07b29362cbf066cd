/** RAGFlow's layout after an edit: it follows the components, so that RAGFlow's editor opens, shows and saves what was edited. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalId } from '../component-id.js';
import type { Document, DocumentComponent } from '../document.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { isContainer, typeKey } from './edit.js';
import { categoryHandle, formAfter } from './forms.js';
import { layoutEdge, layoutNode, type Place } from './layout-parts.js';
import { followSubAgents } from './sub-agents.js';
import { type Resolve, resolverOf, targetsOf, type Way, waysOf } from './ways.js';

/** Where components are to stand; those that have a place already stay there. */
export type Places = Readonly<Record<string, Place>>;

/** How far apart components without a place are put. */
const STEP = { x: 320, y: 200 } as const;

/**
 * The document with other components, and the layout that belongs to them. Nodes, edges and fields that the edit does not concern stay as they
 * are written; a document of version 2 has a layout only where its sidecar brought one.
 */
export function withComponents(before: Document, components: Document['components'], places: Places = {}): Document {
  const after: Document = { ...before, components };
  const { graph } = before;
  if (graph === undefined && before.version === 2) return after;
  const layout = new Layout(graph ?? {}, before, after);
  layout.remove();
  layout.change();
  layout.add(places);
  layout.sort();
  layout.connect();
  return { ...after, graph: layout.graph };
}

/** A layout while it is changed. */
class Layout {
  readonly #given: JsonObject;
  readonly #before: Document;
  readonly #after: Document;
  #nodes: readonly Json[];
  #edges: readonly Json[];
  /** Ids of nodes by the canonical form of components' ids. */
  readonly #known = new Map<string, string>();
  /** Nodes that were not there before. */
  readonly #added = new Set<string>();

  constructor(graph: JsonObject, before: Document, after: Document) {
    this.#given = graph;
    this.#before = before;
    this.#after = after;
    this.#nodes = ownList(graph, 'nodes');
    this.#edges = ownList(graph, 'edges');
    for (const node of this.#nodes) {
      const id = ownText(node, 'id');
      if (id !== undefined && !this.#known.has(canonicalId(id))) this.#known.set(canonicalId(id), id);
    }
  }

  get graph(): JsonObject {
    return { ...this.#given, nodes: [...this.#nodes], edges: [...this.#edges] };
  }

  /** Takes out nodes of components that are gone, with what hangs on them alone: sub-agents, tools, notes in their bodies. */
  remove(): void {
    const gone = new Set<string>();
    for (const id of Object.keys(this.#before.components)) {
      const node = this.#nodeOf(id);
      if (this.#after.components[id] === undefined && node !== undefined) gone.add(node);
    }
    if (gone.size === 0) return;
    const isComponent = (id: string): boolean => this.#componentOf(id) !== undefined;
    for (let size = -1; size !== gone.size; ) {
      size = gone.size;
      for (const edge of this.#edges) {
        const [source, target] = [ownText(edge, 'source'), ownText(edge, 'target')];
        const handle = ownText(edge, 'sourceHandle');
        const hangs = handle === 'agentBottom' || handle === 'tool';
        if (hangs && source !== undefined && target !== undefined && gone.has(source) && !isComponent(target))
          gone.add(target);
      }
      for (const node of this.#nodes) {
        const [id, parent] = [ownText(node, 'id'), ownText(node, 'parentId')];
        if (id !== undefined && parent !== undefined && gone.has(parent) && !isComponent(id)) gone.add(id);
      }
    }
    this.#nodes = this.#nodes.filter((node) => !gone.has(ownText(node, 'id') ?? ''));
    this.#edges = this.#edges.filter(
      (edge) => !gone.has(ownText(edge, 'source') ?? '') && !gone.has(ownText(edge, 'target') ?? ''),
    );
    for (const id of gone) this.#known.delete(canonicalId(id));
  }

  /** Gives nodes of components that changed their names, forms and bodies. */
  change(): void {
    const changed = new Map<string, readonly [DocumentComponent, DocumentComponent]>();
    for (const after of Object.values(this.#after.components)) {
      const before = this.#before.components[after.id];
      const node = this.#nodeOf(after.id);
      if (before !== undefined && before !== after && node !== undefined) changed.set(node, [before, after]);
    }
    if (changed.size === 0) return;
    this.#nodes = this.#nodes.map((node) => {
      const pair = changed.get(ownText(node, 'id') ?? '');
      return pair === undefined || !isJsonObject(node) ? node : changedNode(node, pair[0], pair[1]);
    });
    for (const [before, after] of changed.values()) {
      if (typeKey(after.type) === 'agent' && before.params !== after.params) this.#followSubAgents(before, after);
    }
  }

  /** Gives components without a node one, at their place or beside the others. */
  add(places: Places): void {
    const parts: Json[] = [];
    let right = Math.max(0, ...this.#nodes.map((node) => xOf(node) ?? 0));
    for (const component of Object.values(this.#after.components)) {
      if (this.#nodeOf(component.id) !== undefined) continue;
      const place = Object.hasOwn(places, component.id) ? places[component.id] : undefined;
      if (place === undefined && component.parent === undefined) right += STEP.x;
      const inBody = component.parent === undefined ? right : STEP.x * (1 + parts.length);
      parts.push(layoutNode(component, place ?? { x: inBody, y: STEP.y }, isContainer(this.#after, component)));
      this.#known.set(canonicalId(component.id), component.id);
      this.#added.add(component.id);
    }
    if (parts.length === 0) return;
    this.#nodes = [...this.#nodes, ...parts];
    for (const node of parts) {
      const component = this.#componentOf(ownText(node, 'id') ?? '');
      if (component !== undefined && typeKey(component.type) === 'agent')
        this.#followSubAgents({ ...component, params: {} }, component);
    }
  }

  /** Puts nodes of bodies behind their containers, as the canvas library of RAGFlow's editor needs them. */
  sort(): void {
    const parents = new Map(this.#nodes.map((node) => [ownText(node, 'id'), ownText(node, 'parentId')]));
    const depthOf = (node: Json): number => {
      let depth = 0;
      for (let at = ownText(node, 'parentId'); at !== undefined && depth < parents.size; at = parents.get(at))
        depth += 1;
      return depth;
    };
    const seen = new Set<string | undefined>([undefined]);
    const isSorted = this.#nodes.every((node) => {
      const parent = ownText(node, 'parentId');
      seen.add(ownText(node, 'id'));
      return seen.has(parent) || !parents.has(parent);
    });
    if (isSorted) return;
    this.#nodes = this.#nodes.toSorted((one, other) => depthOf(one) - depthOf(other));
  }

  /** Adds and removes edges by what changed in the ways of components; nodes that are new get all of theirs. */
  connect(): void {
    const [resolveBefore, resolveAfter] = [resolverOf(this.#before), resolverOf(this.#after)];
    const drawn = new Set(this.#edges.map(endsOf));
    const removed = new Set<string>();
    const added: Json[] = [];
    for (const after of Object.values(this.#after.components)) {
      const before = this.#before.components[after.id];
      if (before === after && this.#added.size === 0) continue;
      const form = this.#formOf(after.id);
      const wanted = this.#handles(after, form, resolveAfter);
      const had =
        before === undefined ? wanted : this.#handles(before, this.#formBefore(after.id) ?? form, resolveBefore);
      for (const [ends, edge] of wanted) {
        const isNew =
          before === undefined || !had.has(ends) || this.#added.has(edge.source) || this.#added.has(edge.target);
        if (isNew && !drawn.has(ends)) added.push(layoutEdge(edge.source, edge.handle, edge.target));
      }
      for (const ends of had.keys()) if (!wanted.has(ends)) removed.add(ends);
    }
    if (removed.size > 0) this.#edges = this.#edges.filter((edge) => !removed.has(endsOf(edge)));
    if (added.length > 0) this.#edges = [...this.#edges, ...added];
  }

  #formOf(id: string): JsonObject | undefined {
    const node = this.#nodes.find((one) => ownText(one, 'id') === this.#nodeOf(id));
    return ownObject(ownObject(node, 'data'), 'form');
  }

  #formBefore(id: string): JsonObject | undefined {
    const node = ownList(this.#before.graph, 'nodes').find(
      (one) => canonicalId(ownText(one, 'id') ?? '') === canonicalId(id),
    );
    return ownObject(ownObject(node, 'data'), 'form');
  }

  /** The edges that the ways of a component are drawn as, by their ends. */
  #handles(
    component: DocumentComponent,
    form: JsonObject | undefined,
    resolve: Resolve,
  ): ReadonlyMap<string, DrawnEdge> {
    const edges = new Map<string, DrawnEdge>();
    const source = this.#nodeOf(component.id) ?? component.id;
    for (const way of waysOf(component)) {
      const handle = handleOf(component, way, form);
      if (handle === undefined) continue;
      for (const id of targetsOf(component, way, resolve)) {
        const target = this.#nodeOf(id) ?? id;
        edges.set(`${source} ${handle} ${target}`, { source, handle, target });
      }
    }
    return edges;
  }

  #followSubAgents(before: DocumentComponent, after: DocumentComponent): void {
    const node = this.#nodeOf(after.id) as string;
    const isComponent = (id: string): boolean => this.#componentOf(id) !== undefined;
    const next = followSubAgents({ nodes: this.#nodes, edges: this.#edges }, { id: node, before, after, isComponent });
    this.#nodes = next.nodes;
    this.#edges = next.edges;
  }

  #nodeOf(id: string): string | undefined {
    return this.#known.get(canonicalId(id));
  }

  #componentOf(node: string): DocumentComponent | undefined {
    return this.#after.components[node] ?? this.#after.components[resolverOf(this.#after)(node) ?? ''];
  }
}

/** An edge by its ends. */
interface DrawnEdge {
  readonly source: string;
  readonly handle: string;
  readonly target: string;
}

function endsOf(edge: Json): string {
  return `${ownText(edge, 'source')} ${ownText(edge, 'sourceHandle') ?? 'start'} ${ownText(edge, 'target')}`;
}

/** Where an edge of a way begins; undefined for ways that the layout does not draw. */
function handleOf(component: DocumentComponent, way: Way, form: JsonObject | undefined): string | undefined {
  if (way.kind === 'next') return 'start';
  if (way.kind === 'case') return `Case ${way.index + 1}`;
  if (way.kind === 'else') return 'end_cpn_ids';
  if (way.kind === 'category') return categoryHandle(form, way.name);
  return typeKey(component.type) === 'agent' ? 'agentException' : undefined;
}

function changedNode(node: JsonObject, before: DocumentComponent, after: DocumentComponent): JsonObject {
  const data = ownObject(node, 'data') ?? {};
  const form = ownObject(data, 'form') ?? {};
  const next =
    before.params === after.params ? form : formAfter(after.type, form, { before: before.params, after: after.params });
  const name = before.name === after.name ? {} : { name: after.name };
  const changed = { ...node, data: { ...data, ...name, ...(next === form ? {} : { form: next }) } };
  if (before.parent === after.parent) return changed;
  const { parentId: _, extent: __, ...outside } = changed as JsonObject;
  return after.parent === undefined ? outside : { ...outside, parentId: after.parent, extent: 'parent' };
}

function xOf(node: Json): number | undefined {
  const x = ownObject(node, 'position')?.x;
  // A place in a body says nothing about the canvas.
  return typeof x === 'number' && ownText(node, 'parentId') === undefined ? x : undefined;
}
