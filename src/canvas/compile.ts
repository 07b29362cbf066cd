/** Document + components → plan. Everything that can be known before a run is checked here and reported with its path. */

import type { z } from 'zod';
import type { Component, Placement, Registry } from '../components/component.js';
import { canonicalId } from '../dsl/component-id.js';
import type { Document, DocumentComponent, DocumentIssue } from '../dsl/document.js';
import { MAX_NODES } from '../dsl/document-size.js';
import { createIssueList, formatPath, valueAt } from '../dsl/issues.js';
import { parseReference } from '../dsl/reference.js';
import { EngineError } from '../errors.js';
import { type LinkOptions, link, type NodeSpec } from '../graph/link.js';
import type { Plan } from '../graph/plan.js';
import { addTo } from '../group-by.js';
import type { Json, JsonObject } from '../json.js';
import { didYouMean } from '../nearest-name.js';
import { requireMethods, requireObject } from '../operators/invalid-option.js';

/** What a canvas is compiled with beside its node types. */
export interface CompileOptions extends LinkOptions {
  /** @default `createTimeoutResolver()`: what components declare, else 600 s */
  readonly timeouts?: TimeoutResolver;
}

/** A plan, when there are no errors, and everything that was noticed. */
export interface CompileResult {
  readonly plan?: Plan;
  readonly issues: readonly DocumentIssue[];
}

/**
 * Compiles a document; pure, the plan is frozen and can be cached.
 *
 * @throws EngineError DOCUMENT_INVALID listing every error, with `details.issues`; `too-large` alone for more components than can run.
 */
export function compile(document: Document, registry: Registry, options: CompileOptions = {}): Plan {
  requireObject('compile', 'document', document?.components, 'what parseDocument(…) gives');
  requireMethods('compile', 'registry', registry, ['get'], 'what createRegistry(…) gives');
  const { plan, issues } = checkAndCompile(document, registry, options);
  if (plan !== undefined) return plan;
  const errors = issues.filter((issue) => issue.severity === 'error');
  const list = errors.map((issue) => `${issue.path}: ${issue.message}`).join('\n');
  throw new EngineError('DOCUMENT_INVALID', `The document cannot run:\n${list}`, { details: { issues } });
}

/** Compiles a document and reports all problems instead of throwing. */
export function checkAndCompile(document: Document, registry: Registry, options: CompileOptions = {}): CompileResult {
  const list = createIssueList();
  const issues: Issues = { push: (issue) => list.append([issue]) };
  const count = Object.keys(document.components).length;
  if (count > MAX_NODES) {
    const message = `the document has ${count} components; at most ${MAX_NODES} can run, split the canvas`;
    return { issues: [{ code: 'too-large', severity: 'error', path: '$.components', message }] };
  }
  const entries: Entry[] = [];
  for (const source of Object.values(document.components)) {
    const entry = readComponent(source, document, registry, issues);
    if (entry !== undefined) entries.push(entry);
  }
  checkParents(document, entries, issues);
  const timeouts = options.timeouts ?? createTimeoutResolver();
  const around = surroundingsOf(document, entries);
  const specs = entries.map((entry) => toSpec(entry, around, timeouts, issues));
  const hasErrors = () => list.list().some(({ severity }) => severity === 'error');
  if (hasErrors()) return { issues: list.list() };
  try {
    return { plan: link(specs, options), issues: list.list() };
  } catch (thrown) {
    // A component that could not be made has reported why.
    if (hasErrors()) return { issues: list.list() };
    throw thrown;
  }
}

/** Where issues go; more than a document can show are counted. */
interface Issues {
  readonly push: (issue: DocumentIssue) => void;
}

/** A component of the document with its type and checked parameters. */
interface Entry {
  readonly source: DocumentComponent;
  readonly component: Component<JsonObject>;
  readonly params: JsonObject;
  readonly path: string;
}

/** Most problems that are listed of the parameters of one component. */
const MAX_PROBLEMS = 100;

