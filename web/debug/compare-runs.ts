/** Two runs side by side: activations that stand for each other, by node and pass, and in what they differ. */
import type { ActivationPicture, NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';

/** How two activations stand to each other. `kept`: the other run took it over, and did not run it again. */
export type Difference = 'same' | 'different' | 'kept' | 'only-a' | 'only-b';

/** One line of a comparison. */
export interface ComparedStep {
  /** Unique in the comparison. */
  readonly key: string;
  readonly node: NodePicture;
  readonly within?: string;
  /** 1 for the first time that the node ran there. */
  readonly place: number;
  readonly a?: ActivationPicture;
  readonly b?: ActivationPicture;
  readonly difference: Difference;
}

/** Where run B was forked from A: the number of the last event that B builds on. */
export interface ForkedFrom {
  readonly forkedAt: number;
}

/**
 * The steps of both runs in the order in which they began, those of A first where only it has them.
 *
 * With `fork`, what A had finished by then counts as taken over by B. Pure.
 */
export function compareRuns(a: RunPicture, b: RunPicture, fork?: ForkedFrom): readonly ComparedStep[] {
  const inB = stepsOf(b);
  const steps: ComparedStep[] = [];
  for (const [key, { node, activation, place }] of stepsOf(a)) {
    const other = inB.get(key)?.activation;
    inB.delete(key);
    steps.push(compared(key, { node, place, a: activation, b: other, fork }));
  }
  const others = [...inB].map(([key, { node, activation, place }]) =>
    compared(key, { node, place, a: undefined, b: activation, fork }),
  );
  return insertByOrder(steps, others);
}

interface Step {
  readonly node: NodePicture;
  readonly activation: ActivationPicture;
  readonly place: number;
}

/** Steps that count, by where they ran: of several tries the last one. */
function stepsOf({ nodes }: RunPicture): Map<string, Step> {
  const all = [...nodes.values()].flatMap((node) => node.activations.map((activation) => ({ node, activation })));
  all.sort((one, other) => one.activation.ordinal - other.activation.ordinal);
  const places = new Map<string, number>();
  const steps = new Map<string, Step>();
  for (const { node, activation } of all) {
    const where = `${activation.within ?? ''}/${node.id}`;
    const place = (places.get(where) ?? 0) + (activation.attempt > 1 ? 0 : 1);
    places.set(where, place);
    steps.set(`${where}#${place}`, { node, activation, place });
  }
  return steps;
}

interface Pair {
  readonly node: NodePicture;
  readonly place: number;
  readonly a: ActivationPicture | undefined;
  readonly b: ActivationPicture | undefined;
  readonly fork: ForkedFrom | undefined;
}

function compared(key: string, { node, place, a, b, fork }: Pair): ComparedStep {
  const within = (a ?? b)?.within;
  return {
    key,
    node,
    ...(within !== undefined && { within }),
    place,
    ...(a !== undefined && { a }),
    ...(b !== undefined && { b }),
    difference: differenceOf(a, b, fork),
  };
}

function differenceOf(
  a: ActivationPicture | undefined,
  b: ActivationPicture | undefined,
  fork: ForkedFrom | undefined,
): Difference {
  if (a === undefined) return 'only-b';
  if (b === undefined) return isKept(a, fork) ? 'kept' : 'only-a';
  if (a.status !== b.status || a.error?.message !== b.error?.message) return 'different';
  return sameJson(a.outputs, b.outputs) && sameJson(a.next, b.next) ? 'same' : 'different';
}

function isKept({ status, endSeq }: ActivationPicture, fork: ForkedFrom | undefined): boolean {
  return fork !== undefined && status === 'settled' && endSeq !== undefined && endSeq <= fork.forkedAt;
}

/** Steps that only B has stand behind the step of both that they followed; before all where they followed none. */
function insertByOrder(steps: readonly ComparedStep[], others: readonly ComparedStep[]): readonly ComparedStep[] {
  const behind = new Map<number, ComparedStep[]>();
  for (const step of others) {
    const before = steps.findLastIndex(({ b }) => b !== undefined && b.ordinal < (step.b?.ordinal ?? 0));
    behind.set(before, [...(behind.get(before) ?? []), step]);
  }
  return [...(behind.get(-1) ?? []), ...steps.flatMap((step, at) => [step, ...(behind.get(at) ?? [])])];
}

/** Both come from logs of the same engine, which write members in one order. */
function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
