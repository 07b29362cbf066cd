/** Workflows: steps whose inputs are written down with typed references to what other steps will give. */
import { invalidOption, requireOptions } from '../operators/invalid-option.js';
import { routerNode } from './branch.js';
import {
  checkEdge,
  drawnStep,
  type GraphOptions,
  planError,
  readGraphOptions,
  requireNodeId,
  requireOpen,
} from './graph-options.js';
import { checkOptions, requireFunction, requireName, show, toStep } from './make-step.js';
import { firstOfRule, placesIn, readTemplate, type Template, templateRule, withPlaces } from './mapping.js';
import { routesOf } from './parallel.js';
import {
  type BareRef,
  type Mapped,
  makeReference,
  type Place,
  pathOf,
  placeOf,
  type Ref,
  type Unmapped,
} from './reference.js';
import {
  type AnyStepLike,
  type EdgeBlueprint,
  type EdgeOptions,
  END,
  type GraphBlueprint,
  type InputRule,
  type NodeBlueprint,
  type RouteBlueprint,
  START,
  type Step,
  type StepActivation,
  type StepLike,
  type StepOptions,
} from './step.js';
import { passthrough } from './steps.js';

/** What a node of a workflow adds to its step. */
export interface WorkflowNodeOptions {
  /** Nodes that have to be done before, although nothing of theirs is read. @default none */
  readonly after?: readonly BareRef<unknown>[];
  /** What the edges that lead out of it hold for slow readers. */
  readonly edge?: EdgeOptions;
  /** Tries in all, and the pause between them. @default those of the step */
  readonly retry?: NonNullable<StepOptions['retry']>;
  /** Milliseconds that one activation may take. @default that of the step */
  readonly timeoutMs?: number;
}

/** The arms of a branch: each adds its nodes and gives what is the result when it is chosen. */
export type Arms = Readonly<Record<string, () => unknown>>;

/** Draws a workflow. It is of use only while the function that got it runs. */
export interface WorkflowBuilder<O> {
  /**
   * Adds a node. `input` is written with references and values, at any depth; the node runs as soon as all that it refers to is there. Gives a
   * reference to its output.
   */
  node<SI, SO>(id: string, step: StepLike<SI, SO>, input: NoInfer<Mapped<SI>>, options?: WorkflowNodeOptions): Ref<SO>;
  /** A reference through a function, which gets the whole value and must be pure. */
  map<T, R>(reference: BareRef<T>, change: (value: T) => R): Ref<R>;
  /**
   * Runs the nodes of one arm, chosen by a value. What an arm reads from outside is data alone, and is there before the arm begins. Gives one
   * reference to what the chosen arm gave; nodes inside an arm cannot be read from outside of it.
   */
  branch<T, A extends Arms>(
    id: string,
    by: BareRef<T>,
    choose: (value: T, at: StepActivation) => (keyof A & string) | PromiseLike<keyof A & string>,
    arms: A,
  ): Ref<Unmapped<ReturnType<A[keyof A]>>>;
  /** Writes down the output. Needed once. */
  end(output: Mapped<O>): void;
}

/**
 * Makes a step of nodes that read each other: data and order in one.
 *
 * ```ts
 * import { invoke, workflow } from 'runnel';
 *
 * const loadUser = ({ id }: { id: string }) => ({ id, profile: { name: 'Ada' } });
 * const write = ({ name, tone }: { name: string; tone: string }) => `${tone} ${name}`;
 *
 * const greet = workflow<{ id: string; tone: string }, { text: string }>('greet', (input, w) => {
 *   const user = w.node('user', loadUser, { id: input.id });
 *   w.end({ text: w.node('write', write, { name: user.profile.name, tone: input.tone }) });
 * });
 * console.log(await invoke(greet, { id: 'u1', tone: 'Dear' }));
 * // => { text: 'Dear Ada' }
 * ```
 *
 * A reference to a stream is the stream of that field, chunk by chunk. A field that is missing is undefined, as with `?.`; a value whose
 * source did not run is INPUT_MISSING.
 *
 * @throws EngineError PLAN_INVALID for what cannot run as it is written: ids that are taken, reserved or malformed, references of another
 * workflow or of a node inside an arm, a whole value beside a field, no output or two, changes after the workflow was built.
 */
export function workflow<I, O>(
  name: string,
  build: (input: Ref<I>, w: WorkflowBuilder<O>) => void,
  options: GraphOptions = {},
): Step<I, O> {
  return drawnStep('Workflow', name, options, build, new Draft<O>(name), (draft) =>
    build(draft.input as Ref<I>, draft),
  );
}

/** A node that keeps the input of the workflow for the arms of its branches. */
const KEPT_INPUT = `${START}/input`;

/** The nodes of one way of a branch. */
interface Arm {
  /** Id of the node that begins it. */
  readonly entry: string;
  readonly router: DraftNode;
  readonly around: Arm | undefined;
}