function readComponent(
  source: DocumentComponent,
  document: Document,
  registry: Registry,
  issues: Issues,
): Entry | undefined {
  const key = `$.components[${JSON.stringify(source.id)}]`;
  const component = registry.get(source.type.trim().toLowerCase()) as Component<JsonObject> | undefined;
  if (component === undefined) {
    const known = [...new Set([...registry.values()].map(({ type }) => type))].sort();
    const hint = didYouMean(source.type, known) || ` Known are: ${known.join(', ')}.`;
    const place = document.version === 1 ? `${key}.obj.component_name` : `${key}.name`;
    const message = `There is no component named "${source.type}".${hint}`;
    issues.push({ code: 'component-unknown', severity: 'error', path: place, message, component: source.id });
    return undefined;
  }
  const path = document.version === 1 ? `${key}.obj.params` : `${key}.params`;
  const parsed = component.params.safeParse(source.params);
  if (parsed.success) return { source, component, params: parsed.data, path };
  const found = parsed.error.issues;
  for (const issue of found.slice(0, MAX_PROBLEMS)) {
    const message = `${source.name}: ${messageOf(issue, source.params)}`;
    const at = formatPath(issue.path, path);
    issues.push({ code: 'params-invalid', severity: 'error', path: at, message, component: source.id });
  }
  if (found.length > MAX_PROBLEMS) {
    const message = `${source.name}: ${found.length - MAX_PROBLEMS} more problems of these parameters are not listed`;
    issues.push({ code: 'params-invalid', severity: 'error', path, message, component: source.id });
  }
  return undefined;
}

function messageOf(issue: z.core.$ZodIssue, params: JsonObject): string {
  const received = valueAt(params, issue.path);
  // What the schema was given is not always what the document has: a text that is no number is NaN to it.
  const message = issue.message.replace(/, received \w+$/, '');
  if (received === undefined) return `${message}; it is missing`;
  const text = JSON.stringify(received);
  return `${message}; received ${text.length > 80 ? `${text.slice(0, 77)}…` : text}`;
}

function checkParents(document: Document, entries: readonly Entry[], issues: Issues): void {
  const containers = new Set(
    entries.filter(({ component }) => component.isContainer === true).map(({ source }) => source.id),
  );
  const known = new Set(entries.map(({ source }) => source.id));
  for (const { source } of entries) {
    if (source.parent === undefined || !known.has(source.parent) || containers.has(source.parent)) continue;
    const path = `$.components[${JSON.stringify(source.id)}].parent_id`;
    const message = `"${source.parent}" is a ${document.components[source.parent]?.type}, which has no body.`;
    issues.push({ code: 'parent-not-container', severity: 'error', path, message, component: source.id });
  }
}

function toSpec(entry: Entry, around: Surroundings, timeouts: TimeoutResolver, issues: Issues): NodeSpec {
  const { source, component, params, path } = entry;
  const unknown = (ids: readonly string[]) => ids.filter((id) => !around.known.has(canonicalId(id)));
  const place = placementOf(source, around);
  const report = (severity: DocumentIssue['severity'], code: string, message: string) =>
    issues.push({ code, severity, path, message: `${source.name}: ${message}`, component: source.id });
  for (const problem of component.check?.(params, { ...place, isStreamed: false }) ?? []) {
    report('error', 'params-invalid', problem);
  }
  for (const advice of component.advise?.(params, { ...place, isStreamed: false }) ?? []) {
    report('warning', 'advice', advice);
  }
  const targets = [...new Set(component.targets?.(params) ?? [])];
  for (const target of unknown(targets)) {
    report('warning', 'target-unknown', `it may go to "${target}", which does not exist.`);
  }
  const needs = componentsOf(component.needs?.(params) ?? []);
  for (const need of unknown(needs)) {
    report('warning', 'reference-unknown', `it reads "${need}", which does not exist.`);
  }
  const onError = errorHandling(component, params);
  for (const target of unknown(onError?.targets ?? [])) {
    report('warning', 'target-unknown', `exception_goto names "${target}", which does not exist.`);
  }
  return {
    id: source.id,
    name: source.name,
    type: component.type,
    create: (isStreamed) => {
      try {
        return component.create(params, { ...place, isStreamed });
      } catch (thrown) {
        if (EngineError.is(thrown)) report('error', 'params-invalid', thrown.message);
        throw thrown;
      }
    },
    downstream: source.downstream,
    parent: source.parent,
    join: joinOf(params) ?? component.join ?? 'all',
    isEntry: component.isEntry ?? false,
    targets,
    needs,
    streams: component.streams?.(params) ?? [],
    consumes: componentsOf(component.consumes?.(params) ?? []),
    outputs: component.outputs,
    onError,
    retry: component.retry?.(params),
    timeoutMs: timeouts(component.type, component.timeoutSeconds),
    thoughts: component.thoughts,
    speaks: component.speaks ?? false,
    asks: component.asks ?? false,
    isRepeatable: component.isRepeatable ?? false,
    isContainer: component.isContainer ?? false,
  };
}

/** What of the document around a component is known before it is linked. */
interface Surroundings {
  readonly document: Document;
  readonly bodies: ReadonlyMap<string, readonly string[]>;
  readonly upstreams: ReadonlyMap<string, readonly string[]>;
  /** Registered types by id. */
  readonly types: ReadonlyMap<string, string>;
  /** Canonical forms of all ids. */
  readonly known: ReadonlySet<string>;
}

