/** One of several ways, chosen by a value or by the beginning of a stream. */
import { graphStep, inlineBlueprint, requireFunction, type TakenIds, toStep, uniqueId } from './make-step.js';
import { routesOf } from './parallel.js';
import {
  type AnyStep,
  type EdgeBlueprint,
  END,
  type GraphBlueprint,
  type NodeBlueprint,
  type RouteBlueprint,
  START,
  type Step,
  type StepActivation,
  type StepLike,
} from './step.js';
import { passthrough } from './steps.js';

/** What a chooser of whole values gives: a label, several, or a promise of them. */
export type Choice<L> = L | readonly L[] | PromiseLike<L | readonly L[]>;

/** Chooses by a whole value. */
export type Chooser<T, L> = (value: T, at: StepActivation) => Choice<L>;

/**
 * Chooses by the chunks so far: asked at every chunk, and once more with `isLast` when the stream has ended. Undefined waits for more;
 * at the end, a label is needed.
 */
export type PrefixChooser<T, L> = (chunks: readonly T[], isLast: boolean) => L | readonly L[] | undefined;

/** What comes out when several routes were chosen. */
export interface BranchOptions<O> {
  /** Makes one value of theirs. @default objects with different keys become one; else MERGE_CONFLICT */
  readonly merge?: (values: readonly O[]) => O;
}

/** Steps by label. */
export type StepRoutes<I, O> = { readonly [K in keyof O]: StepLike<I, O[K]> };

/** The labels of routes. */
export type LabelOf<O> = keyof O & string;

/**
 * Passes its input on to the step whose label `choose` gives; what that step gives is the result.
 *
 * ```text
 *                    ┌─ many ──> summarise ──┐
 * start ──> choose ──┤                       ├──> end
 *                    └─ few ───> list ───────┘
 * ```
 *
 * Several labels run side by side, and their results are merged; none of them, which is an empty list, ends in GRAPH_NO_OUTPUT. A label that is
 * no route fails with NODE_TARGET_UNKNOWN.
 *
 * @throws EngineError PLAN_INVALID without routes, and for a chooser or a `merge` that is no function.
 */
export function branch<I, L extends string, O extends Readonly<Record<L, unknown>>>(
  choose: Chooser<I, L>,
  routes: StepRoutes<I, O>,
  options: BranchOptions<O[keyof O]> = {},
): Step<I, O[keyof O]> {
  requireFunction(choose, 'choose', { owner: 'branch' });
  return branchStep({ choose: choose as RouteBlueprint['choose'] & object }, routes, options as BranchOptions<unknown>);
}

/**
 * Passes its input on, chunk by chunk, to the step whose label `choosePrefix` gives for the beginning of the stream.
 *
 * Chunks wait until the choice is made; then all of them go on, from the first one.
 *
 * ```text
 * chunks             a--b--c--d--|
 * choosePrefix       ?--few              (at b)
 * few                ---(ab)-c--d--|
 * ```
 *
 * A stream that ended without a choice, and a label that is no route, fail with NODE_TARGET_UNKNOWN; 65,536 chunks without a choice with
 * LIMIT_REACHED.
 *
 * @throws EngineError PLAN_INVALID without routes, and for a chooser or a `merge` that is no function.
 */
export function streamBranch<I, L extends string, O extends Readonly<Record<L, unknown>>>(
  choosePrefix: PrefixChooser<I, L>,
  routes: StepRoutes<I, O>,
  options: BranchOptions<O[keyof O]> = {},
): Step<I, O[keyof O]> {
  requireFunction(choosePrefix, 'choosePrefix', { owner: 'streamBranch' });
  return branchStep(
    { choosePrefix: choosePrefix as RouteBlueprint['choosePrefix'] & object },
    routes,
    options as BranchOptions<unknown>,
  );
}

/** The node that chooses; it passes on what it gets. */
export function routerNode(id: string, route: RouteBlueprint): NodeBlueprint {
  const step: AnyStep = passthrough<unknown>();
  return { id, step, route };
}

function branchStep<I, O>(
  chooser: Omit<RouteBlueprint, 'routes'>,
  routes: Readonly<Record<string, unknown>>,
  { merge }: BranchOptions<unknown>,
): Step<I, O> {
  if (merge !== undefined) requireFunction(merge, 'merge', { owner: 'branch' });
  const entries = routesOf('"branch"', routes) as readonly [string, StepLike<unknown, unknown>][];
  const taken: TakenIds = new Map();
  const targets = entries.map(([label]): [string, string] => [label, uniqueId(label, taken)]);
  const steps = entries.map(([, route], at): NodeBlueprint => {
    const id = (targets[at] as [string, string])[1];
    return { id, step: toStep(route, id, 'branch') };
  });
  const router = routerNode(uniqueId('branch', taken), { ...chooser, routes: Object.fromEntries(targets) });
  const edges: EdgeBlueprint[] = [{ from: START, to: router.id }];
  for (const { id } of steps) edges.push({ from: router.id, to: id }, { from: id, to: END });
  const end: GraphBlueprint['end'] = merge === undefined ? undefined : { merge };
  return graphStep(inlineBlueprint('branch', 'branch', { nodes: [router, ...steps], edges, ...(end && { end }) }));
}
