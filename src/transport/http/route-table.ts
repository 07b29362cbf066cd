import { EngineError } from '../../errors.js';
import type { Route } from './route.js';

/** What of a table answers a request. */
export interface RouteMatch<T> {
  readonly value: T;
  /** Values of the parameters in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** A route with what answers it. */
interface Entry<T> {
  readonly route: Pick<Route, 'method' | 'path'>;
  readonly value: T;
  readonly names: readonly string[];
}

/** The routes that have the same segments up to here. */
interface Branch<T> {
  /** By fixed segment, in small letters. */
  readonly fixed: Map<string, Branch<T>>;
  /** Behind any segment. */
  any: Branch<T> | undefined;
  /** Of the routes that end here. */
  readonly entries: Map<string, Entry<T>>;
}

/** What a segment may be: the name of a parameter behind a colon, or text without signs that mean something in other routers. */
const FORM = /^(?::\w+|[^:*{}()[\]?+!\\]*)$/;

/**
 * Finds the route of a request segment by segment, however many there are. A fixed segment wins over a parameter, letters of either case are the
 * same, a slash at the end means nothing, and GET answers HEAD.
 */
export class RouteTable<T> {
  readonly #root: Branch<T> = emptyBranch();
  readonly #entries: Entry<T>[] = [];

  /** @throws EngineError CONFIG_INVALID when another route answers the same requests, or a segment is only in part a parameter. */
  add(route: Pick<Route, 'method' | 'path'>, value: T): void {
    const { method, path } = route;
    let branch = this.#root;
    const names: string[] = [];
    for (const segment of segmentsOf(path).slice(1)) {
      const name = segment.startsWith(':') ? segment.slice(1) : undefined;
      if (!FORM.test(segment)) {
        const message = `The path of the route ${method} ${path} has the segment "${segment}"; a segment is fixed text or ":" and a name.`;
        throw new EngineError('CONFIG_INVALID', message);
      }
      if (name === undefined) branch = fixedBranch(branch, segment.toLowerCase());
      else {
        names.push(name);
        branch.any ??= emptyBranch();
        branch = branch.any;
      }
    }
    const other = branch.entries.get(method);
    if (other !== undefined) throw sameRequests(other.route, route);
    const entry = { route, value, names };
    branch.entries.set(method, entry);
    this.#entries.push(entry);
  }

  /** All routes, in the order in which they were added. */
  get routes(): readonly Pick<Route, 'method' | 'path'>[] {
    return this.#entries.map(({ route }) => route);
  }

  /** The route of a request; undefined when there is none for its method. */
  find(method: string, path: string): RouteMatch<T> | undefined {
    const segments = segmentsOf(path);
    const values: string[] = [];
    const entry = findIn(this.#root, segments, 1, method === 'HEAD' ? 'GET' : method, values);
    if (entry === undefined) return undefined;
    const params: Record<string, string> = {};
    for (let at = 0; at < entry.names.length; at += 1) {
      params[entry.names[at] as string] = decoded(values[at] as string);
    }
    return { value: entry.value, params };
  }

  /** The methods that routes of a path take, sorted; none when there is no such path. */
  methodsOf(path: string): readonly string[] {
    const found = new Set<string>();
    collectMethods(this.#root, segmentsOf(path), 1, found);
    if (found.has('GET')) found.add('HEAD');
    return [...found].sort();
  }
}

function emptyBranch<T>(): Branch<T> {
  return { fixed: new Map(), any: undefined, entries: new Map() };
}

function fixedBranch<T>(branch: Branch<T>, segment: string): Branch<T> {
  const known = branch.fixed.get(segment) ?? emptyBranch<T>();
  branch.fixed.set(segment, known);
  return known;
}

/** Those of a path, behind an empty one. */
function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/');
  if (segments.length > 1 && segments[segments.length - 1] === '') segments.pop();
  return segments;
}

/** Leaves the values of the parameters, in order, in `values`. */
function findIn<T>(
  branch: Branch<T>,
  segments: readonly string[],
  at: number,
  method: string,
  values: string[],
): Entry<T> | undefined {
  if (at === segments.length) return branch.entries.get(method);
  const segment = segments[at] as string;
  const fixed = branch.fixed.get(segment) ?? branch.fixed.get(segment.toLowerCase());
  const found = fixed && findIn(fixed, segments, at + 1, method, values);
  if (found !== undefined || branch.any === undefined || segment === '') return found;
  values.push(segment);
  const behind = findIn(branch.any, segments, at + 1, method, values);
  if (behind === undefined) values.pop();
  return behind;
}

function collectMethods<T>(branch: Branch<T>, segments: readonly string[], at: number, found: Set<string>): void {
  if (at === segments.length) {
    for (const method of branch.entries.keys()) found.add(method);
    return;
  }
  const segment = segments[at] as string;
  const fixed = branch.fixed.get(segment.toLowerCase());
  if (fixed !== undefined) collectMethods(fixed, segments, at + 1, found);
  if (branch.any !== undefined && segment !== '') collectMethods(branch.any, segments, at + 1, found);
}

/** As it is when it is not encoded as it should be. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function sameRequests(one: Pick<Route, 'method' | 'path'>, other: Pick<Route, 'method' | 'path'>): EngineError {
  const both = `${one.method} ${one.path} and ${other.path}`;
  return new EngineError('CONFIG_INVALID', `Two routes answer the same requests: ${both}. Give one another path.`);
}
