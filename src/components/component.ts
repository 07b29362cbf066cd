/**
 * What a node type is: data plus one function.
 *
 * Nothing below asks for a component's name: whatever must be known about a type, the type declares here as a property.
 */
import type { ZodType } from 'zod';
import type { NodeFunction } from '../graph/node.js';
import type { Port } from '../graph/plan.js';
import type { JsonObject } from '../json.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';

/** Where a node stands in its plan, for components that look around when they are created. */
export interface Placement {
  /** Id of the node. */
  readonly id: string;
  /** Display name of the node. */
  readonly name: string;
  /** Declared downstream ids. */
  readonly downstream: readonly string[];
  /** Ids of the nodes whose downstream this one is. */
  readonly upstream: readonly string[];
  /** Ids of the enclosing containers, innermost first. */
  readonly containers: readonly string[];
  /** Their types, as registered. */
  readonly containerTypes: readonly string[];
  /** Ids of the nodes in the node's own body; empty without one. */
  readonly body: readonly string[];
  /** Whether another node reads this one live, over a stream edge. */
  readonly isStreamed: boolean;
}

/** A node type. `P` is what `params` gives after validation. */
export interface Component<P = JsonObject> {
  /** The name in documents, such as `Switch`. Compared without regard to case. */
  readonly type: string;
  /** Older names of the same type. */
  readonly aliases?: readonly string[];
  /** One sentence for the catalogue. */
  readonly summary: string;
  /** Where palettes list it: `flow`, `model`, `conversation`, `data`, `web`, `tools`, `ingestion`, or a word of your own. @default other */
  readonly group?: string;
  /** Validates and completes the parameters; unknown keys must pass. Describe each with unit and default. */
  readonly params: ZodType<P>;
  /** One sentence that users see while a node of the type works. @default none */
  readonly thoughts?: string;
  /** Named outputs that every node of the type has. */
  readonly outputs: Readonly<Record<string, Port>>;
  /** Outputs that a node has by its parameters beside those of its type, as warnings about references need them; `any`: whatever it is given. */
  ownOutputs?(params: P): readonly string[] | 'any';
  /** Parameters in which nothing is replaced, such as a script. @default none */
  readonly verbatim?: readonly string[];
  /** `all` (default): one run per activation, when no live token can still reach it. `any`: one run per arriving token. */
  readonly join?: 'any' | 'all';
  /** Where a scope starts: Begin for a document, item nodes for a body. */
  readonly isEntry?: boolean;
  /** Its deltas are the answer that the user reads. */
  readonly speaks?: boolean;
  /** It may wait for an answer: it is reported as started only when it continues. */
  readonly asks?: boolean;
  /** It can be told something while it works, when it has tools. @default false */
  readonly hears?: boolean;
  /** It changes nothing outside of the run: it may run before the start of the run is stored, and again when that is lost. @default false */
  readonly isRepeatable?: boolean;
  /** It has a body: nodes whose `parent` it is. It has no clock of its own and takes no slot. */
  readonly isContainer?: boolean;
  /** Type of the node that a new body of it begins with. @default its body begins with any node */
  readonly bodyStart?: string;
  /** Seconds an activation may take; default 600. Null: no clock. */
  readonly timeoutSeconds?: number | null;
  /** Output that a default value (`exception_method: comment`) goes to; default `result`. */
  readonly primaryOutput?: string;
  /** Ids that `next` may name beside the declared downstream. */
  targets?(params: P): readonly string[];
  /** References that must have a value before the node can run; reached without, it is passed over. */
  needs?(params: P): readonly string[];
  /** Output ports that come live while the node runs; only when this node's parameters allow it. */
  streams?(params: P): readonly string[];
  /** References that the node reads live with `activation.stream`. */
  consumes?(params: P): readonly string[];
  /** How often and how far apart the engine tries again after a retryable error. */
  retry?(params: P): { readonly attempts: number; readonly delayMs: number };
  /** Problems that the schema cannot see, such as parameters that contradict each other. */
  check?(params: P, placement: Placement): readonly string[];
  /** What its author should look at although it runs, such as a tool that does not exist here. */
  advise?(params: P, placement: Placement): readonly string[];
  /** Makes the node. Called once per node when the plan is compiled. */
  create(params: P, placement: Placement): NodeFunction;
}

/** Types a component literal without losing `P`. @throws EngineError OPTION_INVALID for something else than a component. */
export function defineComponent<P>(component: Component<P>): Component<P> {
  requireComponent('defineComponent', component);
  return component;
}

/** A component whose parameters are its own business. */
// biome-ignore lint/suspicious/noExplicitAny: components of different parameter types share lists and registries
export type AnyComponent = Component<any>;

/** Components by lower-case name, aliases included. */
export type Registry = ReadonlyMap<string, AnyComponent>;

/** Builds a registry; later components replace earlier ones of the same name. @throws EngineError OPTION_INVALID for something else than components. */
export function createRegistry(components: readonly AnyComponent[]): Registry {
  requireList('createRegistry', 'components', components, 'a list of components');
  const registry = new Map<string, AnyComponent>();
  for (const component of components) {
    requireComponent('createRegistry', component);
    registry.set(component.type.toLowerCase(), component);
    for (const alias of component.aliases ?? []) registry.set(alias.toLowerCase(), component);
  }
  return registry;
}

function requireComponent(owner: string, component: AnyComponent): void {
  requireObject(owner, 'component', component, 'a component, as defineComponent(…) and componentOf(…) give it');
  const { type, create } = component;
  if (typeof type !== 'string' || type === '') throw invalidOption(owner, 'type', 'a text that is not empty', type);
  if (typeof create !== 'function') throw invalidOption(`${owner} "${type}"`, 'create', 'a function', create);
}
