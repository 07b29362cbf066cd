/** Graphs as users give them and as they are exported, and what is wrong with those that cannot be taken. */
import { CO_OCCURS, MAX_NAME } from '../facts.js';
import { nameKey } from '../names/name-forms.js';
import { MAX_DESCRIPTIONS } from '../sum/name-stats.js';
import { MAX_GIVEN_WEIGHT } from '../sum/relation-sums.js';
import { Problems, UNSTORABLE, UNWRITABLE } from './problems.js';

/** How often a chunk mentions an entity. */
export interface ChunkCount {
  readonly id: string;
  readonly count: number;
}

/** An entity of a graph. */
export interface GraphNode {
  /** By which edges name it; the graph itself goes by names. */
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly aliases: readonly string[];
  readonly descriptions: readonly string[];
  /** Where it stands. Without any it belongs to no document, and none takes it along. */
  readonly chunks: readonly ChunkCount[];
  /** Those of `chunks` whose document is named after it. */
  readonly titles: readonly string[];
}

/** What is said of two entities. */
export interface GraphEdge {
  /** Ids of nodes. */
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  /** Whether it is stated, as opposed to names that stand in one paragraph. */
  readonly explicit: boolean;
  /** 0 to 1e9, in steps of 1/1024. */
  readonly weight: number;
  readonly descriptions: readonly string[];
  /** Ids of chunks that say it. */
  readonly chunks: readonly string[];
}