/** A node while the workflow is drawn. */
interface DraftNode {
  readonly blueprint: NodeBlueprint;
  readonly arm: Arm | undefined;
  /** Ids of the nodes that it reads. */
  readonly sources: ReadonlySet<string>;
  /** Ids of the nodes that it waits for without reading them. */
  readonly order: Set<string>;
  /** What its input is made of, given what it reads without an edge; undefined for nodes that take what comes. */
  readonly rule?: (reads: readonly string[]) => InputRule;
  /** Its edges come from its sources, wherever they are: it begins or ends an arm. @default false */
  readonly isBorder?: boolean;
}

/** A workflow while it is drawn. */
class Draft<O> implements WorkflowBuilder<O> {
  readonly input: Ref<unknown>;
  readonly #name: string;
  /** What messages begin with. */
  readonly #owner: string;
  readonly #nodes = new Map<string, DraftNode>();
  #arm: Arm | undefined;
  #end: Template | undefined;
  #isBuilt = false;

  constructor(name: string) {
    this.#name = name;
    this.#owner = `Workflow "${name}"`;
    this.input = makeReference({ owner: this, node: START, moves: [] });
  }

  node<SI, SO>(
    id: string,
    step: StepLike<SI, SO>,
    input: NoInfer<Mapped<SI>>,
    options: WorkflowNodeOptions = {},
  ): Ref<SO> {
    this.#requireOpen(`node "${id}" was added`);
    requireNodeId(this.#owner, id, (other) => this.#nodes.has(other));
    const owner = `${this.#owner}, node "${id}"`;
    const { after = [], ...others } = options;
    requireOptions(owner, options, ['after', 'edge', 'retry', 'timeoutMs']);
    if (!Array.isArray(after)) throw invalidOption(owner, 'after', 'a list of references', after);
    checkOptions(owner, others);
    checkEdge(owner, others.edge);
    const template = readTemplate(owner, input);
    const blueprint: NodeBlueprint = { id, step: toStep(step as AnyStepLike, id, this.#owner), ...others };
    const order = after.map((reference) => this.#placeOf(reference, `"after" of node "${id}"`));
    this.#add(blueprint, template, order);
    return makeReference({ owner: this, node: id, moves: [] });
  }

  map<T, R>(reference: BareRef<T>, change: (value: T) => R): Ref<R> {
    const place = this.#placeOf(reference, 'w.map');
    requireFunction(change, 'change', { owner: `${this.#owner}, w.map of "${pathOf(place)}"` });
    return makeReference({ ...place, moves: [...place.moves, { map: change }] });
  }

  branch<T, A extends Arms>(
    id: string,
    by: BareRef<T>,
    choose: (value: T, at: StepActivation) => (keyof A & string) | PromiseLike<keyof A & string>,
    arms: A,
  ): Ref<Unmapped<ReturnType<A[keyof A]>>> {
    this.#requireOpen(`branch "${id}" was added`);
    requireNodeId(this.#owner, id, (other) => this.#nodes.has(other));
    const place = this.#placeOf(by, `branch "${id}"`);
    requireFunction(choose, 'choose', { owner: `${this.#owner}, branch "${id}"` });
    const entries = routesOf(`${this.#owner}: the branch "${id}"`, arms, 'arm').map(([label, arm]) => {
      requireName(`${this.#owner}: an arm of "${id}"`, label);
      requireFunction(arm, label, { owner: `${this.#owner}, an arm of "${id}"` });
      return { label, arm, entry: `${id}/${label}` };
    });
    const routes = Object.fromEntries(entries.map(({ label, entry }) => [label, entry]));
    const routerId = Object.hasOwn(routes, 'branch') ? `${id}/branch_2` : `${id}/branch`;
    const route: RouteBlueprint = { routes, choose: choose as NonNullable<RouteBlueprint['choose']> };
    const router = this.#add(routerNode(routerId, route), { type: 'reference', place });
    const results = entries.map(({ arm, entry }) => this.#drawArm(router, entry, arm as () => unknown));
    const owner = this.#owner;
    this.#nodes.set(id, {
      blueprint: { id, step: passthrough() },
      arm: this.#arm,
      sources: new Set(results.map(({ node }) => node)),
      order: new Set(),
      rule: () => firstOfRule(owner, id, results),
      isBorder: true,
    });
    return makeReference({ owner: this, node: id, moves: [] });
  }

  end(output: Mapped<O>): void {
    this.#requireOpen('the end was written');
    if (this.#arm !== undefined)
      throw planError(this.#owner, 'w.end cannot stand inside an arm. Write it behind the branch.');
    if (this.#end !== undefined)
      throw planError(this.#owner, 'w.end was called twice. The output is written down once.');
    if (output === undefined)
      throw planError(this.#owner, 'w.end needs an output: a reference, or an object of them; received undefined.');
    this.#end = readTemplate(`${this.#owner}, end`, output);
    for (const place of placesIn(this.#end)) this.#requireVisible(place, 'the end');
  }

  /** Closes the workflow and makes edges of what reads what. */
  finish(options: GraphOptions): GraphBlueprint {
    this.#isBuilt = true;
    if (this.#end === undefined) throw planError(this.#owner, 'it has no output. Call w.end(…) with one.');
    const output = this.#end;
    const edges: EdgeBlueprint[] = [];
    const nodes: NodeBlueprint[] = [];
    for (const node of this.#nodes.values()) {
      const { from, reads } = this.#waysInto(node);
      for (const id of from) edges.push({ from: id, to: node.blueprint.id });
      nodes.push(node.rule === undefined ? node.blueprint : { ...node.blueprint, input: node.rule(reads) });
    }
    const last = new Set(placesIn(output).map(({ node }) => node));
    for (const from of last.size === 0 ? [START] : last) edges.push({ from, to: END });
    return {
      name: this.#name,
      style: 'workflow',
      nodes,
      edges,
      end: { input: templateRule(this.#owner, END, output, []) },
      isInline: false,
      ...readGraphOptions(this.#owner, options, [...this.#nodes.keys()]),
    };
  }

  /** Adds a node to the arm that is being drawn. What it needs from outside of the arm is waited for in front of the arm. */
  #add(blueprint: NodeBlueprint, written: Template, order: readonly Place[] = []): DraftNode {
    const { id } = blueprint;
    const owner = this.#owner;
    const template = this.#arm === undefined ? written : withPlaces(written, (place) => this.#kept(place));
    const places = placesIn(template);
    for (const place of [...places, ...order]) {
      this.#requireVisible(place, `node "${id}"`);
      const home = this.#nodes.get(place.node)?.arm;
      for (let arm = this.#arm; arm !== undefined && arm !== home; arm = arm.around) arm.router.order.add(place.node);
    }
    const node: DraftNode = {
      blueprint,
      arm: this.#arm,
      sources: new Set(places.map((place) => place.node)),
      order: new Set(order.map((place) => place.node)),
      rule: (reads) => templateRule(owner, id, template, reads),
    };
    this.#nodes.set(id, node);
    return node;
  }

  /** Only what a node gave can be read without an edge, so the input is given by one where an arm reads it. */
  #kept(place: Place): Place {
    if (place.node !== START || place.owner !== this) return place;
    if (!this.#nodes.has(KEPT_INPUT)) {
      const blueprint = { id: KEPT_INPUT, step: passthrough<unknown>() };
      const node = { blueprint, arm: undefined, sources: new Set([START]), order: new Set<string>(), isBorder: true };
      this.#nodes.set(KEPT_INPUT, node);
    }
    return { ...place, node: KEPT_INPUT };
  }

  /** Draws the nodes of an arm and gives the place of its result, inside of it. */
  #drawArm(router: DraftNode, entry: string, draw: () => unknown): Place {
    const arm: Arm = { entry, router, around: this.#arm };
    const begin = { blueprint: { id: entry, step: passthrough() }, arm, sources: new Set([router.blueprint.id]) };
    this.#nodes.set(entry, { ...begin, order: new Set(), isBorder: true });
    this.#arm = arm;
    try {
      const template = readTemplate(`${this.#owner}, arm "${entry}"`, draw());
      const isInside = template.type === 'reference' && this.#nodes.get(template.place.node)?.arm === arm;
      if (isInside && template.place.owner === this) return template.place;
      const id = `${entry}/result`;
      this.#add({ id, step: passthrough() }, template);
      return { owner: this, node: id, moves: [] };
    } finally {
      this.#arm = arm.around;
    }
  }

  /** Where the edges into a node come from, and what it reads without one. */
  #waysInto(node: DraftNode): { readonly from: readonly string[]; readonly reads: readonly string[] } {
    if (node.isBorder === true) return { from: [...node.sources], reads: [] };
    const isNear = (id: string): boolean => this.#nodes.get(id)?.arm === node.arm;
    const from = [...new Set([...node.sources, ...node.order])].filter(isNear);
    const reads = [...node.sources].filter((id) => !isNear(id));
    return { from: from.length === 0 ? [node.arm?.entry ?? START] : from, reads };
  }

  #placeOf(reference: unknown, where: string): Place {
    const place = placeOf(reference);
    if (place === undefined) {
      const advice = 'as w.node(…) and the input are';
      throw planError(this.#owner, `${where} needs a reference, ${advice}; received ${show(reference)}.`);
    }
    this.#requireVisible(place, where);
    return place;
  }

  #requireVisible(place: Place, where: string): void {
    if (place.owner !== this) {
      const advice = 'Hand the value in as part of its input.';
      throw planError(this.#owner, `${where} reads "${pathOf(place)}" of another workflow. ${advice}`);
    }
    const home = this.#nodes.get(place.node)?.arm;
    if (home === undefined) return;
    let arm = this.#arm;
    while (arm !== undefined && arm !== home) arm = arm.around;
    if (arm !== undefined) return;
    throw planError(
      this.#owner,
      `${where} reads "${pathOf(place)}", which is inside the arm "${home.entry}" and may not run. Read what w.branch(…) gives.`,
    );
  }

  #requireOpen(change: string): void {
    requireOpen(this.#owner, this.#isBuilt, change);
  }
}