function surroundingsOf(document: Document, entries: readonly Entry[]): Surroundings {
  const bodies = new Map<string, string[]>();
  const upstreams = new Map<string, string[]>();
  for (const { id, parent, downstream } of Object.values(document.components)) {
    if (parent !== undefined) addTo(bodies, parent, id);
    for (const to of downstream) addTo(upstreams, to, id);
  }
  const types = new Map(entries.map(({ source, component }) => [source.id, component.type]));
  return { document, types, bodies, upstreams, known: new Set(Object.keys(document.components).map(canonicalId)) };
}

/** Containers around a node that it knows of; a canvas needs a few. */
const MAX_CONTAINERS = 200;

function placementOf(source: DocumentComponent, around: Surroundings): Omit<Placement, 'isStreamed'> {
  const found = new Set<string>();
  for (let parent = source.parent; parent !== undefined && !found.has(parent) && found.size < MAX_CONTAINERS; ) {
    found.add(parent);
    parent = around.document.components[parent]?.parent;
  }
  const containers = [...found];
  const { id, name, downstream } = source;
  const upstream = around.upstreams.get(id) ?? [];
  const containerTypes = containers.flatMap((container) => around.types.get(container) ?? []);
  return { id, name, downstream, upstream, containers, containerTypes, body: around.bodies.get(id) ?? [] };
}

function componentsOf(references: readonly string[]): string[] {
  return references.flatMap((text) => {
    const reference = parseReference(text);
    return reference?.kind === 'output' ? [reference.component] : [];
  });
}

/** What a document says of how ways to a node come together; `join_mode` is a parameter of Runnel's, which RAGFlow passes over. */
function joinOf({ join_mode: mode }: JsonObject): NodeSpec['join'] | undefined {
  return mode === 'all' || mode === 'any' ? mode : undefined;
}

/**
 * RAGFlow's exception parameters, followed literally: `comment` puts a default value in the place of the result (a value that is
 * present counts, also `0` or `false`, but not an empty text: the editor writes that for none), `goto` runs other nodes instead of the successors.
 */
function errorHandling(component: Component<JsonObject>, params: JsonObject): NodeSpec['onError'] {
  const { exception_method: method, exception_default_value: value } = params;
  if (method === 'comment' && value !== undefined && value !== null && value !== '') {
    // A value is no choice: a node that chooses its successors goes nowhere with it, as in RAGFlow.
    if (component.targets !== undefined)
      return { method: 'default', outputs: { result: value }, targets: [], next: [] };
    return { method: 'default', outputs: { [component.primaryOutput ?? 'result']: value }, targets: [] };
  }
  const targets = exceptionTargets(params);
  const isHandled = (method === 'goto' || method === 'comment') && targets.length > 0;
  return isHandled ? { method: 'continue-at', outputs: {}, targets } : undefined;
}

/** Ids of the components that `exception_goto` names. */
export function exceptionTargets({ exception_goto: goto = [] }: JsonObject): readonly string[] {
  return [goto as Json | readonly Json[]].flat().filter((id): id is string => typeof id === 'string' && id !== '');
}

/** Gives the clock of a node in milliseconds; undefined: none. `declared` is the component's `timeoutSeconds`. */
export type TimeoutResolver = (type: string, declared: number | null | undefined) => number | undefined;

/** How long nodes may take; the first of these that says something for a node counts. */
export interface TimeoutOptions {
  /** One timeout for every node, before anything else. */
  readonly overrideSeconds?: number;
  /** Seconds for nodes of a type, by its name in capitals; wins over what the component declares. @default none */
  readonly secondsByType?: Readonly<Record<string, number>>;
  /** Seconds for nodes whose type declares none. @default 600 */
  readonly defaultSeconds?: number | undefined;
}

/**
 * First hit wins: the override, the seconds of the type, what the component declares, the default. A component that declares `null` (a
 * form, a container) has no clock, whatever the options are.
 *
 * @throws EngineError OPTION_INVALID for an override that is not above 0.
 */
export function createTimeoutResolver(options: TimeoutOptions = {}): TimeoutResolver {
  requireObject('createTimeoutResolver', 'options', options, 'an object');
  const { overrideSeconds, secondsByType = {}, defaultSeconds = 600 } = options;
  if (overrideSeconds !== undefined && !(overrideSeconds > 0)) {
    const message = `createTimeoutResolver: "overrideSeconds" must be above 0; received ${overrideSeconds}.`;
    throw new EngineError('OPTION_INVALID', message);
  }
  return (type, declared) => {
    if (declared === null) return undefined;
    const key = type.toUpperCase();
    const ofType = Object.hasOwn(secondsByType, key) ? secondsByType[key] : undefined;
    return (overrideSeconds ?? ofType ?? declared ?? defaultSeconds) * 1000;
  };
}