/** A whole graph. */
export interface GraphDocument {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** A graph that was read, with the place of each node and edge in what was given. */
export interface ReadGraph extends GraphDocument {
  readonly placesOf: { readonly nodes: readonly string[]; readonly edges: readonly string[] };
}

/** A node or an edge before it is checked. */
export interface RawItem {
  /** Where it stands, such as `nodes[3]` or `line 12, node "n3"`. */
  readonly at: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A graph before it is checked. */
export interface RawGraph {
  readonly nodes: readonly RawItem[];
  readonly edges: readonly RawItem[];
}

/** What a graph that is given or exported may have. */
export const GRAPH_BOUNDS = {
  nodes: 20_000,
  edges: 50_000,
  /** Chunks that nodes and edges name, together. */
  chunks: 200_000,
} as const;

/** Relation of edges that name none. */
const RELATED = 'related_to';
const MAX_TYPE = 100;
const MAX_RELATION = 100;
const MAX_DESCRIPTION = 2_000;
const MAX_ALIASES = 1_000;
const MAX_ID = 300;
const MAX_COUNT = 1_000_000;

const NODE_FIELDS = ['id', 'name', 'type', 'aliases', 'description', 'descriptions', 'chunks', 'titles'];
const EDGE_FIELDS = ['source', 'target', 'relation', 'explicit', 'weight', 'description', 'descriptions', 'chunks'];

/**
 * Checks a graph; gives it with its defaults.
 *
 * @throws EngineError BAD_REQUEST with a line for each problem and its place, 20 at most
 */
export function checkGraph(raw: RawGraph): ReadGraph {
  const problems = new Problems();
  for (const part of ['nodes', 'edges'] as const) {
    const most = GRAPH_BOUNDS[part];
    if (raw[part].length > most) problems.add(part, `${raw[part].length} of them; at most ${most} are taken`);
  }
  problems.throwIfAny();
  const nodes = raw.nodes.map((item) => nodeOf(new Fields(item, NODE_FIELDS, problems)));
  const known = checkNames(nodes, raw.nodes, problems);
  const edges = raw.edges.map((item) => edgeOf(new Fields(item, EDGE_FIELDS, problems), known));
  const chunks = [...nodes, ...edges].reduce((sum, { chunks: own }) => sum + own.length, 0);
  if (chunks > GRAPH_BOUNDS.chunks)
    problems.add('chunks', `${chunks} are named; at most ${GRAPH_BOUNDS.chunks} are taken`);
  problems.throwIfAny();
  const placesOf = { nodes: raw.nodes.map(({ at }) => at), edges: raw.edges.map(({ at }) => at) };
  return { nodes, edges, placesOf };
}

function nodeOf(fields: Fields): GraphNode {
  const id = fields.text('id', { most: MAX_ID }) ?? '';
  const chunks = chunkCounts(fields);
  const titles = fields.texts('titles', MAX_ID);
  for (const [at, one] of titles.entries())
    if (!chunks.some((chunk) => chunk.id === one))
      fields.refuse(`titles[${at}]`, `"${shown(one)}" is none of its chunks`);
  return {
    ...{ id, chunks, titles },
    name: fields.text('name', { most: MAX_NAME, fallback: id }) ?? '',
    type: fields.text('type', { most: MAX_TYPE, fallback: 'concept' }) ?? '',
    aliases: [...new Set(fields.texts('aliases', MAX_NAME, MAX_ALIASES))],
    descriptions: descriptionsOf(fields),
  };
}

function edgeOf(fields: Fields, known: ReadonlySet<string>): GraphEdge {
  const end = (name: 'source' | 'target'): string => {
    const id = fields.text(name, { most: MAX_ID }) ?? '';
    if (id !== '' && !known.has(id)) fields.refuse(name, `there is no node "${shown(id)}"`);
    return id;
  };
  const [source, target] = [end('source'), end('target')];
  if (source !== '' && source === target) fields.refuse('target', 'an entity has no relation to itself');
  const relation = fields.text('relation', { most: MAX_RELATION, fallback: RELATED }) ?? '';
  const explicit = fields.flag('explicit', relation !== CO_OCCURS);
  if (!explicit && relation !== CO_OCCURS && relation !== '')
    fields.refuse('explicit', `what is not explicit is "${CO_OCCURS}"; received the relation "${shown(relation)}"`);
  return {
    ...{ source, target, relation, explicit },
    weight: fields.number('weight', MAX_GIVEN_WEIGHT, 1),
    descriptions: descriptionsOf(fields),
    chunks: [...new Set(fields.texts('chunks', MAX_ID))],
  };
}

function descriptionsOf(fields: Fields): readonly string[] {
  const one = fields.text('description', { most: MAX_DESCRIPTION, fallback: '', isFree: true }) ?? '';
  const all = fields.texts('descriptions', MAX_DESCRIPTION, MAX_DESCRIPTIONS, true);
  return [...new Set([...(one === '' ? [] : [one]), ...all])].slice(0, MAX_DESCRIPTIONS);
}

/** Chunks with how often each mentions the node; one that is named twice mentions it as often as both say. */
function chunkCounts(fields: Fields): readonly ChunkCount[] {
  const counts = new Map<string, number>();
  for (const [at, one] of fields.list('chunks').entries()) {
    const { id, count = 1 } = isObject(one) ? one : { id: one };
    const isOne = typeof id === 'string' && id !== '' && id.length <= MAX_ID && !UNWRITABLE.test(id);
    if (!isOne || (isObject(one) && Object.keys(one).some((name) => name !== 'id' && name !== 'count')))
      fields.refuse(`chunks[${at}]`, `an id, or {"id", "count"}, is needed; received ${shownValue(one)}`);
    else if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > MAX_COUNT)
      fields.refuse(
        `chunks[${at}].count`,
        `a whole number from 1 to ${MAX_COUNT} is needed; received ${shownValue(count)}`,
      );
    else counts.set(id, (counts.get(id) ?? 0) + (count as number));
  }
  return [...counts].map(([id, count]) => ({ id, count }));
}

/** Ids are unique, and no other name belongs to two nodes; gives the ids. */
function checkNames(nodes: readonly GraphNode[], raw: readonly RawItem[], problems: Problems): ReadonlySet<string> {
  const ids = new Map<string, number>();
  const owners = new Map<string, number>();
  const placeOf = (at: number): string => raw[at]?.at ?? '';
  for (const [at, { id, name }] of nodes.entries()) {
    const first = ids.get(id);
    if (first === undefined) ids.set(id, at);
    else if (id !== '') problems.add(`${placeOf(at)}: id`, `"${shown(id)}" is that of ${placeOf(first)}, too`);
    if (!owners.has(nameKey(name))) owners.set(nameKey(name), at);
  }
  for (const [at, { name, aliases }] of nodes.entries()) {
    for (const [place, alias] of aliases.entries()) {
      const key = nameKey(alias);
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, at);
      else if (owner !== at && key !== nameKey(name))
        problems.add(`${placeOf(at)}: aliases[${place}]`, `"${shown(alias)}" is a name of ${placeOf(owner)}, too`);
    }
  }
  return new Set(ids.keys());
}

