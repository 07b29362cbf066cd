/** Nodes with a body: a graph in a graph, one pass for each item of a list, one round after the other. */
import { defer, EMPTY, from, map, merge, mergeMap, Observable, of, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { LiveEnds, NodeActivation, NodeResult } from '../../graph/activation.js';
import type { BodyEnd } from '../../graph/node.js';
import { interrupt, type NodeEvent } from '../../graph/node-events.js';
import type { ChunkInput } from '../../graph/typed.js';
import { expandQueue } from '../../operators/expand-queue.js';
import { show } from '../make-step.js';
import type { ConcatRule, StepDefinition } from '../step.js';
import { pathAt, wholeOf } from './inputs.js';
import { isThenable } from './later.js';
import type { StepAt } from './step-at.js';
import { settledChunks, settledValue } from './stream-out.js';

type DefinitionOf<T extends StepDefinition['type']> = Extract<StepDefinition, { readonly type: T }>;

/** Something in the body waits for an answer. */
const WAITING = interrupt();

/**
 * One pass through a graph. Chunks go in and out while it works.
 *
 * @param source the input in chunks; `whole` is used otherwise
 * @param isLiveOut whether chunks of the result go to the successors while they come
 * @param passed called with each of those
 */
export function passThrough(
  at: NodeActivation,
  input: { readonly whole: unknown } | { readonly source: ChunkInput },
  isLiveOut: boolean,
  passed?: (chunk: unknown) => void,
): NodeResult {
  return new Observable<NodeEvent>((subscriber) => {
    const end = () => {
      subscriber.next(settledChunks(at));
      subscriber.complete();
    };
    const output: LiveEnds['output'] = {
      open: () => {
        if (at.out === undefined) at.open({ onUnread: end });
      },
      write: (chunk) => {
        passed?.(chunk);
        at.write(chunk);
      },
      room: () => at.room(),
    };
    const isLive = 'source' in input;
    const source = isLive ? input.source : undefined;
    const round = isLive ? { key: '', isLive: true } : { key: '', value: input.whole };
    return at.runBody(round, { source, ...(isLiveOut ? { output } : {}) }).subscribe({
      next: ({ status, result }) => {
        if (status === 'interrupted') subscriber.next(WAITING);
        else if (result === undefined) subscriber.error(noOutput(pathAt(at)));
        else if (at.out !== undefined) end();
        else subscriber.next(settledValue(result.value));
      },
      error: (error: unknown) => subscriber.error(error),
    });
  });
}

/** The error of a graph whose end nothing came to. */
export function noOutput(path: string): EngineError {
  const message = `Graph "${path}" ended without a result: no value came to its end. Let every route lead there, or check what its branches choose.`;
  return new EngineError('GRAPH_NO_OUTPUT', message, { node: path });
}

/** The list that a map goes through. @throws EngineError INPUT_INVALID for something else */
export function itemsOf({ path }: StepAt, input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input as readonly unknown[];
  const message = `"${path}" goes through a list; received ${show(input)}. Give it a list.`;
  throw new EngineError('INPUT_INVALID', message, { node: path });
}

/**
 * The body once for each item, so many at a time; the results are in the order of the items.
 *
 * @param chunks how the chunks of a result become one value
 */
export function mapItems(
  step: StepAt,
  { concurrency }: DefinitionOf<'map'>,
  items: readonly unknown[],
  chunks: ConcatRule<unknown> | undefined,
): NodeResult {
  if (items.length === 0) return settledValue([]);
  return new Observable<NodeEvent>((subscriber) => {
    const results = new Array<unknown>(items.length);
    let isWaiting = false;
    const pass = (item: unknown, index: number) =>
      step.node.runBody({ key: `[${index}]`, value: item }).pipe(
        tap(({ status, result }) => {
          if (status === 'interrupted') isWaiting = true;
          else if (result === undefined) throw noOutput(`${step.path}[${index}]`);
          else results[index] = wholeOf(result.value, chunks, step.node);
        }),
      );
    return from(items)
      .pipe(mergeMap(pass, concurrency))
      .subscribe({
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          if (isWaiting) step.keepPrepared();
          subscriber.next(isWaiting ? WAITING : settledValue(results));
        },
      });
  });
}

/** A round that has ended, or the step to the next. */
type LoopStep = { readonly event: NodeEvent } | { readonly round: number; readonly value: unknown };

/**
 * The body again and again, each round with the result of the one before, until `until` says so.
 *
 * A round stays open until the next one is: so a run that is lost between them knows where it was.
 *
 * @param chunks how the chunks of a round's result become one value
 */
export function goRound(
  at: NodeActivation,
  { until, maxRounds }: DefinitionOf<'loop'>,
  input: unknown,
  chunks: ConcatRule<unknown> | undefined,
): NodeResult {
  const open = at.openBodies.map((key) => Number(key.slice(1, -1)));
  const first: LoopStep = { round: open.length === 0 ? 1 : Math.max(...open), value: input };
  const after = (step: { readonly round: number }, { status, result }: BodyEnd): Observable<LoopStep> => {
    if (status === 'interrupted') return of({ event: WAITING });
    if (result === undefined) throw noOutput(`${pathAt(at)}[${step.round}]`);
    const value = wholeOf(result.value, chunks, at);
    const isDone = until(value as never, step.round);
    const next = (done: boolean): LoopStep => {
      if (done) return { event: settledValue(value) };
      if (step.round < maxRounds) return { round: step.round + 1, value };
      const path = pathAt(at);
      const message = `Loop "${path}" went round ${maxRounds} times without reaching its end; check its "until", or raise maxRounds.`;
      throw new EngineError('RUN_STEPS_EXCEEDED', message, { node: path });
    };
    return isThenable(isDone) ? from(Promise.resolve(isDone)).pipe(map(next)) : of(next(isDone));
  };
  const go = (step: LoopStep): Observable<LoopStep> => {
    if ('event' in step) return EMPTY;
    const before = defer(() => {
      if (step.round > 1) at.closeBody(`[${step.round - 1}]`);
      return EMPTY;
    });
    return merge(
      at.runBody({ key: `[${step.round}]`, value: step.value }).pipe(mergeMap((end) => after(step, end))),
      before,
    );
  };
  return of(first).pipe(
    expandQueue(go, { yieldEveryMs: Number.POSITIVE_INFINITY }),
    mergeMap((step) => ('event' in step ? [step.event] : [])),
  ) as Observable<NodeEvent> as NodeResult;
}
