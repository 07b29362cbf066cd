/** What containers share: their parameters, the outputs that they collect, and the walk from round to round. */

import { map, type Observable, type ObservableInput, of } from 'rxjs';
import { z } from 'zod';
import { parseReference, type Reference } from '../dsl/reference.js';
import { foundValue, readReference, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation, BodyEnd } from '../graph/node.js';
import { type BodyRound, interrupt, type NodeEvent, type Progress, type Settled } from '../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { expandQueue } from '../operators/expand-queue.js';
import { jsonKind } from './values/comparison.js';

/** An output of the container and what it collects. */
export interface CollectedOutput {
  readonly name: string;
  readonly reference: Reference;
}

/** The list that a container goes through. */
export type ItemsReference = z.output<typeof itemsParam>;

/** The parameter `outputs` of a container. */
export const collectedParam = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((outputs) => Object.entries(outputs ?? {}).flatMap(([name, output]) => toCollected(name, output)))
  .describe('Lists to collect, by name: {"ref": "<node of the body>@<output>", "type"}; default none.');

/** The parameter `items_ref` of a container. */
export const itemsParam = z
  .string()
  .nullish()
  .transform((written) => ({ written: written ?? '', reference: parseReference(written ?? '') }))
  .describe('Reference to the list to go through.');

/** The parameter `max_concurrency` of a container. */
export const concurrencyParam = z.coerce
  .number()
  .int()
  .nonnegative()
  .default(1)
  .describe('Rounds that run at the same time; 0 and 1: one after the other. Default 1.');

/** The value of one collected output at the end of a round: null when its node did not run. */
export function collect({ reference }: CollectedOutput, source: ValueSource): Json {
  return foundValue(readReference(reference, source));
}

/**
 * The list to go through, as it is now.
 *
 * @throws EngineError NODE_FAILED when there is no list.
 */
export function readItems({ node, source }: Activation, { written, reference }: ItemsReference): readonly Json[] {
  const lookup = reference === undefined ? undefined : readReference(reference, source);
  if (lookup?.status === 'found' && Array.isArray(lookup.value)) return lookup.value as readonly Json[];
  const received = lookup?.status === 'found' ? `its kind is ${jsonKind(lookup.value)}` : 'it has no value';
  throw new EngineError('NODE_FAILED', `${written || 'items_ref'} must be an array, but ${received}.`, { node });
}

/** The aliases of the current item in the body. */
export function aliasesOf(index: number, item: Json): JsonObject {
  return { item, index, result: item };
}

function toCollected(name: string, output: unknown): CollectedOutput[] {
  if (typeof output !== 'object' || output === null || !('ref' in output) || typeof output.ref !== 'string') return [];
  const reference = parseReference(output.ref);
  return reference === undefined ? [] : [{ name, reference }];
}

/** One step of a container: its event, and the steps that follow; the last step has none. */
export interface Step {
  readonly event: NodeEvent;
  readonly follow?: () => ObservableInput<Step>;
}

/**
 * Walks a container from step to step: a loop that `expand`s on a flat stack, however many rounds end at once.
 *
 * ```text
 * step      a(follow)  b(follow)  c
 * result    a----------b----------(c|)
 * ```
 *
 * It does not yield by itself: the run that drives the bodies does. So the event of a step is emitted as soon as its body ended.
 */
export function walk(first: Step): Observable<NodeEvent> {
  return of(first).pipe(
    expandQueue((step) => step.follow?.() ?? NO_STEPS, { yieldEveryMs: Number.POSITIVE_INFINITY }),
    map((step) => step.event),
  );
}

const NO_STEPS: Step[] = [];

/** A container whose rounds follow one another. Its node state is the number of the round, and whether it is the closing visit. */
export interface Rounds {
  readonly activation: Activation;
  /** The name of that number in the node state. */
  readonly counter: 'index' | 'round';
  /** Looks at a round about to begin: whether it is one too many, and how the body is run. */
  enter(index: number): { isOver(): boolean; body(isClosing: boolean): Omit<BodyRound, 'key'> };
  /** What a round that has ended leaves. */
  gather(end: BodyEnd): Gathered;
  /** The end of the container; `isExited`: a node of the body has left it. */
  settle(isExited: boolean): Settled;
}

/** What is stored with the step to a round. */
type Gathered = Pick<Progress, 'outputs' | 'append'>;

/**
 * Runs round after round, from `first` on, or from the stored node state: a round that was running is resumed even where it would be one
 * too many now. After the last round the body is visited once more, to close.
 */
export function goRound(rounds: Rounds, first: () => Step): Observable<NodeEvent> {
  const { activation, counter } = rounds;
  const { [counter]: index, isClosing } = isJsonObject(activation.nodeState) ? activation.nodeState : {};
  return walk(typeof index === 'number' ? roundStep(rounds, index, rounds.enter(index), isClosing === true) : first());
}

/** The step to a round, or to the closing visit where the one before was the last. */
export function nextRound(rounds: Rounds, index: number, gathered: Gathered = {}): Step {
  const entered = rounds.enter(index);
  return roundStep(rounds, index, entered, entered.isOver(), gathered);
}

function roundStep(
  rounds: Rounds,
  index: number,
  { body }: ReturnType<Rounds['enter']>,
  isClosing: boolean,
  gathered: Gathered = {},
): Step {
  const { activation, counter } = rounds;
  const closing = isClosing ? { isClosing } : {};
  const stepAfter = (end: BodyEnd): Step => {
    if (isClosing) return { event: rounds.settle(false) };
    if (end.status === 'interrupted') return { event: interrupt() };
    if (end.status === 'exited') return { event: rounds.settle(true) };
    return nextRound(rounds, index + 1, rounds.gather(end));
  };
  return {
    event: { type: 'progress', nodeState: { [counter]: index, ...closing }, ...gathered },
    follow: () =>
      activation.runBody({ key: isClosing ? 'closing' : String(index), ...body(isClosing) }).pipe(map(stepAfter)),
  };
}