interface TextRule {
  readonly most: number;
  /** @default it has to be there */
  readonly fallback?: string;
  /** Whether it may have any character that is one. @default false */
  readonly isFree?: boolean;
}

/** Reads the fields of one item, and notes what is wrong with them. */
class Fields {
  readonly #item: RawItem;
  readonly #problems: Problems;

  constructor(item: RawItem, names: readonly string[], problems: Problems) {
    this.#item = item;
    this.#problems = problems;
    for (const name of Object.keys(item.fields))
      if (!names.includes(name)) this.refuse(shown(name), `there is no such field; there are ${names.join(', ')}`);
  }

  refuse(field: string, why: string): void {
    this.#problems.add(`${this.#item.at}: ${field}`, why);
  }

  text(field: string, { most, fallback, isFree = false }: TextRule): string | undefined {
    const value = this.#value(field) ?? fallback;
    return this.#checked(field, value, most, isFree, fallback === '');
  }

  texts(field: string, most: number, mostOfThem = GRAPH_BOUNDS.chunks as number, isFree = false): readonly string[] {
    const list = this.list(field);
    if (list.length > mostOfThem) this.refuse(field, `${list.length} of them; at most ${mostOfThem} are taken`);
    return list.slice(0, mostOfThem).flatMap((one, at) => this.#checked(`${field}[${at}]`, one, most, isFree) ?? []);
  }

  list(field: string): readonly unknown[] {
    const value = this.#value(field) ?? [];
    if (Array.isArray(value)) return value;
    this.refuse(field, `a list is needed; received ${shownValue(value)}`);
    return [];
  }

  flag(field: string, fallback: boolean): boolean {
    const value = this.#value(field) ?? fallback;
    if (typeof value === 'boolean') return value;
    this.refuse(field, `true or false is needed; received ${shownValue(value)}`);
    return fallback;
  }

  number(field: string, most: number, fallback: number): number {
    const value = this.#value(field) ?? fallback;
    if (typeof value === 'number' && value >= 0 && value <= most) return value;
    this.refuse(field, `a number from 0 to ${most} is needed; received ${shownValue(value)}`);
    return fallback;
  }

  #value(field: string): unknown {
    return Object.hasOwn(this.#item.fields, field) ? this.#item.fields[field] : undefined;
  }

  #checked(field: string, value: unknown, most: number, isFree: boolean, mayBeEmpty = false): string | undefined {
    if (typeof value !== 'string') {
      this.refuse(field, value === undefined ? 'it is missing' : `a text is needed; received ${shownValue(value)}`);
      return undefined;
    }
    const text = isFree ? value : value.trim();
    if (text === '' && !mayBeEmpty) this.refuse(field, 'it is empty');
    else if (text.length > most) this.refuse(field, `it has ${text.length} characters; at most ${most} are taken`);
    else if ((isFree ? UNSTORABLE : UNWRITABLE).test(text))
      this.refuse(field, 'it holds a control character, or half of a character');
    else return text;
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function shownValue(value: unknown): string {
  return shown(JSON.stringify(value) ?? 'nothing');
}
