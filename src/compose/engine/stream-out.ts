/** The chunks that a step gives, on their way to the edges behind it. */
import { isObservable, map, Observable, Subscription } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Interrupt as NodeInterrupt, Settled } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import { type ChunkSink, pour } from '../../operators/pour.js';
import { Interrupt } from '../interrupt.js';

/** Where a stream goes. */
export interface StreamTarget {
  /** Ids of the nodes that it goes to. @default all successors */
  readonly next?: readonly string[] | undefined;
  /** Ends the pass that the node is in with its result. */
  readonly exit?: boolean | undefined;
  /** What a question in the place of a chunk becomes, which ends the activation. */
  readonly ask?: ((asked: Interrupt) => NodeInterrupt) | undefined;
  /** The readers start with the first chunk, or the end: the source may begin with a question instead. @default false */
  readonly mayAsk?: boolean | undefined;
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
    const open = () => {
      if (at.out === undefined) at.open({ next: target.next, onUnread: settle });
    };
    if (target.mayAsk !== true) open();
    if (subscriber.closed) return;
    const into: ChunkSink<unknown> = {
      write: (chunk) => {
        if (chunk instanceof Interrupt) {
          subscriber.next(asked(target, chunk));
          return;
        }
        open();
        if (!subscriber.closed) at.write(chunk);
      },
      room: () => at.room() ?? at.ready(),
      end: () => {
        open();
        settle();
      },
      fail: (error) => subscriber.error(error),
    };
    const pouring = new Subscription();
    subscriber.add(pouring);
    pour(source, into, pouring);
  });
}

/** The end of a stream with a question. */
function asked({ ask }: StreamTarget, interrupt: Interrupt): NodeEvent {
  if (ask !== undefined) return ask(interrupt);
  throw new EngineError('NODE_PROTOCOL', 'Only the chunks of a step may end with a question.');
}

/** The same, leaving the scope with its end: nothing else of it goes on. */
export function leaving(result: NodeResult): NodeResult {
  const leave = (event: NodeEvent): NodeEvent => (event.type === 'settled' ? { ...event, exit: true } : event);
  if (isObservable(result)) return result.pipe(map(leave));
  return leave(result as Settled) as Settled;
}
