/** The chunks that a step gives, on their way to the edges behind it. */
import { isObservable, map, Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Interrupt as NodeInterrupt, Settled } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import { Breather } from '../../operators/breather.js';
import { Interrupt } from '../interrupt.js';

/** Where a stream goes. */
export interface StreamTarget {
  /** Ids of the nodes that it goes to. @default all successors */
  readonly next?: readonly string[] | undefined;
  /** Ends the pass that the node is in with its result. */
  readonly exit?: boolean | undefined;
  /** What a question in the place of a chunk becomes, which ends the activation. */
  readonly ask?: ((asked: Interrupt) => NodeInterrupt) | undefined;
}

/** The outputs of nodes of typed plans, which have none by name. */
export const NO_OUTPUTS = Object.freeze({});

const NO_CHUNKS = new Chunks([]);
const PASSED_ON = new Chunks([], false);

/** The end of a node that gave chunks. */
export function settledChunks(at: NodeActivation, { next, exit }: StreamTarget = {}): Settled {
  const items = at.out?.chunks ?? [];
  // What was not kept is with those who read it; the run must not be stored as if there had been nothing.
  const value = at.out?.isKept === false ? PASSED_ON : items.length === 0 ? NO_CHUNKS : new Chunks(items);
  return {
    type: 'settled',
    outputs: NO_OUTPUTS,
    value,
    ...(next === undefined ? {} : { next }),
    ...(exit === true ? { exit } : {}),
  };
}

/** The end of a node with one value. */
export function settledValue(value: unknown, { next, exit }: StreamTarget = {}): Settled {
  if (next === undefined && exit !== true) return { type: 'settled', outputs: NO_OUTPUTS, value };
  return { type: 'settled', outputs: NO_OUTPUTS, value, ...(next && { next }), ...(exit === true ? { exit } : {}) };
}

/**
 * Gives the chunks of a source to the edges of a node; its last event says that the node has settled.
 *
 * ```text
 * source   a--b--c--|
 * edges    a--b--c--|
 * result   ---------(settled|)
 * ```
 *
 * What is subscribed to is not slowed: edges that are full concatenate. What is iterated is not asked for more while edges are full, or while
 * the run has more events than its store takes. A source without a reader left is ended early, and the node settles with what came.
 */
export function streamOut(
  at: NodeActivation,
  source: Observable<unknown> | AsyncIterable<unknown>,
  target: StreamTarget = {},
): Observable<NodeEvent> {
  return new Observable((subscriber) => {
    const settle = () => {
      if (subscriber.closed) return;
      subscriber.next(settledChunks(at, target));
      subscriber.complete();
    };
    at.open({ next: target.next, onUnread: settle });
    if (subscriber.closed) return undefined;
    if (!isObservable(source)) return pull(at, source, subscriber, settle, target);
    return source.subscribe({
      next: (chunk) => give(at, chunk, subscriber, target),
      error: (error: unknown) => subscriber.error(error),
      complete: settle,
    });
  });
}

function give(at: NodeActivation, chunk: unknown, subscriber: Subscriber<NodeEvent>, target: StreamTarget): void {
  try {
    if (chunk instanceof Interrupt) subscriber.next(asked(target, chunk));
    else at.write(chunk);
  } catch (error) {
    subscriber.error(error);
  }
}

/** The end of a stream with a question. */
function asked({ ask }: StreamTarget, interrupt: Interrupt): NodeEvent {
  if (ask !== undefined) return ask(interrupt);
  throw new EngineError('NODE_PROTOCOL', 'Only the chunks of a step may end with a question.');
}

/** Reads chunk by chunk, waits where there is no room, and lets the event loop turn. */
function pull(
  at: NodeActivation,
  source: AsyncIterable<unknown>,
  subscriber: Subscriber<NodeEvent>,
  settle: () => void,
  target: StreamTarget,
): () => void {
  const iterator = source[Symbol.asyncIterator]();
  const breather = new Breather();
  let isOver = false;
  const read = async (): Promise<void> => {
    breather.begin();
    while (!subscriber.closed) {
      const wait = at.room() ?? at.ready();
      if (wait !== undefined) await wait;
      if (subscriber.closed) return;
      const { done, value } = await iterator.next();
      if (done === true) {
        isOver = true;
        settle();
        return;
      }
      if (subscriber.closed) return;
      if (value instanceof Interrupt) {
        subscriber.next(asked(target, value));
        return;
      }
      at.write(value);
      breather.asyncStep();
      if (breather.shouldYield()) await new Promise<void>((resolve) => breather.yieldThen(resolve));
    }
  };
  read().catch((error: unknown) => {
    isOver = true;
    subscriber.error(error);
  });
  return () => {
    breather.stop();
    // A generator that is about to give a chunk ends behind it; nothing waits for that.
    if (!isOver) Promise.resolve(iterator.return?.()).catch(() => {});
  };
}

/** The same, leaving the scope with its end: nothing else of it goes on. */
export function leaving(result: NodeResult): NodeResult {
  const leave = (event: NodeEvent): NodeEvent => (event.type === 'settled' ? { ...event, exit: true } : event);
  if (isObservable(result)) return result.pipe(map(leave));
  return leave(result as Settled) as Settled;
}
