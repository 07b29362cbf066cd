/** Steps of a run, each an activation of a node: which one an address names, and which one stands for its node. */
import type { ActivationPicture, RunPicture } from '../../src/canvas/picture/picture.js';

/** The query value that names a step: the ordinal of the activation, which is the same whenever the log is read. */
export const STEP = 'step';

/** The step that a query names; undefined for none. */
export function readStep(query: URLSearchParams): number | undefined {
  const named = query.get(STEP);
  return named === null || !/^\d{1,15}$/.test(named) ? undefined : Number(named);
}

/** The step with an ordinal. */
export function stepNumbered({ nodes }: RunPicture, ordinal: number): ActivationPicture | undefined {
  for (const { activations } of nodes.values()) {
    const found = activations.find((one) => one.ordinal === ordinal);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What stands for several steps of one node: the first that failed, else the last one. */
export function tellingStep(steps: readonly ActivationPicture[]): ActivationPicture | undefined {
  return steps.find(({ status }) => status === 'failed') ?? steps.at(-1);
}

/** What stands for a node in a run, as far as it had come after the event `at`. @default its end */
export function stepOfNode({ nodes }: RunPicture, node: string, at?: number): ActivationPicture | undefined {
  const { activations = [] } = nodes.get(node) ?? {};
  return tellingStep(at === undefined ? activations : activations.filter(({ startSeq }) => startSeq <= at));
}

/** The step whose failure ended a run: the last one with that error, as those before it were handled. */
export function endingStep({ nodes, error }: RunPicture): ActivationPicture | undefined {
  if (error === undefined) return undefined;
  let last: ActivationPicture | undefined;
  for (const { activations } of nodes.values()) {
    for (const one of activations) {
      const isCause = one.error?.code === error.code && one.error.message === error.message;
      if (one.status === 'failed' && isCause && (one.endSeq ?? 0) >= (last?.endSeq ?? 0)) last = one;
    }
  }
  return last;
}
