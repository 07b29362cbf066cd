/** What a step is made of, as data for programs that show it. */

import type { StandardSchema } from '../standard-schema.js';
import { toStep } from './make-step.js';
import {
  type AnyStepLike,
  DEFINITION,
  type FieldMapping,
  type GraphBlueprint,
  type NodeBlueprint,
  type StepDefinition,
  type StepKind,
} from './step.js';

/** A step and everything in it. */
export interface StepDescription {
  readonly name: string;
  /** What observers and call options know it as. */
  readonly kind: StepKind;
  /** How it works: on whole values, on chunks, or as steps in a graph, for each item of a list, or in rounds. */
  readonly type: StepDefinition['type'];
  /** What its input is called by the schema that was given for it; absent without a schema, or when it has no name. */
  readonly input?: string;
  /** The same for its output. */
  readonly output?: string;
  /** Of `graph` steps: chains, parallels, branches, graphs and workflows. */
  readonly graph?: GraphDescription;
  /** Of `map` steps the step for one item, of `loop` steps that for one round. */
  readonly body?: StepDescription;
  /** Of `map` steps: items at work at once. */
  readonly concurrency?: number;
  /** Of `loop` steps: rounds in all. */
  readonly maxRounds?: number;
}

/** A graph. Ids are those of paths. */
export interface GraphDescription {
  readonly name: string;
  readonly style: GraphBlueprint['style'];
  readonly nodes: readonly NodeDescription[];
  /** From `start`, to `end`, or between nodes; `labels` are the routes of a branch that lead this way. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly labels?: readonly string[] }[];
  /** What the result is made of; absent when it is what comes to the end. */
  readonly end?: readonly FieldMapping[];
  /** Names of the states that it owns. */
  readonly states: readonly string[];
  readonly interruptBefore: readonly string[];
  readonly interruptAfter: readonly string[];
  readonly maxSteps?: number;
  readonly pace: GraphBlueprint['pace'];
  readonly endWith: GraphBlueprint['endWith'];
}

/** A node of a graph. */
export interface NodeDescription {
  readonly id: string;
  readonly step: StepDescription;
  /** Of branches: what they look at. */
  readonly branch?: 'value' | 'prefix';
  /** Where its input comes from, field by field; absent when it is what comes over the edges. */
  readonly input?: readonly FieldMapping[];
  /** Nodes that it reads without an edge. */
  readonly reads?: readonly string[];
  readonly trigger: 'all' | 'any';
}

/**
 * Describes a step: nodes, edges, branches with their labels, where fields come from, graphs inside, states, and types by the names that their
 * schemas have (`title`, else a description, else the kind of the type).
 *
 * The result is plain data, apart from the step, except for static values of workflows, which are as they were written.
 *
 * @throws EngineError PLAN_INVALID for what is neither a step nor a function.
 */
export function describe(step: AnyStepLike): StepDescription {
  const { name, kind, [DEFINITION]: definition } = toStep(step, 'step', 'describe');
  const { type, options } = definition;
  const input = typeName(options.input);
  const output = typeName(options.output);
  return {
    name,
    kind,
    type,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...insideOf(definition),
  };
}

function insideOf(definition: StepDefinition): Partial<StepDescription> {
  switch (definition.type) {
    case 'graph':
      return { graph: describeGraph(definition.graph) };
    case 'map':
      return { body: describe(definition.item), concurrency: definition.concurrency };
    case 'loop':
      return { body: describe(definition.body), maxRounds: definition.maxRounds };
    default:
      return {};
  }
}

function describeGraph(graph: GraphBlueprint): GraphDescription {
  const routes = new Map(graph.nodes.map(({ id, route }) => [id, Object.entries(route?.routes ?? {})]));
  const end = graph.end?.input?.mappings;
  return {
    name: graph.name,
    style: graph.style,
    nodes: graph.nodes.map(describeNode),
    edges: graph.edges.map(({ from, to }) => {
      const labels = (routes.get(from) ?? []).filter(([, target]) => target === to).map(([label]) => label);
      return labels.length === 0 ? { from, to } : { from, to, labels };
    }),
    ...(end === undefined ? {} : { end: end.map(copyOf) }),
    states: graph.states.map(({ name }) => name),
    interruptBefore: [...graph.interruptBefore],
    interruptAfter: [...graph.interruptAfter],
    ...(graph.maxSteps === undefined ? {} : { maxSteps: graph.maxSteps }),
    pace: graph.pace,
    endWith: graph.endWith,
  };
}

function describeNode({ id, step, route, input, trigger }: NodeBlueprint): NodeDescription {
  return {
    id,
    step: describe(step),
    ...(route === undefined ? {} : { branch: route.choosePrefix === undefined ? 'value' : 'prefix' }),
    ...(input?.mappings === undefined ? {} : { input: input.mappings.map(copyOf) }),
    ...(input?.reads === undefined ? {} : { reads: [...input.reads] }),
    trigger: trigger ?? 'all',
  };
}

function copyOf(mapping: FieldMapping): FieldMapping {
  return { ...mapping };
}

/** Where schema libraries keep the name of a type; none of it is part of Standard Schema. */
interface NamedSchema {
  readonly meta?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly expression?: unknown;
  readonly type?: unknown;
}

function typeName(schema: StandardSchema<unknown, unknown> | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { meta, title, description, expression, type } = schema as NamedSchema;
  const described =
    typeof meta === 'function' ? (meta.call(schema) as { title?: unknown; id?: unknown } | undefined) : undefined;
  const names = [described?.title, described?.id, title, description, expression, type];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}
